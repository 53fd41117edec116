// Whether a page may answer to being left with a question of its own (beforeunload).
import type { Call } from '../call';
import { callPage } from './page';

/** How long the page is given to say; one that is stuck says nothing, and then asks nothing either. */
const ASK_MS = 200;

/** True if Chrome would let the page ask: it has been touched by a person or by trusted input. */
export async function mayAsk(call: Call, tabId: number): Promise<boolean> {
  const asked = callPage<boolean>(call, tabId, 'activated', null).catch(() => false);
  return Promise.race([asked, new Promise<false>((r) => setTimeout(r, ASK_MS, false))]);
}
