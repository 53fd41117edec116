// What keys are meant by "Control+A, Delete", and what the browser is told for each: the key itself, and on which system which
// editing command goes with it.
import { BridgeError } from '../errors';
import { keyNamed } from '../page/act/keyboard';
import type { Modifiers } from '../page/act/pointer';

export const modifierBits = (held: readonly (keyof Modifiers)[]): number =>
  held.reduce((bits, key) => bits | { alt: 1, ctrl: 2, meta: 4, shift: 8 }[key], 0);

export type Os = 'mac' | 'win' | 'linux';
type Held = keyof Modifiers;

export interface Stroke {
  key: string;
  code: string;
  keyCode: number;
  held: Held[];
  /** What it puts into a text; absent for keys that put nothing there. */
  text?: string;
  /** Editing commands that the browser is to carry out: what the system's own key bindings would make of it. */
  commands: string[];
  /** In one word, for results: `Control+a`. */
  label: string;
}

const MODIFIERS: Record<string, Held> = {
  control: 'ctrl', ctrl: 'ctrl', alt: 'alt', option: 'alt', shift: 'shift', meta: 'meta', cmd: 'meta', command: 'meta', win: 'meta', super: 'meta',
};
/** The key that is Control everywhere but on a Mac. */
const MOD = /^(?:mod|controlormeta|ctrlorcmd|cmdorctrl|commandorcontrol)$/;
const KEYS: Record<Held, string> = { ctrl: 'Control', alt: 'Alt', shift: 'Shift', meta: 'Meta' };
const ORDER: Held[] = ['ctrl', 'alt', 'shift', 'meta'];
const ALIASES: Record<string, string> = { comma: ',', plus: '+', minus: '-' };

/** The shortcuts whose meaning is the same on all systems, but for the key that is held. */
const EDITING: Record<string, string> = { a: 'selectAll', c: 'copy', x: 'cut', v: 'paste', z: 'undo', y: 'redo', 'shift+z': 'redo' };

/** A Mac's own key bindings, which the browser carries out there instead of the page's engine. */
const MAC: Record<string, string> = {
  Backspace: 'deleteBackward', Delete: 'deleteForward', 'alt+Backspace': 'deleteWordBackward', 'alt+Delete': 'deleteWordForward',
  'meta+Backspace': 'deleteToBeginningOfLine', 'meta+Delete': 'deleteToEndOfLine', 'shift+Backspace': 'deleteBackward',
  ArrowLeft: 'moveLeft', ArrowRight: 'moveRight', ArrowUp: 'moveUp', ArrowDown: 'moveDown',
  'alt+ArrowLeft': 'moveWordLeft', 'alt+ArrowRight': 'moveWordRight', 'alt+ArrowUp': 'moveToBeginningOfParagraph', 'alt+ArrowDown': 'moveToEndOfParagraph',
  'meta+ArrowLeft': 'moveToLeftEndOfLine', 'meta+ArrowRight': 'moveToRightEndOfLine', 'meta+ArrowUp': 'moveToBeginningOfDocument', 'meta+ArrowDown': 'moveToEndOfDocument',
  Home: 'scrollToBeginningOfDocument', End: 'scrollToEndOfDocument', PageUp: 'scrollPageUp', PageDown: 'scrollPageDown', 'alt+PageUp': 'pageUp', 'alt+PageDown': 'pageDown',
};
const SELECTING = /^(?:move|page)/;

/** The strokes of a list such as "Control+A, Delete"; a comma right after a plus or at the end is the key itself. */
export function parseKeys(text: string, os: Os): Stroke[] {
  const parts = text.split(/(?<!\w\+)\s*,\s*(?!$)/).map((p) => p.trim()).filter(Boolean);
  if (!parts.length) throw unknown(text);
  return parts.map((part) => parseStroke(part, os));
}

export function parseStroke(given: string, os: Os): Stroke {
  const plus = given === '+' || given.endsWith('++');
  const names = (plus ? given.slice(0, -1).replace(/\+$/, '') : given).split('+').map((n) => n.trim()).filter(Boolean);
  const last = plus ? '+' : names.pop();
  if (last === undefined) throw unknown(given);
  const held = new Set<Held>();
  for (const name of names) {
    const lower = name.toLowerCase();
    const modifier = MOD.test(lower) ? (os === 'mac' ? 'meta' : 'ctrl') : MODIFIERS[lower];
    if (!modifier) throw new BridgeError('INVALID_PARAMS', `invalid params: keys: ${JSON.stringify(name)} is not a key that is held (Control, Alt, Shift, Meta, Mod); strokes are separated by commas`);
    held.add(modifier);
  }
  const alone = MOD.test(last.toLowerCase()) ? (os === 'mac' ? 'Meta' : 'Control') : last;
  const found = keyNamed(ALIASES[alone.toLowerCase()] ?? alone);
  if (!found) throw unknown(given);
  // On a Mac nobody who writes Control+A means the beginning of the line.
  if (os === 'mac' && held.has('ctrl') && !held.has('meta') && EDITING[found.key.toLowerCase()]) {
    held.delete('ctrl');
    held.add('meta');
  }
  return stroke(found, held, os);
}

