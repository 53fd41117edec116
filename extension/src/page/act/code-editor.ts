// Code editors (CodeMirror, Monaco, Ace) draw only the lines in view and take input through a field of their own. Their text is
// replaced as a person would: select all by its shortcut, then paste.
import type { PageContext } from '../context';
import { mark } from '../aftermath';
import { describe } from '../describe';
import { closestAcross } from '../dom';
import type { Hit } from '../element';
import { change, queued } from '../wait';
import { comparable, editableText, notTaken, pasteText } from './editable';
import { settle, type Later } from './kept';
import { keyEvent } from './keyboard';
import { focus, NO_MODIFIERS } from './pointer';
import type { Filled } from './value';
import { native } from '../native';

export const CODE_EDITORS = '.cm-editor, .CodeMirror, .monaco-editor, .ace_editor';
const LINES = '.cm-content, .CodeMirror-code, .view-lines, .ace_text-layer';
const LINE = '.cm-line, .CodeMirror-line, .view-line, .ace_line';

/** What takes the keys and pastes of such an editor, best first. */
const INPUTS = ['.native-edit-context', '.inputarea:not([readonly])', '.cm-content', '.ace_text-input', ':scope > div > textarea:not([readonly])', 'div.CodeMirror-code'];

/** The field through which the code editor takes its input, if the element is one, or in one; its dialogs' own inputs are not. */
export function codeInput(el: Element): HTMLElement | null {
  const editor = closestAcross(el, CODE_EDITORS);
  if (!editor) return null;
  const input = INPUTS.map((selector) => native(editor).querySelector<HTMLElement>(selector)).find(Boolean) ?? null;
  return native(el).matches('input, textarea, select, button, [contenteditable]') && el !== input ? null : input;
}

/** Whether the element is that field itself. */
export const isCodeEditor = (el: Element): boolean => codeInput(el) === el;

export async function writeCode(el: HTMLElement, value: string, { dress }: Hit, ctx: PageContext, later: Later): Promise<Filled> {
  const text = value.replace(/\r\n?/g, '\n');
  const element = describe(el);
  const editor = closestAcross(el, CODE_EDITORS)!;
  ctx.acted(dress({ element, value: text }));
  const before = mark();
  focus(el);
  await queued(2);
  const mac = /mac/i.test(navigator.platform);
  const chord = { ...NO_MODIFIERS, ctrl: !mac, meta: mac };
  keyEvent(el, 'keydown', 'a', chord);
  keyEvent(el, 'keyup', 'a', chord);
  await queued(2);
  let taken: boolean;
  if (text === '') {
    taken = !keyEvent(el, 'keydown', 'Backspace', NO_MODIFIERS);
    keyEvent(el, 'keyup', 'Backspace', NO_MODIFIERS);
  } else {
    taken = pasteText(el, text);
  }
  const until = Math.min(Date.now() + 800, ctx.deadline);
  for (;;) {
    await queued(2);
    if (shows(editor, text)) {
      const settled = await settle(before, ctx, later, () => (!native(editor).isConnected || shows(editor, text) ? null : notTaken('keep', editor, text, shownText(editor))));
      return { element, value: text, ...settled };
    }
    if (Date.now() >= until) break;
    await change(ctx.signal, 10);
  }
  // Some draw only with the screen's frames, of which a tab in the background has none.
  if (taken && document.hidden) return { element, value: text, note: 'the editor took the text, but draws nothing while its tab is in the background: it could not be read back' };
  throw notTaken('take', editor, text, shownText(editor));
}

/** The lines that the editor has drawn. */
export function shownText(editor: Element): string {
  const lines = native(editor).querySelector(LINES);
  if (!lines) return '';
  const drawn = [...native(lines).querySelectorAll(LINE)].map((line) => ({ top: native(line).getBoundingClientRect().top, text: (native(line).textContent ?? '').replace(/[\u200b\ufeff]/g, '').replace(/\u00a0/g, ' ') }));
  if (!drawn.length) return editableText(lines);
  return drawn.sort((a, b) => a.top - b.top).map((l) => l.text).join('\n');
}

/** Whether what is drawn is the text, or a run of its lines where it is longer than the view. */
function shows(editor: Element, text: string): boolean {
  const shown = comparable(shownText(editor));
  const wanted = comparable(text);
  return shown === wanted || (shown !== '' && shown.length > 200 && wanted.includes(shown));
}
