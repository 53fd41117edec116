// get_page_content: title, address and visible text.
import { Budget } from './walk';
import { visibleText } from './text';

/** In UTF-16 units: even if each became an escape of six bytes, the answer stays below the hub's 64 MiB. */
const LONGEST = 10_000_000;

export interface Content { title: string; url: string; text: string; truncated?: true }

export function pageContent(): Content {
  const budget = new Budget(LONGEST);
  const root = document.body ?? document.documentElement;
  const text = root ? visibleText(root, budget) : '';
  return { title: document.title, url: location.href, text, ...(budget.cut ? { truncated: true as const } : {}) };
}
