// Rich-text editors. They keep their text in a model of their own and follow the browser's editing events; who writes into
// their DOM is overruled. So the text is put in by the browser's editing commands, which raise those events, and where an
// editor does not take it that way, as a paste. Then it is read back.
import type { PageContext } from '../context';
import { mark } from '../aftermath';
import { describe, outline } from '../describe';
import type { Hit } from '../element';
import { PageError } from '../error';
import { change, queued } from '../wait';
import { closestAcross } from '../dom';
import { settle, type Later } from './kept';
import { keyEvent } from './keyboard';
import { focus, NO_MODIFIERS } from './pointer';
import { bothShown, type Filled } from './value';
import { native } from '../native';

export async function writeEditable(el: HTMLElement, value: string, { dress, again }: Hit, ctx: PageContext, later: Later): Promise<Filled> {
  const text = value.replace(/\r\n?/g, '\n');
  const element = describe(el);
  ctx.acted(dress({ element, value: text }));
  const current = () => (native(el).isConnected ? el : (again() as HTMLElement | null)) ?? el;
  const before = mark();
  const ways = waysFor(el, text);
  for (const way of ways) {
    const on = current();
    focus(on);
    await selectAll(on);
    if (!way(on, text)) continue;
    if (await holds(current, text, ctx)) {
      native(current()).dispatchEvent(new Event('change', { bubbles: true }));
      const settled = await settle(before, ctx, later, () => {
        const held = editableText(current());
        return comparable(held) === comparable(text) ? null : notTaken('keep', el, text, held);
      });
      return { element, value: settled.wrong === undefined ? editableText(current()) : text, ...settled };
    }
  }
  throw notTaken('take', el, text, editableText(current()));
}

export function notTaken(verb: 'take' | 'keep', editor: Element, text: string, held: string): PageError {
  const [given, holds] = bothShown(text, held);
  return new PageError('ELEMENT_NOT_ACTIONABLE', `the editor ${outline(editor)} did not ${verb} the text: it was given ${given} and now holds ${holds}`, { maybe_executed: true });
}

type Way = (el: HTMLElement, text: string) => boolean;

function waysFor(el: HTMLElement, text: string): Way[] {
  // Draft.js draws with React, which breaks when the browser changes the DOM under it; it takes pastes and the Backspace key.
  if (closestAcross(el, '.DraftEditor-root')) return text === '' ? [pressBackspace] : [pasteText];
  if (text === '') return [erase];
  if (!text.includes('\n')) return [typeText, pasteText];
  const many = text.split('\n').length > MANY_LINES && native(el).contentEditable !== 'plaintext-only';
  return many ? [pasteText, putLines] : [pasteText, typeLines, typeText];
}

/** Selects all there is in the editor and lets it take notice: editors learn of it by an event that comes later. */
async function selectAll(el: HTMLElement): Promise<void> {
  const selection = selectionIn(el);
  if (!selection) return;
  selection.selectAllChildren(el);
  await queued(2);
}

function selectionIn(el: Element): Selection | null {
  const root = native(el).getRootNode() as ShadowRoot & { getSelection?(): Selection | null };
  return root instanceof ShadowRoot && root.getSelection ? root.getSelection() : getSelection();
}

// A way says whether it did anything at all; what came of it is read afterwards.

function erase(el: HTMLElement): boolean {
  return edit(el, 'deleteContentBackward', null);
}

function typeText(el: HTMLElement, text: string): boolean {
  return edit(el, 'insertText', text);
}

function pressBackspace(el: HTMLElement): boolean {
  keyEvent(el, 'keydown', 'Backspace', NO_MODIFIERS);
  keyEvent(el, 'keyup', 'Backspace', NO_MODIFIERS);
  return true;
}

/** The browser's commands take so much longer with each line that a few thousand of them would hold the page up for good. */
const MANY_LINES = 200;

/** All lines at once, each a block, as the browser makes them: what it does itself with a paste that nobody else takes. */
function putLines(el: HTMLElement, text: string): boolean {
  const line = (l: string) => `<div>${l === '' ? '<br>' : l.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/^ | (?= )/g, '\u00a0')}</div>`;
  const dataTransfer = new DataTransfer();
  dataTransfer.setData('text/plain', text);
  if (!native(el).dispatchEvent(new InputEvent('beforeinput', { bubbles: true, cancelable: true, composed: true, inputType: 'insertFromPaste', dataTransfer }))) return true;
  try { return document.execCommand('insertHTML', false, text.split('\n').map(line).join('')); } catch { return false; }
}

