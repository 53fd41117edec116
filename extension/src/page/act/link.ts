// Where a click leads: the link or form that it would follow, and how to keep it in this tab.
import { ancestry } from '../dom';
import { native } from '../native';

/** The link that a click on the element follows. */
export function linkOf(el: Element): { el: Element; href: string } | null {
  for (const up of ancestry(el)) {
    if ((up instanceof HTMLAnchorElement || up instanceof HTMLAreaElement) && up.hasAttribute('href')) return { el: up, href: up.href };
    if (up instanceof SVGAElement && (up.hasAttribute('href') || up.hasAttribute('xlink:href'))) return { el: up, href: new URL(up.href.baseVal, document.baseURI).href };
    // A control inside of a link has its own click.
    if (up instanceof HTMLButtonElement || up instanceof HTMLInputElement || up instanceof HTMLSelectElement) return null;
  }
  return null;
}

/** Whether a link leads to another document: not to a place in this one, nor to code. */
export function leadsAway(href: string): boolean {
  return /^(?:https?|file|blob|data):/i.test(href) && (href.split('#', 1)[0] !== location.href.split('#', 1)[0] || !href.includes('#'));
}

/** The form that a click on the element submits, with the button that does it. */
export function submitterOf(el: Element): { button: HTMLButtonElement | HTMLInputElement; form: HTMLFormElement } | null {
  for (const up of ancestry(el)) {
    const submits = (up instanceof HTMLButtonElement && up.type === 'submit') || (up instanceof HTMLInputElement && (up.type === 'submit' || up.type === 'image'));
    if (submits) return up.form ? { button: up, form: up.form } : null;
  }
  return null;
}

/** Whether a target names a place that does not exist yet, so that the browser would open a tab for it. */
export function opensTab(target: string): boolean {
  const name = target.toLowerCase();
  if (name === '' || name === '_self' || name === '_parent' || name === '_top' || name === '_unfencedtop') return false;
  if (name === '_blank') return true;
  if (name === window.name.toLowerCase()) return false;
  return !isFrameName(window.top ?? window, name);
}

/** Whether a frame of this tab has the name, as far as other sites let us look. */
function isFrameName(root: Window, name: string): boolean {
  try {
    const frames = root.document.querySelectorAll<HTMLIFrameElement>('iframe, frame, object');
    return [...frames].some((f) => f.name?.toLowerCase() === name || (f.contentWindow !== null && isFrameName(f.contentWindow, name)));
  } catch {
    return false;
  }
}

/** A link that would open a tab, in a frame from which this tab's page may not be replaced without a person's click. */
export function blockedAtTop(el: Element): string | null {
  if (window === window.top) return null;
  const link = linkOf(el);
  if (!link || !opensTab(native(link.el).getAttribute('target') ?? baseTarget())) return null;
  try { if (window.top!.location.href) return null; } catch { /* another site's page is on top */ }
  return link.href;
}

const baseTarget = () => native(document.querySelector('base[target]'))?.getAttribute('target') ?? '';

/** Keeps what the click leads to in this tab while `act` runs; the page's own attributes are as before afterwards. */
export function inThisTab<T>(el: Element, act: () => T): T {
  const restore = keepInThisTab(el);
  try {
    return act();
  } finally {
    restore();
  }
}

/** Makes a click on the element lead on in this tab until the given function is called. */
export function keepInThisTab(el: Element): () => void {
  const base = baseTarget();
  const changed: { el: Element; name: string; before: string | null }[] = [];
  const keep = (on: Element, name: string, effective: string) => {
    if (!opensTab(effective)) return;
    changed.push({ el: on, name, before: native(on).getAttribute(name) });
    native(on).setAttribute(name, window === window.top ? '_self' : '_top');
  };
  const link = linkOf(el);
  if (link) keep(link.el, 'target', native(link.el).getAttribute('target') ?? base);
  const submitter = link ? null : submitterOf(el);
  if (submitter) {
    const { button, form } = submitter;
    if (button.hasAttribute('formtarget')) keep(button, 'formtarget', button.getAttribute('formtarget')!);
    else keep(form, 'target', native(form).getAttribute('target') ?? base);
  }
  return () => {
    for (const { el: on, name, before } of changed) {
      if (before === null) native(on).removeAttribute(name); else native(on).setAttribute(name, before);
    }
  };
}
