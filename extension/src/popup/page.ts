// Small things of the popup's page.

export const el = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
export const text = (key: string, ...values: string[]) => chrome.i18n.getMessage(key, values);

/** Changes a text only if it differs, so that a screen reader does not read it out every second. */
export function set(id: string, value: string): void {
  put(el(id), value);
}

export function put(node: HTMLElement, value: string): void {
  if (node.textContent !== value) node.textContent = value;
}
