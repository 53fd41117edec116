// get_value: what an element holds now. It reads, so the element may be hidden, disabled or covered.
import type { PageContext } from '../context';
import { describe, type ElementInfo } from '../describe';
import { closestAcross } from '../dom';
import { onElement, type Around, type Beyond, type ElementArgs } from '../element';
import { normalise } from '../text';
import { stateOf } from './check';
import { CODE_EDITORS, codeInput, isCodeEditor, shownText } from './code-editor';
import { editableText } from './editable';
import { controlOf, editingHost } from './resolve';
import { isSecret } from './value';
import { native } from '../native';

export interface Value { element: ElementInfo; value: string | null; checked?: boolean; text?: string; selected?: { value: string; text: string }[]; shadow?: true }

const CONTROL = 'input, textarea, select, meter, progress, output, [contenteditable]:not([contenteditable=false]), [aria-checked], [aria-valuenow], [role=textbox], [role=searchbox], [role=combobox]';

export function readValueOp(args: ElementArgs & { redact: boolean }, ctx: PageContext): Promise<Value | Beyond | Around> {
  return onElement<Value>(args, ctx, {
    needs: { visible: false, enabled: false },
    // A label stands for its control; anything else is read as it is.
    resolve: (el) => codeInput(el) ?? (closestAcross(el, 'label') || native(el).localName.includes('-') ? controlOf(el, CONTROL) : (editingHost(el) ?? el)),
    act: ({ el }) => {
      const element = describe(el);
      if (args.redact && isSecret(el)) return { element, value: (el as HTMLInputElement).value === '' ? '' : '[redacted]' };
      return { element, ...valueOf(el) };
    },
  });
}

function valueOf(el: Element): Omit<Value, 'element'> {
  if (el instanceof HTMLInputElement) {
    if (el.type === 'checkbox' || el.type === 'radio') return { value: el.value, checked: el.checked };
    if (el.type === 'file') return { value: [...(el.files ?? [])].map((f) => f.name).join(', ') };
    return { value: el.value };
  }
  if (isCodeEditor(el)) return { value: shownText(closestAcross(el, CODE_EDITORS)!) };
  if (el instanceof HTMLTextAreaElement || el instanceof HTMLOutputElement || el instanceof HTMLButtonElement) return { value: el.value };
  if (el instanceof HTMLSelectElement) {
    const chosen = [...el.selectedOptions].map((o) => ({ value: o.value, text: normalise(o.text) || o.label }));
    return { value: el.value === '' && !chosen.length ? null : el.value, text: chosen.map((c) => c.text).join(', '), ...(el.multiple ? { selected: chosen } : {}) };
  }
  if (el instanceof HTMLOptionElement) return { value: el.value, text: normalise(el.text), checked: el.selected };
  if (el instanceof HTMLMeterElement || el instanceof HTMLProgressElement) return { value: String(el.value) };
  if (editingHost(el)) return { value: editableText(el) };
  const checked = native(el).matches('[aria-checked], [role=checkbox], [role=switch], [role=radio]') ? { checked: stateOf(el) === true } : {};
  const said = native(el).getAttribute('aria-valuetext') ?? native(el).getAttribute('aria-valuenow');
  // Of what is not drawn itself, all its text is told.
  return { value: said ?? editableText(el, { shown: native(el).checkVisibility({ visibilityProperty: true }) }), ...checked };
}
