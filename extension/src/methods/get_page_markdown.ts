// get_page_markdown: a page, its main content or one element of it as GitHub-flavoured Markdown.
import type { Handler } from '../call';
import type { GetPageMarkdownParams, GetPageMarkdownResult } from '../generated/methods';
import type { MarkdownArgs, PageMarkdown } from '../page/markdown/markdown';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';
import { handler as navigate } from './navigate';

export const handler: Handler<GetPageMarkdownParams, GetPageMarkdownResult> = async (params, call) => {
  const { tab_id, url, selector, full } = params;
  const id = url === undefined
    ? (await resolveTab(params, call)).id
    : ((await navigate({ tab_id, url }, call)) as { tab_id: number }).tab_id;
  const args: MarkdownArgs = { selector, full };
  return { tab_id: id, ...(await callPage<PageMarkdown>(call, id, 'pageMarkdown', args, { ready: 'parsed', follow: true })) };
};
