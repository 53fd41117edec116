// Pictures by the debugger: of tabs behind others, in covered or minimised windows, of whole pages and of single elements.
import { remaining, type Call } from '../call';
import { BridgeError } from '../errors';
import { withoutOverlay } from '../overlay/worker';
import type { ElementInfo } from '../page/describe';
import type { Box } from '../page/act/box';
import { admitPicture } from '../tabs/denied-frames';
import type { Doc } from '../tabs/document';
import { onElement, staleIfLeft, type ElementParams } from '../tabs/element';
import { withCamera } from '../tabs/lock';
import { callPage } from '../tabs/page';
import { whileShown } from '../tabs/shown';
import { debugging, type Send } from './attach';
import { inTab } from '../tabs/around';

export interface Shot { format: 'png' | 'jpeg'; quality: number }
export interface Picture { data: string; width: number; height: number }

/** Longer than this in the screen's own pixels, and the browser draws it in pieces that do not fit together. */
const LONGEST = 16_384;
/** A page that is drawn anew for a large picture takes its time; one that is stuck never comes back. */
const CAPTURE_MS = 15_000;
/** How long one that was given up is waited for. */
const THROUGH_MS = 500;

interface Rect { x: number; y: number; width: number; height: number }

/** The browser counts in pixels of its own here, which the user's zoom makes more or fewer than the page's. */
const zoomed = ({ x, y, width, height }: Rect, zoom: number) => ({ x: x * zoom, y: y * zoom, width: width * zoom, height: height * zoom, scale: 1 });

/**
 * The visible part. A screencast wakes the page's compositor, also in a hidden or covered tab; without it the capture would never be
 * answered there.
 */
export function pictureOfView(call: Call, tabId: number, shot: Shot): Promise<string> {
  return debugging(call, tabId, (send) => capture(call, tabId, send, shot, {}));
}

/** All of the page, down to its end or to what can be drawn. */
export function pictureOfPage(call: Call, tabId: number, shot: Shot): Promise<Picture & { truncated?: true }> {
  return debugging(call, tabId, async (send) => {
    const [{ cssContentSize }, { dpr }, zoom] = await Promise.all([metricsOf(send), viewport(call, tabId), chrome.tabs.getZoom(tabId)]);
    const most = Math.floor(LONGEST / dpr);
    const width = Math.max(1, Math.min(Math.ceil(cssContentSize.width), most));
    const height = Math.max(1, Math.min(Math.ceil(cssContentSize.height), most));
    const data = await capture(call, tabId, send, shot, { captureBeyondViewport: true, clip: zoomed({ x: 0, y: 0, width, height }, zoom) });
    return { data, width, height, ...(cssContentSize.height > most || cssContentSize.width > most ? { truncated: true as const } : {}) };
  });
}

/** One element, scrolled into view; also where it is larger than the view. */
export function pictureOfElement(call: Call, tabId: number, params: ElementParams, shot: Shot): Promise<Picture & { element: ElementInfo; shadow?: true; frame?: string }> {
  return debugging(call, tabId, async (send) => {
    let doc: Doc | undefined;
    const { box, element, ...found } = await onElement<Box>(call, tabId, 'box', params, {}, (worked) => { doc = worked; });
    const [from, to] = [await inTab(call, doc!, { x: box.x, y: box.y }, true), await inTab(call, doc!, { x: box.x + box.width, y: box.y + box.height }, true)];
    const [{ cssVisualViewport: { pageX, pageY } }, { dpr }, zoom] = await Promise.all([metricsOf(send), viewport(call, tabId), chrome.tabs.getZoom(tabId)]);
    // To whole pixels of the screen: what lies between two is drawn into both.
    const whole = (n: number) => Math.round(n * dpr) / dpr;
    const [x, y] = [whole(from.point.x + pageX), whole(from.point.y + pageY)];
    const clip: Rect = { x, y, width: Math.max(1, whole(to.point.x + pageX) - x), height: Math.max(1, whole(to.point.y + pageY) - y) };
    const data = await capture(call, tabId, send, shot, { captureBeyondViewport: true, clip: zoomed(clip, zoom) });
    return { data, width: Math.round(clip.width), height: Math.round(clip.height), element, ...found };
  }).catch((e: unknown) => { throw staleIfLeft(call, params, e); });
}

const viewport = (call: Call, tabId: number) => callPage<{ width: number; height: number; dpr: number }>(call, tabId, 'viewport', null);

interface Metrics { cssContentSize: { width: number; height: number }; cssVisualViewport: { pageX: number; pageY: number } }
const metricsOf = (send: Send) => send<Metrics>('Page.getLayoutMetrics');

async function capture(call: Call, tabId: number, send: Send, { format, quality }: Shot, more: object): Promise<string> {
  const take = async () => {
    const wake = () => send('Page.startScreencast', { format: 'jpeg', quality: 1, maxWidth: 10, maxHeight: 10 });
    await wake().catch(async (e: unknown) => {
      // Left over from a picture that was given up, as its page was left.
      if (!(e instanceof BridgeError) || !/already active/i.test(e.message)) throw e;
      await send('Page.stopScreencast');
      await wake();
    });
    try {
      const { data } = await send<{ data: string }>('Page.captureScreenshot', { format, ...(format === 'jpeg' ? { quality } : {}), ...more });
      return `data:image/${format};base64,${data}`;
    } finally {
      void send('Page.stopScreencast').catch(() => {});
      if ('captureBeyondViewport' in more) await layOutAnew(call, tabId, send).catch(() => {});
    }
  };
  return withCamera(call, tabId, async () => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new BridgeError('PAGE_BLOCKED', 'no picture could be taken: the page shows a dialog or is busy')), remaining(call, CAPTURE_MS));
    });
    await admitPicture(call, tabId);
    const taken = withoutOverlay(tabId, take);
    try {
      return await Promise.race([whileShown(tabId, () => taken), late]);
    } catch (e) {
      // The next one's turn comes when this one is through, if that is soon.
      await Promise.race([taken.catch(() => {}), new Promise((r) => setTimeout(r, THROUGH_MS))]);
      throw e;
    } finally {
      clearTimeout(timer);
    }
  });
}

/** The browser takes the scroll bars away for a large picture, and without this the page would go on as if there were none. */
async function layOutAnew(call: Call, tabId: number, send: Send): Promise<void> {
  const [{ width, height }, zoom] = await Promise.all([viewport(call, tabId), chrome.tabs.getZoom(tabId)]);
  await send('Emulation.setDeviceMetricsOverride', { width: Math.round(width * zoom) - 1, height: Math.round(height * zoom), deviceScaleFactor: 0, mobile: false });
  await send('Emulation.clearDeviceMetricsOverride');
}