/** Line by line, for editors that make a paragraph of each. */
function typeLines(el: HTMLElement, text: string): boolean {
  let done = false;
  text.split('\n').forEach((line, i) => {
    if (i) done = edit(el, 'insertParagraph', null) || done;
    if (line) done = edit(el, 'insertText', line) || done;
  });
  return done;
}

const COMMANDS = { insertText: 'insertText', insertParagraph: 'insertParagraph', insertLineBreak: 'insertLineBreak', deleteContentBackward: 'delete', deleteContentForward: 'forwardDelete' };

/**
 * One step of editing. Chrome's editing commands raise `input` but no `beforeinput`, by which editors with a model of their own
 * learn of a change and forbid it to the browser; so that event comes first, and the command only if it was let through.
 */
export function edit(el: Element, inputType: keyof typeof COMMANDS, data: string | null): boolean {
  const selection = selectionIn(el);
  const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
  const targetRanges = range ? [new StaticRange(range)] : [];
  const init = { bubbles: true, cancelable: true, composed: true, inputType, data, view: window, targetRanges };
  if (!native(el).dispatchEvent(new InputEvent('beforeinput', init))) return true;
  try { return document.execCommand(COMMANDS[inputType], false, data ?? undefined); } catch { return false; }
}

/** A paste that the page may handle; where it does not, nothing happens by itself. */
export function pasteText(el: Element, text: string): boolean {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  return !native(el).dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true, clipboardData }));
}

const TRY_MS = 400;

/** Waits a moment for the editor to hold the text; many draw it only after the event. */
async function holds(el: () => HTMLElement, text: string, ctx: PageContext): Promise<boolean> {
  const wanted = comparable(text);
  const until = Math.min(Date.now() + TRY_MS, ctx.deadline);
  for (;;) {
    await queued(2);
    if (comparable(editableText(el())) === wanted) return true;
    if (Date.now() >= until) return false;
    await change(ctx.signal, 10);
  }
}

/** Editors differ in how they keep spaces and empty lines; the words and the lines must be the same. */
export function comparable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[\u00a0\t ]+/g, ' ').replace(/[\u200b\ufeff]/g, '').replace(/ *\n[ \n]*/g, '\n').trim();
}

/**
 * The text of an editor: one line a block, one a <br>, without the marks that editors put in to hold the caret. `shown` leaves out what
 * is not drawn, as fits an element that is no editor.
 */
export function editableText(el: Element, { shown = false } = {}): string {
  const lines: string[] = [''];
  let open = false;
  const newLine = () => { lines.push(''); open = false; };
  const add = (text: string) => { if (text) { lines[lines.length - 1] += text; open = true; } };
  const preformatted = (on: Element) => getComputedStyle(on).whiteSpaceCollapse?.startsWith('preserve') || /^pre/.test(getComputedStyle(on).whiteSpace);
  const visit = (node: Node): void => {
    if (native(node).nodeType === Node.TEXT_NODE) {
      if (shown && getComputedStyle(native(node).parentElement ?? el).visibility !== 'visible') return;
      const data = (node as Text).data.replace(/[\u200b\ufeff]/g, '').replace(/\u00a0/g, ' ');
      if (preformatted(native(node).parentElement ?? el)) data.split('\n').forEach((line, i) => { if (i) newLine(); add(line); });
      else if (/\S/.test(data) || (data && open)) add(data.replace(/\s+/g, ' '));
      return;
    }
    if (!(node instanceof Element)) return;
    if (/^(?:script|style|template|textarea|select)$/.test(native(node).localName) || native(node).matches('[data-slate-placeholder], [aria-hidden=true]')) return;
    if (native(node).localName === 'br') {
      // The last <br> of a block only keeps it open.
      if (nextInBlock(node)) newLine();
      return;
    }
    const { display } = getComputedStyle(node);
    if (shown && display === 'none') return;
    const block = !/^(?:inline|contents|none|ruby)/.test(display);
    if (block && (open || started)) newLine();
    for (const child of native(node).childNodes) visit(child);
    if (block) { started = true; open = true; }
  };
  let started = false;
  for (const child of native(el).childNodes) visit(child);
  return lines.join('\n').replace(/\n$/, '').replace(/ $/gm, '');
}

function nextInBlock(br: Element): boolean {
  for (let node: Node | null = native(br).nextSibling; node; node = native(node).nextSibling) {
    if (native(node).nodeType === Node.TEXT_NODE ? (node as Text).data.replace(/[\u200b\ufeff]/g, '') !== '' : native(node).nodeType === Node.ELEMENT_NODE) return true;
  }
  return false;
}
