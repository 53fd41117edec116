// What a key is: its names, the codes that older pages read, and the events of one press.
import type { Modifiers } from './pointer';
import { native } from '../native';

interface Key { key: string; code: string; keyCode: number }

const NAMED: Record<string, [code: string, keyCode: number]> = {
  Enter: ['Enter', 13], Escape: ['Escape', 27], Tab: ['Tab', 9], Backspace: ['Backspace', 8], Delete: ['Delete', 46], Insert: ['Insert', 45],
  ArrowUp: ['ArrowUp', 38], ArrowDown: ['ArrowDown', 40], ArrowLeft: ['ArrowLeft', 37], ArrowRight: ['ArrowRight', 39],
  Home: ['Home', 36], End: ['End', 35], PageUp: ['PageUp', 33], PageDown: ['PageDown', 34],
  Shift: ['ShiftLeft', 16], Control: ['ControlLeft', 17], Alt: ['AltLeft', 18], AltGraph: ['AltRight', 225], Meta: ['MetaLeft', 91],
  CapsLock: ['CapsLock', 20], NumLock: ['NumLock', 144], ScrollLock: ['ScrollLock', 145], Pause: ['Pause', 19], PrintScreen: ['PrintScreen', 44],
  ContextMenu: ['ContextMenu', 93], Clear: ['NumLock', 12], Help: ['Help', 47],
  AudioVolumeMute: ['AudioVolumeMute', 173], AudioVolumeDown: ['AudioVolumeDown', 174], AudioVolumeUp: ['AudioVolumeUp', 175],
  MediaTrackNext: ['MediaTrackNext', 176], MediaTrackPrevious: ['MediaTrackPrevious', 177], MediaStop: ['MediaStop', 178], MediaPlayPause: ['MediaPlayPause', 179],
};

/** Rarer names of the UI Events standard; they are passed on as they are. */
const RARE = new Set(('Accept Again Attn Cancel Compose Convert Copy CrSel Cut Dead EraseEof Execute ExSel Find Fn FnLock Hyper NonConvert Paste Play Process Props Redo Select Super ' +
  'Symbol SymbolLock Undo Unidentified ZoomIn ZoomOut BrightnessDown BrightnessUp Eject LogOff Power Standby WakeUp BrowserBack BrowserFavorites BrowserForward BrowserHome ' +
  'BrowserRefresh BrowserSearch BrowserStop GoBack GoHome LaunchApplication1 LaunchApplication2 LaunchMail MediaFastForward MediaPause MediaPlay MediaRecord MediaRewind').split(' '));

/** The keys of a US keyboard that print neither letter nor digit: plain, with shift, code, legacy code. */
const PRINTING: [plain: string, shifted: string, code: string, keyCode: number][] = [
  [' ', ' ', 'Space', 32], ['-', '_', 'Minus', 189], ['=', '+', 'Equal', 187], ['[', '{', 'BracketLeft', 219], [']', '}', 'BracketRight', 221],
  ['\\', '|', 'Backslash', 220], [';', ':', 'Semicolon', 186], ["'", '"', 'Quote', 222], ['`', '~', 'Backquote', 192], [',', '<', 'Comma', 188],
  ['.', '>', 'Period', 190], ['/', '?', 'Slash', 191],
];
const SHIFTED_DIGITS = ')!@#$%^&*(';

const ALIASES: Record<string, string> = {
  esc: 'Escape', return: 'Enter', space: ' ', spacebar: ' ', del: 'Delete', ins: 'Insert', up: 'ArrowUp', down: 'ArrowDown', left: 'ArrowLeft', right: 'ArrowRight',
  pgup: 'PageUp', pgdn: 'PageDown', pagedn: 'PageDown', ctrl: 'Control', cmd: 'Meta', command: 'Meta', option: 'Alt', win: 'Meta', os: 'Meta', bksp: 'Backspace',
};

/** The key that is meant by KeyboardEvent.key's word for it, or a common other one; null if there is no such key. */
export function keyNamed(given: string): Key | null {
  const lower = given.toLowerCase();
  const name = ALIASES[lower] ?? (given in NAMED ? given : Object.keys(NAMED).find((n) => n.toLowerCase() === lower)) ?? given;
  const named = NAMED[name];
  if (named) return { key: name, code: named[0], keyCode: named[1] };
  const f = /^f(\d{1,2})$/i.exec(name);
  if (f && Number(f[1]) >= 1 && Number(f[1]) <= 24) return { key: `F${Number(f[1])}`, code: `F${Number(f[1])}`, keyCode: 111 + Number(f[1]) };
  if (/^[a-z]$/i.test(name)) return { key: name, code: `Key${name.toUpperCase()}`, keyCode: name.toUpperCase().charCodeAt(0) };
  if (/^[0-9]$/.test(name)) return { key: name, code: `Digit${name}`, keyCode: 48 + Number(name) };
  for (const [plain, shifted, code, keyCode] of PRINTING) if (name === plain || name === shifted) return { key: name, code, keyCode };
  const digit = name.length === 1 ? SHIFTED_DIGITS.indexOf(name) : -1;
  if (digit >= 0) return { key: name, code: `Digit${digit}`, keyCode: 48 + digit };
  // One character of another script.
  if ([...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(name)].length === 1) return { key: name, code: '', keyCode: 0 };
  return RARE.has(name) ? { key: name, code: name, keyCode: 0 } : null;
}

/** Whether the key puts a character into a text. */
export const prints = (key: string): boolean => key.length === 1 || keyNamed(key)?.code === '';

/** Dispatches one event of a key; false if the page prevented its default. */
export function keyEvent(on: Element, type: 'keydown' | 'keypress' | 'keyup', key: string, modifiers: Modifiers): boolean {
  const k = keyNamed(key) ?? { key, code: '', keyCode: 0 };
  const charCode = k.key === 'Enter' ? 13 : (k.key.codePointAt(0) ?? 0);
  const codes = type === 'keypress' ? { keyCode: charCode, charCode, which: charCode } : { keyCode: k.keyCode, charCode: 0, which: k.keyCode };
  return native(on).dispatchEvent(new KeyboardEvent(type, {
    key: k.key, code: k.code, bubbles: true, cancelable: true, composed: true, view: window,
    altKey: modifiers.alt, ctrlKey: modifiers.ctrl, shiftKey: modifiers.shift, metaKey: modifiers.meta,
    location: /Left$/.test(k.code) && /^(?:Shift|Control|Alt|Meta)/.test(k.code) ? KeyboardEvent.DOM_KEY_LOCATION_LEFT : 0,
    ...codes,
  }));
}
