// What trusted typing needs of the page: the focus on the right element, and what that holds.
import type { PageContext } from '../context';
import { describe, outline, type ElementInfo } from '../describe';
import { closestAcross, focused } from '../dom';
import { frameIndex } from '../frames';
import { onElement, type Around, type Beyond, type ElementArgs } from '../element';
import { codeInput, shownText } from './code-editor';
import { editableText } from './editable';
import { takesFocus } from './pointer';
import { focusAtEnd, type FocusInFrame } from './press';
import { controlOf, editingHost } from './resolve';
import { isSecret } from './value';
import { native } from '../native';

const FIELD = 'input:not([type=hidden]), textarea, select, [contenteditable]:not([contenteditable=false])';

export interface FocusTaken {
  element: ElementInfo;
  /** False if it takes no focus itself: then a click has to find out what does. */
  focused: boolean;
  shadow?: true;
}

/** Gives the focus to the field that the target means, with the caret at its end; with `look` only waits for the field. */
export function focusTypingOp(args: ElementArgs & { look?: boolean }, ctx: PageContext): Promise<FocusTaken | Beyond | Around> {
  return onElement<FocusTaken>(args, ctx, {
    needs: { editable: true, keys: true },
    resolve: (el) => codeInput(el) ?? editingHost(el) ?? controlOf(el, FIELD),
    act: ({ el }) => {
      const element = describe(el);
      if (args.look || !takesFocus(el)) return { element, focused: false };
      ctx.acted({ element, focused: true });
      if (focused() !== el) focusAtEnd(el);
      const now = focused();
      return { element, focused: now !== null && (now === el || native(el).contains(now)) };
    },
  });
}

export interface FocusState {
  /** The same number for the same element, for as long as the document lives. */
  id: number;
  element: ElementInfo;
  outline: string;
  /** What it holds, if it is something one types into. */
  value?: string;
  secret?: true;
}

const ids = new WeakMap<Element, number>();
let counter = 0;

export function focusStateOp(): FocusState | FocusInFrame {
  const el = focused() ?? document.body ?? document.documentElement;
  if (el instanceof HTMLIFrameElement || native(el).localName === 'frame') {
    const index = frameIndex(el as HTMLIFrameElement);
    if (index >= 0) return { focusInFrame: { index } };
  }
  let id = ids.get(el);
  if (id === undefined) ids.set(el, id = ++counter);
  const value = heldBy(el);
  return { id, element: describe(el), outline: outline(el), ...(value === undefined ? {} : { value }), ...(isSecret(el) ? { secret: true as const } : {}) };
}

function heldBy(el: Element): string | undefined {
  if (codeInput(el)) {
    const editor = closestAcross(el, '.cm-editor, .CodeMirror, .monaco-editor, .ace_editor');
    if (editor) return shownText(editor);
  }
  if (el instanceof HTMLInputElement) return /^(?:button|submit|reset|image|checkbox|radio|file|range|color)$/.test(el.type) ? undefined : el.value;
  if (el instanceof HTMLTextAreaElement) return el.value;
  const host = editingHost(el);
  return host ? editableText(host) : undefined;
}
