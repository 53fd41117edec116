// The states and the value of an element, as assistive technology hears them.
import { isEditingHost, isFocusable, roleOf } from './roles';
import { tidy } from './names';
import { native } from '../native';

/** A value longer than this is cut in the tree; get_value reads it whole. */
const LONGEST_VALUE = 1000;

const CHECKABLE = /^(?:checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/;
const SELECTABLE = /^(?:option|tab|treeitem|gridcell|row|cell|columnheader|rowheader)$/;

/** Whether one can operate the element at all: natively disabled (also by its fieldset or optgroup) or said to be by ARIA. */
export function isDisabled(el: Element): boolean {
  if (native(el).matches(':disabled')) return true;
  return Boolean(native(el).closest('[aria-disabled=true]')) && (native(el).getAttribute('aria-disabled') === 'true' || isFocusable(el));
}

/** All states that hold, `enabled` or `disabled` first. */
export function statesOf(el: Element, role: string = roleOf(el)): string[] {
  const states = [isDisabled(el) ? 'disabled' : 'enabled'];
  const says = (name: string) => native(el).getAttribute(`aria-${name}`)?.trim().toLowerCase() ?? '';
  const add = (word: string | null | false | undefined) => { if (word) states.push(word); };

  add(CHECKABLE.test(role) && checked(el, says('checked')));
  const pressed = says('pressed');
  add(role === 'button' && (pressed === 'true' ? 'pressed' : pressed === 'mixed' && 'mixed'));
  add(expanded(el, says('expanded')));
  add(isSelected(el, role, says('selected')) && 'selected');
  add((says('required') === 'true' || (el as HTMLInputElement).required === true) && 'required');
  add((says('readonly') === 'true' || isReadOnly(el)) && 'readonly');
  add((/^(?:true|grammar|spelling)$/.test(says('invalid')) || native(el).matches(':user-invalid')) && 'invalid');
  add(/^(?:page|step|location|date|time|true)$/.test(says('current')) && 'current');
  add(says('busy') === 'true' && 'busy');
  add((says('modal') === 'true' || native(el).matches('dialog:modal')) && 'modal');
  add(role === 'listbox' && ((el as HTMLSelectElement).multiple === true || says('multiselectable') === 'true') && 'multiselectable');
  add(/^(?:true|menu|listbox|tree|grid|dialog)$/.test(says('haspopup')) && 'haspopup');
  add(isFocused(el) && 'focused');
  return states;
}

function checked(el: Element, said: string): string {
  if (el instanceof HTMLInputElement && (el.type === 'checkbox' || el.type === 'radio')) {
    return el.indeterminate && el.type === 'checkbox' ? 'mixed' : el.checked ? 'checked' : 'unchecked';
  }
  return said === 'true' ? 'checked' : said === 'mixed' ? 'mixed' : 'unchecked';
}

function expanded(el: Element, said: string): string | null {
  const details = native(el).localName === 'summary' ? native(el).parentElement : null;
  if (details instanceof HTMLDetailsElement) return details.open ? 'expanded' : 'collapsed';
  if (said === 'true') return 'expanded';
  if (said === 'false') return 'collapsed';
  const popover = (el as HTMLButtonElement).popoverTargetElement;
  return popover ? (native(popover).matches(':popover-open') ? 'expanded' : 'collapsed') : null;
}

function isSelected(el: Element, role: string, said: string): boolean {
  if (el instanceof HTMLOptionElement) return el.selected;
  return SELECTABLE.test(role) && said === 'true';
}

function isReadOnly(el: Element): boolean {
  if (el instanceof HTMLTextAreaElement) return el.readOnly;
  return el instanceof HTMLInputElement && el.readOnly && !/^(?:checkbox|radio|range|color|file|submit|button|reset|image|hidden)$/.test(el.type);
}

function isFocused(el: Element): boolean {
  return ((native(el).getRootNode() as Document | ShadowRoot)).activeElement === el && el !== document.body;
}

/** The current value of something one enters or sets; null for everything else. A password is told by its length only. */
export function valueOf(el: Element, role: string = roleOf(el)): string | null {
  const value = rawValue(el, role);
  return value !== null && value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE).replace(/[\ud800-\udbff]$/, '')}…` : value;
}

function rawValue(el: Element, role: string): string | null {
  if (el instanceof HTMLInputElement) {
    switch (el.type) {
      case 'button': case 'submit': case 'reset': case 'image': case 'checkbox': case 'radio': case 'hidden': return null;
      case 'password': return '•'.repeat(el.value.length);
      case 'file': return Array.from(el.files ?? [], (file) => file.name).join(', ');
      default: return el.value;
    }
  }
  if (el instanceof HTMLTextAreaElement) return el.value;
  if (el instanceof HTMLSelectElement) return Array.from(el.selectedOptions, (option) => tidy(option.label)).join(', ');
  if (el instanceof HTMLProgressElement) return el.position < 0 ? null : String(el.value);
  if (el instanceof HTMLMeterElement) return String(el.value);
  if (/^(?:slider|spinbutton|scrollbar|progressbar|meter|separator)$/.test(role)) {
    return native(el).getAttribute('aria-valuetext') ?? native(el).getAttribute('aria-valuenow');
  }
  if (isEditingHost(el) || role === 'textbox' || role === 'searchbox') return native(el as HTMLElement).innerText ?? native(el).textContent;
  if (role === 'combobox') return tidy(native(el).textContent ?? '');
  return null;
}
