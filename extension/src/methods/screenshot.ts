// screenshot: a picture of the visible part of a page, of all of it, or of one element.
import type { Call, Handler } from '../call';
import type { ScreenshotParams, ScreenshotResult } from '../generated/methods';
import { pictureOfElement, pictureOfPage, type Shot } from '../debugger/picture';
import { BridgeError } from '../errors';
import { capture } from '../tabs/capture';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';
import { whateverIsShown } from '../tabs/shown';

export const handler: Handler<ScreenshotParams, ScreenshotResult> = async (params, call) => {
  const { id, windowId } = await resolveTab(params, call);
  const format = params.format ?? 'png';
  if (params.foreground) await chrome.windows.update(windowId, { focused: true, drawAttention: false });
  const shot: Shot = { format, quality: params.quality ?? 90 };
  if (params.full_page && params.target) throw new BridgeError('INVALID_PARAMS', 'invalid params: full_page and target exclude each other');
  const { data, width, height, ...more } = params.target ? await pictureOfElement(call, id, { target: params.target, timeout: params.timeout }, shot)
    : await whateverIsShown<Taken>(id, () => (params.full_page ? pictureOfPage(call, id, shot) : pictureHere(call, id, windowId, shot)));
  const tab = await chrome.tabs.get(id);
  return {
    tab_id: id,
    url: tab.url ?? '',
    title: tab.title ?? '',
    mime: `image/${format}`,
    format,
    width,
    height,
    size: data.length - data.indexOf(',') - 1,
    ...more,
    data,
  };
};

interface Taken { data: string; width: number | null; height: number | null; truncated?: true }

async function pictureHere(call: Call, tabId: number, windowId: number, shot: Shot): Promise<Taken> {
  const data = await capture(call, tabId, windowId, shot);
  const view = await viewport(call, tabId);
  return { data, width: view?.width ?? null, height: view?.height ?? null };
}

/** The size of the view; null where no script may ask for it. */
async function viewport(call: Call, tabId: number): Promise<{ width: number; height: number } | undefined> {
  return Promise.race([
    callPage<{ width: number; height: number }>(call, tabId, 'viewport', null).catch(() => undefined),
    new Promise<undefined>((r) => setTimeout(r, 1000)),
  ]);
}