/** A character as it is typed: the key that has it, with Shift where that is needed. */
export function charStroke(char: string, os: Os): Stroke | undefined {
  if (char === '\n') return stroke({ key: 'Enter', code: 'Enter', keyCode: 13 }, new Set(), os);
  if (char === '\t') return stroke({ key: 'Tab', code: 'Tab', keyCode: 9 }, new Set(), os);
  if (char.length !== 1 || /\p{C}/u.test(char)) return undefined;
  const found = keyNamed(char);
  // Letters of other alphabets have a key on somebody's keyboard; what is composed or chosen from a list has none.
  if (!found?.code) return /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u.test(char) ? stroke({ key: char, code: '', keyCode: 0 }, new Set(), os) : undefined;
  return stroke(found, new Set(), os);
}

function stroke({ key, code, keyCode }: { key: string; code: string; keyCode: number }, held: Set<Held>, os: Os): Stroke {
  const chord = held.has('ctrl') || held.has('alt') || held.has('meta');
  let name = key;
  if (/^[a-z]$/i.test(key)) name = held.has('shift') ? key.toUpperCase() : chord ? key.toLowerCase() : key;
  else if (held.has('shift') && code) name = SHIFTED[key] ?? key;
  // "A" and "!" are typed with Shift held, as on a keyboard.
  if (!chord && (/^[A-Z]$/.test(name) || Object.values(SHIFTED).includes(name))) held.add('shift');
  const order = ORDER.filter((h) => held.has(h));
  const text = chord ? undefined : name === 'Enter' ? '\r' : name.length === 1 ? name : undefined;
  return {
    key: name, code, keyCode, held: order, ...(text === undefined ? {} : { text }), commands: commandsOf(name, order, os),
    label: [...order.filter((h) => h !== 'shift' || name.length > 1 || chord).map((h) => KEYS[h]), name === ' ' ? 'Space' : name].join('+'),
  };
}

const SHIFTED: Record<string, string> = {
  1: '!', 2: '@', 3: '#', 4: '$', 5: '%', 6: '^', 7: '&', 8: '*', 9: '(', 0: ')', '-': '_', '=': '+', '[': '{', ']': '}', '\\': '|', ';': ':', "'": '"', '`': '~',
  ',': '<', '.': '>', '/': '?',
};

function commandsOf(key: string, held: Held[], os: Os): string[] {
  const without = (h: Held) => held.filter((x) => x !== h);
  const mod: Held = os === 'mac' ? 'meta' : 'ctrl';
  if (held.includes(mod)) {
    const name = [...without(mod), key.toLowerCase()].join('+');
    const command = Object.hasOwn(EDITING, name) ? EDITING[name] : undefined;
    // A Mac has no Meta+Y.
    if (command && !(os === 'mac' && name === 'y')) return [command];
  }
  if (os !== 'mac') return [];
  const plain = MAC[[...held, key].join('+')];
  if (plain) return [plain];
  const moved = held.includes('shift') ? MAC[[...without('shift'), key].join('+')] : undefined;
  return moved && SELECTING.test(moved) ? [`${moved}AndModifySelection`] : [];
}

const unknown = (given: string) =>
  new BridgeError('INVALID_PARAMS', `invalid params: keys: there is no key ${JSON.stringify(given.slice(0, 60))}; it takes strokes such as "Control+A, Delete", with the names of KeyboardEvent.key`);

/** The commands that make one stroke, the held keys pressed before and let go after it. */
export function* eventsOf(s: Stroke): Generator<Record<string, unknown>> {
  const own = [...s.held].filter((h) => h !== 'shift' || s.text === undefined || s.text === '\r');
  const down: Held[] = s.held.filter((h) => !own.includes(h));
  for (const h of own) {
    down.push(h);
    yield modifierEvent('rawKeyDown', h, down);
  }
  const base = { modifiers: modifierBits(s.held), windowsVirtualKeyCode: s.keyCode, nativeVirtualKeyCode: s.keyCode, code: s.code, key: s.key, location: 0 };
  yield { type: s.text === undefined ? 'rawKeyDown' : 'keyDown', ...base, ...(s.text === undefined ? {} : { text: s.text, unmodifiedText: s.text }), ...(s.commands.length ? { commands: s.commands } : {}) };
  yield { type: 'keyUp', ...base };
  for (const h of own.reverse()) {
    down.splice(down.indexOf(h), 1);
    yield modifierEvent('keyUp', h, down);
  }
}

function modifierEvent(type: 'rawKeyDown' | 'keyUp', h: Held, held: Held[]): Record<string, unknown> {
  const k = keyNamed(KEYS[h])!;
  return { type, modifiers: modifierBits(held), windowsVirtualKeyCode: k.keyCode, code: k.code, key: k.key, location: 1 };
}

let platform: Promise<Os> | undefined;

export function os(): Promise<Os> {
  platform ??= chrome.runtime.getPlatformInfo().then(({ os }) => (os === 'mac' || os === 'win' ? os : 'linux'));
  return platform;
}
