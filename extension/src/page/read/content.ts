// get_page_content: title, address and visible text.
import type { PageContext } from '../context';
import { Budget } from './walk';
import { visibleText } from './text';

/** In UTF-16 units: even if each became an escape of six bytes, the answer stays below the hub's 64 MiB. */
const LONGEST = 10_000_000;

export interface Content { title: string; url: string; text: string; truncated?: true }

export async function pageContent(_args: unknown, ctx: PageContext): Promise<Content> {
  const budget = new Budget(LONGEST, ctx.deadline);
  const root = document.body ?? document.documentElement;
  const text = root ? await visibleText(root, budget) : '';
  return { title: document.title, url: location.href, text, ...(budget.cut ? { truncated: true as const } : {}) };
}
