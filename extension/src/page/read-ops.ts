// The operations that read the page.
import { a11yTree } from './a11y/tree';
import type { PageOp } from './context';
import { pageMarkdown } from './markdown/markdown';
import { pageContent } from './read/content';
import { scrape } from './read/scrape';

export const readOps: Record<string, PageOp> = { a11yTree, pageContent, pageMarkdown, scrape };
