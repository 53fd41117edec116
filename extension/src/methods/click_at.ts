// click_at: a click at a point of the view, in whichever frame lies there.
import type { Call, Handler } from '../call';
import { BridgeError } from '../errors';
import type { ClickAtParams, ClickAtResult } from '../generated/methods';
import type { Clicked, InFrame } from '../page/act/click';
import { watchEffects } from '../tabs/effects';
import { childAt } from '../tabs/element';
import { findDocument, type Doc } from '../tabs/document';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';
import { afterClick } from './click';

export const handler: Handler<ClickAtParams, ClickAtResult> = async ({ x, y, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const effects = watchEffects(call, id);
  try {
    const { clicked, doc } = await clickAt(call, id, x, y);
    return { ...(await afterClick(call, doc, clicked, effects, false)), x, y };
  } finally {
    effects.stop();
  }
};

async function clickAt(call: Call, tabId: number, x: number, y: number): Promise<{ clicked: Clicked & { frame?: string }; doc: Doc }> {
  let doc = await findDocument(call, tabId);
  for (let depth = 0; ; depth++) {
    const result = await callPage<Clicked | InFrame>(call, tabId, 'click_at', { x, y }, { documentId: doc.documentId });
    if (!('inFrame' in result)) return { clicked: depth ? { ...result, frame: doc.url } : result, doc };
    const { index, outline } = result.inFrame;
    const child = depth < 20 ? await childAt(call, tabId, doc.frameId, index) : undefined;
    if (!child) throw new BridgeError('ELEMENT_NOT_ACTIONABLE', `the point lies in ${outline}, whose page cannot be worked on`);
    ({ x, y } = result.inFrame);
    doc = { ...child, tabId };
  }
}
