// get_page_content: title, address and visible text of a page.
import type { Handler } from '../call';
import type { GetPageContentParams, GetPageContentResult } from '../generated/methods';
import type { Content } from '../page/read/content';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<GetPageContentParams, GetPageContentResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  return { ...(await callPage<Content>(call, id, 'pageContent', {}, { ready: 'parsed', follow: true })), tab_id: id };
};
