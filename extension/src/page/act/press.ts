// press_key: the events of one key press. Untrusted events have no effect by themselves, so the effects that people and pages
// count on follow here, unless the page prevented them.
import { aimedAt } from '../../overlay/draw';
import type { PageContext } from '../context';
import { describe, type ElementInfo } from '../describe';
import { focused } from '../dom';
import { frameIndex } from '../frames';
import { onElement, type Around, type Beyond, type ElementArgs } from '../element';
import { PageError } from '../error';
import { answered, type Answer } from './answer';
import { defaultAction, defaultActionOfKeyup } from './key-defaults';
import { keyEvent, keyNamed, prints } from './keyboard';
import { focus, NO_MODIFIERS, takesFocus, type Modifiers } from './pointer';
import { watchHeldBack } from './held-back';
import { editingHost } from './resolve';
import { native } from '../native';
import { ready } from './windows';

export interface KeyArgs { key: string; modifiers: (keyof Modifiers)[] }
export interface Pressed extends Answer { key: string; modifiers: string[]; element: ElementInfo; shadow?: true; prevented?: true; note?: string }
/** The focus is in a child frame: there the key belongs. */
export interface FocusInFrame { focusInFrame: { index: number } }

export function pressOp(args: ElementArgs & KeyArgs, ctx: PageContext): Promise<Pressed | Beyond | Around> {
  check(args.key);
  return onElement<Pressed>(args, ctx, {
    needs: { keys: true },
    before: () => (opens(args) ? ready() : null),
    act: ({ el, dress }) => {
      const element = describe(el);
      ctx.acted(dress({ key: args.key, modifiers: args.modifiers, element }));
      if (takesFocus(el) && focused() !== el) focusAtEnd(el);
      return pressed(el, args, element);
    },
  });
}

/** A script's focus leaves the caret at the start of a field that had none yet; who types goes on at the end. */
export function focusAtEnd(el: Element): void {
  focus(el);
  if (focused() !== el) return;
  if (el instanceof HTMLTextAreaElement || (el instanceof HTMLInputElement && el.selectionStart !== null)) {
    if (el.selectionEnd === 0) el.setSelectionRange(el.value.length, el.value.length);
  } else if (editingHost(el) === el) {
    const selection = getSelection();
    selection?.selectAllChildren(el);
    selection?.collapseToEnd();
  }
}

/** Without a target: into whatever has the focus, else the body. */
export async function pressHereOp(args: KeyArgs, ctx: PageContext): Promise<Pressed | FocusInFrame> {
  check(args.key);
  if (opens(args)) await ready();
  const asking = ctx.wanted();
  if (asking) await asking;
  const el = focused() ?? document.body ?? document.documentElement;
  if (el instanceof HTMLIFrameElement) {
    const index = frameIndex(el);
    if (index >= 0) return { focusInFrame: { index } };
  }
  const element = describe(el);
  aimedAt(el);
  const shadow = native(el).getRootNode() instanceof ShadowRoot ? { shadow: true as const } : {};
  ctx.acted({ key: args.key, modifiers: args.modifiers, element, ...shadow });
  return { ...await pressed(el, args, element), ...shadow };
}

function check(key: string): void {
  if (!keyNamed(key)) throw new PageError('INVALID_PARAMS', `there is no key ${JSON.stringify(key.slice(0, 60))}: key takes one character or a name such as Enter, Escape, Tab, ArrowDown, F5; modifiers go into modifiers`);
}

const MODIFIER_KEYS: Record<keyof Modifiers, string> = { ctrl: 'Control', alt: 'Alt', shift: 'Shift', meta: 'Meta' };

/** Every key of a person's but Escape lets a page open a window in answer. */
const opens = ({ key }: KeyArgs) => keyNamed(key)!.key !== 'Escape';

const pressed = (el: Element, args: KeyArgs, element: ElementInfo): Pressed | Promise<Pressed> =>
  (opens(args) ? answered(el, () => press(el, args, element)) : press(el, args, element));

function press(el: Element, args: KeyArgs, element: ElementInfo): Pressed {
  const heldBack = watchHeldBack(el);
  try {
    const result = stroke(el, args, element);
    // Enter in a field submits its form, with or without a button.
    const form = keyNamed(args.key)!.key === 'Enter' && !result.prevented && el instanceof HTMLInputElement ? el.form : null;
    const note = heldBack(form);
    return note === undefined ? result : { ...result, note };
  } finally {
    heldBack();
  }
}

/** The browser edits the parts of a date by its own keys only. */
const DATES = /^(?:date|time|month|week|datetime-local)$/;
const NOT_BY_KEYS = 'the page was told of the key, but a date or time is not changed by it: set_value puts one in, type_text types it';

function stroke(el: Element, { key, modifiers }: KeyArgs, element: ElementInfo): Pressed {
  const held: Modifiers = { ...NO_MODIFIERS };
  const order = [...new Set(modifiers)];
  for (const modifier of order) {
    held[modifier] = true;
    keyEvent(el, 'keydown', MODIFIER_KEYS[modifier], held);
  }
  const name = keyNamed(key)!.key;
  const result: Pressed = { key, modifiers, element };
  let wanted = keyEvent(el, 'keydown', name, held);
  // The page may have moved the focus; what follows of the key happens where it is now.
  let on = where(el);
  const plain = !held.ctrl && !held.alt && !held.meta;
  if (wanted && ((prints(name) && plain) || name === 'Enter')) {
    wanted = keyEvent(on, 'keypress', name, held);
    on = where(on);
  }
  if (wanted) { if (defaultAction(on, name, held)) result.leads = true; } else result.prevented = true;
  if (wanted && plain && on instanceof HTMLInputElement && DATES.test(on.type) && (prints(name) || /^(?:Arrow|Backspace$|Delete$)/.test(name))) result.note = NOT_BY_KEYS;
  on = where(on);
  if (keyEvent(on, 'keyup', name, held) && wanted && defaultActionOfKeyup(on, name, held)) result.leads = true;
  for (const modifier of order.reverse()) {
    held[modifier] = false;
    keyEvent(where(on), 'keyup', MODIFIER_KEYS[modifier], held);
  }
  return result;
}

/** Keys go to the focused element; to the one that was asked for as long as nothing else has the focus. */
function where(el: Element): Element {
  const active = focused();
  if (active && active !== el && (!native(el).isConnected || takesFocus(el))) return active;
  return native(el).isConnected ? el : (active ?? document.body ?? document.documentElement);
}
