// screenshot: a picture of the visible part of a page.
import type { Call, Handler } from '../call';
import type { ScreenshotParams, ScreenshotResult } from '../generated/methods';
import { capture } from '../tabs/capture';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ScreenshotParams, ScreenshotResult> = async (params, call) => {
  const { id, windowId } = await resolveTab(params, call);
  const format = params.format ?? 'png';
  if (params.foreground) await chrome.windows.update(windowId, { focused: true, drawAttention: false });
  const data = await capture(call, id, windowId, { format, quality: params.quality ?? 90 });
  const [tab, view] = await Promise.all([chrome.tabs.get(id), viewport(call, id)]);
  return {
    tab_id: id,
    url: tab.url ?? '',
    title: tab.title ?? '',
    mime: `image/${format}`,
    format,
    width: view?.width ?? null,
    height: view?.height ?? null,
    size: data.length - data.indexOf(',') - 1,
    data,
  };
};

/** The size of the view; null where no script may ask for it. */
async function viewport(call: Call, tabId: number): Promise<{ width: number; height: number } | undefined> {
  return Promise.race([
    callPage<{ width: number; height: number }>(call, tabId, 'viewport', null).catch(() => undefined),
    new Promise<undefined>((r) => setTimeout(r, 1000)),
  ]);
}
