// get_page_markdown: the page, its main content or one element as GitHub-flavoured Markdown.
import type { PageContext } from '../context';
import { PageError } from '../error';
import { Budget } from '../read/walk';
import { mainContent } from './main';
import type { Block } from './model';
import { readBlocks } from './read';
import { renderMarkdown } from './render';
import { native } from '../native';

export interface MarkdownArgs { selector?: string; full?: boolean }
export interface PageMarkdown { title: string; url: string; markdown: string; truncated?: true }

/** In UTF-16 units; see content.ts. */
const LONGEST = 10_000_000;
/** Main content that comes to less than this was none. */
const TOO_LITTLE = 150;

export async function pageMarkdown({ selector, full = false }: MarkdownArgs, ctx: PageContext): Promise<PageMarkdown> {
  const budget = new Budget(LONGEST, ctx.deadline);
  const body = document.body ?? document.documentElement;
  let markdown: string;
  if (selector !== undefined) {
    markdown = write(await readBlocks(choose(selector), budget), budget);
  } else {
    const main = full ? null : await mainContent(budget);
    markdown = main
      ? write([...(main.title ? await readBlocks(main.title, budget) : []), ...await readBlocks(main.root, budget, { omit: main.omit })], budget)
      : '';
    if (markdown.length < TOO_LITTLE && !budget.cut) markdown = write(await readBlocks(body, budget), budget);
  }
  return { title: document.title, url: location.href, markdown, ...(budget.cut ? { truncated: true as const } : {}) };
}

function write(blocks: Block[], budget: Budget): string {
  const { markdown, cut } = renderMarkdown(blocks, LONGEST);
  if (cut) budget.cut = true;
  return markdown;
}

/** The first element that matches and can be seen, else the first that matches. */
function choose(selector: string): Element {
  let found: Element[];
  try {
    found = Array.from(document.querySelectorAll(selector));
  } catch {
    throw new PageError('INVALID_PARAMS', `invalid params: selector is not a valid CSS selector: ${selector.slice(0, 200)}`);
  }
  const el = found.find((candidate) => native(candidate).checkVisibility({ visibilityProperty: true })) ?? found[0];
  if (!el) throw new PageError('ELEMENT_NOT_FOUND', `no element matches ${selector.slice(0, 200)}`);
  return el;
}
