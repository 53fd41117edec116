// Child frames of sites that the user denies, in pages that they allow: no operation runs in one (document.ts leaves them out); what
// works on a whole tab, a picture or the browser's own input, must not reach them either.
import type { Call } from '../call';
import { focusOf } from '../debugger/typing';
import { BridgeError } from '../errors';
import type { InFrame } from '../page/act/click';
import { guarded, sites } from '../policy/policy';
import { admitNow } from './admission';
import { allFrames, type Frame } from './document';
import { childAt } from './element';
import { callPage } from './page';

type Place = { point: { x: number; y: number } } | 'focus';

/** Right before input goes to a tab: to a point of its view, or to where the focus is. */
export async function admitInput(call: Call, tabId: number, at?: Place): Promise<void> {
  if (!guarded(call)) return;
  await admitNow(call, tabId);
  const [denied] = at && sites.limited ? (await allFrames(tabId)).denied : [];
  if (!at || !denied) return;
  if (at === 'focus') {
    await focusOf(call, tabId);
    return;
  }
  let { x, y } = at.point;
  let parent: { frameId: number; documentId?: string } = { frameId: 0 };
  for (let depth = 0; depth < 20; depth++) {
    const inner: InFrame['inFrame'] | null = await callPage(call, tabId, 'point_frame', { x, y }, parent.documentId === undefined ? {} : { documentId: parent.documentId });
    if (!inner) return;
    const child = await childAt(call, tabId, parent.frameId, inner.index);
    if (!child) throw new BridgeError('PERMISSION_DENIED', `${refusalText(denied)}; ${inner.outline} at that point may show it`);
    ({ x, y } = inner);
    parent = child;
  }
}

const refusalText = ({ url }: Frame) => sites.refusal(url) ?? 'forbidden: domain unknown';

/** Right before a picture is taken of a tab: none shows what may not be read. */
export async function admitPicture(call: Call, tabId: number): Promise<void> {
  if (!guarded(call)) return;
  await admitNow(call, tabId);
  if (!sites.limited) return;
  const { open, denied } = await allFrames(tabId);
  for (const frame of denied) {
    const around = open.find((f) => f.frameId === frame.parentFrameId);
    // What is in a denied frame goes with it.
    if (around && (await isShown(call, tabId, around, frame))) throw new BridgeError('PERMISSION_DENIED', `${refusalText(frame)}; the page shows a frame of it, which a picture would show`);
  }
}

/** A frame that does not say where it is counts as shown. It is asked for its place among its siblings and for nothing else. */
async function isShown(call: Call, tabId: number, around: Frame, frame: Frame): Promise<boolean> {
  const [placed] = await chrome.scripting.executeScript({
    target: { tabId, documentIds: [frame.documentId] },
    injectImmediately: true,
    func: () => { for (let i = 0; i < parent.length; i++) if (parent[i] === self) return i; return -1; },
  }).catch(() => []);
  const index = placed?.result;
  return index === undefined || callPage<boolean>(call, tabId, 'frame_shown', { index, url: frame.url }, { documentId: around.documentId });
}
