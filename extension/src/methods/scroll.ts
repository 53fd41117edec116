// scroll: the window, or the container that the target means; by script, or with the browser's own wheel.
import { remaining, type Call, type Handler } from '../call';
import { debugging, type Send } from '../debugger/attach';
import { move, untilDialog, wheel, type Point } from '../debugger/input';
import { aimAt, takingTurns, told, viewOf } from '../debugger/trusted';
import type { ScrollParams, ScrollResult } from '../generated/methods';
import type { Scrolled } from '../page/act/scroll';
import { admitInput } from '../tabs/denied-frames';
import { onElement } from '../tabs/element';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ScrollParams, ScrollResult> = async ({ dx = 0, dy = 0, smooth = false, target, timeout, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  if (params.trusted) return byWheel(call, id, { dx, dy, target, timeout });
  return { ...(await byScript(call, id, { dx, dy, smooth, target, timeout })), tab_id: id };
};

type By = Pick<ScrollParams, 'target' | 'timeout'> & { dx: number; dy: number };

function byScript(call: Call, tabId: number, { target, timeout, ...by }: By & { smooth: boolean }): Promise<Scrolled> {
  return target ? onElement<Scrolled>(call, tabId, 'scroll', { target, timeout }, by) : callPage<Scrolled>(call, tabId, 'scroll_window', by);
}

/** A wheel's scrolling runs on after the event; it has come to an end when two looks see the same. */
const REST_MS = 60;
const RUN_MS = 1500;
/** What another act has moved comes to rest within this time, or it is an error. */
const MOVED_MS = 500;

async function byWheel(call: Call, tabId: number, { dx, dy, target, timeout }: By): Promise<ScrollResult> {
  const look = () => byScript(call, tabId, { dx: 0, dy: 0, smooth: false, target, timeout: 0 });
  const turn = async (send: Send, found: Point, waited: boolean): Promise<ScrollResult> => {
    const at = waited ? await placeOf(call, tabId, target, MOVED_MS) : found;
    const before = await look();
    call.acted();
    const dialog = await untilDialog(tabId, async () => {
      await move(send, at);
      // A wheel turns by the browser's own pixels, which the user's zoom makes more or fewer than the page's.
      const zoom = await chrome.tabs.getZoom(tabId);
      await wheel(send, at, dx * zoom, dy * zoom);
    });
    let now = before;
    if (!dialog) {
      for (const end = Date.now() + Math.min(RUN_MS, remaining(call)); Date.now() < end;) {
        await new Promise((r) => setTimeout(r, REST_MS));
        const seen = await look();
        const rests = seen.position.x === now.position.x && seen.position.y === now.position.y;
        now = seen;
        if (rests) break;
      }
    }
    const gone = (axis: 'x' | 'y') => Math.round((now.position[axis] - before.position[axis]) * 100) / 100;
    return { ...now, scrolled: { dx, dy }, moved: { dx: gone('x'), dy: gone('y') }, tab_id: tabId, ...told(dialog) };
  };
  return debugging(call, tabId, async (send) => {
    const found = await placeOf(call, tabId, target, timeout);
    return takingTurns(call, tabId, (waited) => turn(send, found, waited));
  });
}

async function placeOf(call: Call, tabId: number, target: ScrollParams['target'], timeout: number | undefined): Promise<Point> {
  if (target) return (await aimAt(call, tabId, { target, timeout }, {})).at;
  const { width, height } = await viewOf(call, tabId);
  const middle = { x: width / 2, y: height / 2 };
  await admitInput(call, tabId, { point: middle });
  return middle;
}
