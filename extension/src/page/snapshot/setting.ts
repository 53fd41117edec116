// What the part of the page around an element is about. Pages that draw themselves keep their nodes from one thing to the next: "Delete"
// beside the open mail is the same button when another mail is open, and yet deletes something else.
import { closestAcross } from '../dom';
import { cut } from '../describe';
import { native } from '../native';

/** The address, and what the page calls itself. */
export interface PageSetting { url: string; title: string }

export interface Setting extends PageSetting {
  /** The section, article, dialog around it, and its heading. */
  part?: WeakRef<Element>;
  heading?: string;
}

const PARTS = 'article, section, aside, dialog, fieldset, [role=article], [role=region], [role=dialog], [role=alertdialog], [role=tabpanel]';
const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role=heading], legend';
/** What stays while the page shows one thing after another. */
const FRAME = 'nav, header, footer, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=menubar], [role=tablist]';

export const pageSetting = (): PageSetting => ({ url: address(), title: titleOfPage() });

export function settingOf(el: Element, page: PageSetting): Setting {
  const part = closestAcross(el, PARTS);
  const heading = part ? headingOf(part, el) : undefined;
  return { ...page, ...(part && heading !== undefined ? { part: new WeakRef(part), heading } : {}) };
}

/** Why the element stands for something else by now; null if it does not. */
export function settingChanged(el: Element, was: Setting): string | null {
  const part = was.part?.deref();
  if (part && was.heading !== undefined) {
    const heading = headingOf(part, el);
    if (heading !== was.heading) return `it belonged to ${JSON.stringify(cut(was.heading, 60))}, and what is there now is ${heading === undefined ? 'something else' : JSON.stringify(cut(heading, 60))}`;
  }
  // An address alone changes for less: a filter, a page of a list, a place in the text.
  if (was.url !== address() && was.title !== titleOfPage() && !closestAcross(el, FRAME)) return 'the page has gone on to another address and title';
  return null;
}

/** The first heading of the part that is not in the element itself; a count in brackets beside it is left out. */
function headingOf(part: Element, el: Element): string | undefined {
  const beside = (heading: Element) => !native(el).contains(heading) && !native(heading).contains(el);
  const first = native(part).querySelector(HEADINGS);
  if (!first) return undefined;
  const heading = beside(first) ? first : [...native(part).querySelectorAll(HEADINGS)].find(beside);
  return heading && tidied(native(heading).textContent ?? '').replace(/\s*[([]\d+[)\]]/g, '');
}

/** Without a place in the text, which is no other page; a route after the number sign is one. */
const address = () => `${location.origin}${location.pathname}${location.search}${/^#!?\//.test(location.hash) ? location.hash : ''}`;

/** The main heading, or else the title; counts that tick in them are left out. */
function titleOfPage(): string {
  const heading = tidied(native(native(document).querySelector('h1'))?.textContent ?? '');
  return (heading || tidied(document.title)).replace(/\s*[([]\d+[)\]]/g, '');
}

const tidied = (text: string) => text.replace(/\s+/g, ' ').trim();
