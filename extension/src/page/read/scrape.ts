// scrape: records out of a list, by CSS selectors alone. Waits for the first item by watching the document, not by asking again.
import type { PageContext } from '../context';
import { PageError } from '../error';
import { Budget } from './walk';
import { native } from '../native';

export interface ScrapeArgs {
  item: string;
  /** Field name to `selector`, `selector@attribute`, `@attribute` (of the item) or '' (the item's text). */
  fields?: Record<string, string>;
  title?: string;
  link?: string;
  desc?: string;
  /** Date.now() milliseconds until which to wait for an item. */
  until: number;
}

export type Row = Record<string, string | null>;
export interface Scraped { count: number; items: Row[]; truncated?: true }

/** In UTF-16 units, over all rows; see content.ts. */
const LONGEST = 10_000_000;
/** A list that appeared while we waited may still be growing: it is read once it has been still for so long… */
const STILL_MS = 200;
/** …or after this time, still or not. */
const GROWING_MS = 1000;

interface Field { name: string; read: (item: Element) => string | null }

export async function scrape(args: ScrapeArgs, ctx: PageContext): Promise<Scraped> {
  check(args.item, 'item');
  const fields = fieldsOf(args);
  await appear(args.item, args.until, ctx.signal);
  const budget = new Budget(LONGEST, ctx.deadline);
  const items: Row[] = [];
  for (const item of document.querySelectorAll(args.item)) {
    const next = budget.check();
    if (next === 'pause') await budget.pause();
    if (next === 'end') break;
    items.push(Object.fromEntries(fields.map(({ name, read }) => {
      const value = read(item);
      return [name, value === null ? null : budget.take(value)];
    })));
  }
  return { count: items.length, items, ...(budget.cut ? { truncated: true as const } : {}) };
}

function check(selector: string, where: string): void {
  try {
    document.createDocumentFragment().querySelector(selector);
  } catch {
    throw new PageError('INVALID_PARAMS', `invalid params: ${where} is not a valid CSS selector: ${selector.slice(0, 200)}`);
  }
}

function fieldsOf({ fields, title, link, desc }: ScrapeArgs): Field[] {
  if (fields && Object.keys(fields).length) return Object.entries(fields).map(([name, spec]) => field(name, spec));
  const old: Field[] = [];
  if (title !== undefined) old.push(field('title', title));
  if (link !== undefined) old.push(linkField(link));
  if (desc !== undefined) old.push(field('description', desc));
  return old.length ? old : [field('text', '')];
}

function field(name: string, spec: string): Field {
  const at = /^(.*)@([A-Za-z_][\w:.-]*)$/s.exec(spec.trim());
  const selector = (at ? at[1]! : spec).trim(), attribute = at?.[2];
  if (selector) check(selector, `fields.${name}`);
  const find = (item: Element) => (selector ? native(item).querySelector(selector) : item);
  return {
    name,
    read(item) {
      const el = find(item);
      if (!el) return null;
      return attribute ? attributeOf(el, attribute) : textOf(el);
    },
  };
}

/** The older form names the element that is, holds or lies in the link. */
function linkField(selector: string): Field {
  if (/@[\w:.-]+$/.test(selector.trim()) || !selector.trim()) return field('url', selector);
  check(selector, 'link');
  return {
    name: 'url',
    read(item) {
      const el = native(item).querySelector(selector);
      const link = native(el)?.matches('a[href]') ? el : native(el)?.querySelector('a[href]') ?? native(el)?.closest('a[href]');
      return link ? attributeOf(link, 'href') : null;
    },
  };
}

/** As it stands in the page; only where a link leads is told as an absolute address. */
function attributeOf(el: Element, name: string): string | null {
  const value = native(el).getAttribute(name);
  if (value !== null && name.toLowerCase() === 'href' && (el instanceof HTMLAnchorElement || el instanceof HTMLAreaElement)) return el.href;
  return value;
}

function textOf(el: Element): string | null {
  if (el instanceof HTMLInputElement) return el.type === 'password' ? null : el.value;
  if (el instanceof HTMLTextAreaElement) return el.value;
  if (el instanceof HTMLSelectElement) return Array.from(el.selectedOptions, (option) => option.label).join(', ');
  // What is not drawn at all has no lines of its own.
  const shown = native(el).checkVisibility() ? native(el as HTMLElement).innerText : '';
  return shown?.trim() || (native(el).textContent ?? '').replace(/\s+/g, ' ').trim();
}

/** Waits until something matches, at the latest until the given time; nothing matching is no error. */
function appear(selector: string, until: number, signal: AbortSignal): Promise<void> {
  if (document.querySelector(selector) || Date.now() >= until) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let still: ReturnType<typeof setTimeout> | undefined;
    let full: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      observer.disconnect();
      for (const timer of [timeout, still, full]) clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    const done = () => { end(); resolve(); };
    const stop = () => { end(); reject(new PageError('CANCELLED', 'cancelled while waiting for items')); };
    const observer = new MutationObserver(() => {
      if (full === undefined && !document.querySelector(selector)) return;
      full ??= setTimeout(done, GROWING_MS);
      clearTimeout(still);
      still = setTimeout(done, STILL_MS);
    });
    const timeout = setTimeout(done, until - Date.now());
    signal.addEventListener('abort', stop);
    observer.observe(document, { subtree: true, childList: true, attributes: true });
  });
}
