// scrape: a list of records by CSS selectors; runs no code of the caller's in the page.
import { remaining, type Handler } from '../call';
import type { ScrapeParams, ScrapeResult } from '../generated/methods';
import type { ScrapeArgs, Scraped } from '../page/read/scrape';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

/** Kept of the deadline for reading what has appeared and for the way back. */
const REPORT_MS = 500;

export const handler: Handler<ScrapeParams, ScrapeResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  const { item, fields, title, link, desc, timeout = 5000 } = params;
  const until = Date.now() + Math.min(timeout, Math.max(0, remaining(call) - REPORT_MS));
  const args: ScrapeArgs = { item, fields, title, link, desc, until };
  return { ...(await callPage<Scraped>(call, id, 'scrape', args, { ready: 'parsed', follow: true })), tab_id: id };
};
