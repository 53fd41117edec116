// drag: something is picked up, carried and dropped; HTML5 drag and drop where the page starts one, else plain pointer events.
import type { Call, Handler } from '../call';
import { debugging, onDebuggerEvent, type Send } from '../debugger/attach';
import { checkPoint, move, press, release, untilDialog, type Point } from '../debugger/input';
import { expectReach, type Reach } from '../debugger/reached';
import { aimAt, takingTurns, told, verdict, viewOf, whereNow, type Aimed } from '../debugger/trusted';
import { BridgeError } from '../errors';
import type { DragParams, DragResult } from '../generated/methods';
import type { AimArgs } from '../page/act/aim';
import { showPoint } from '../overlay/worker';
import { admitInput } from '../tabs/denied-frames';
import { staleIfLeft } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';

type End = DragParams['from'];
const isPoint = (end: End): end is Point => 'x' in end;

const STEPS = 8;
/** How long the browser may take to tell that the page has started a drag. */
const STARTED_MS = 150;
const LEFT = { button: 'left', clickCount: 1, modifiers: 0 } as const;

export const handler: Handler<DragParams, DragResult> = async ({ from, to, timeout, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  return debugging(call, id, async (send) => {
    // The goal first: if it is not there, nothing is picked up.
    const goal = await find(call, id, to, timeout);
    const reach = expectReach();
    const start = await find(call, id, from, timeout, { press: true, token: reach.token });
    return takingTurns(call, id, async (waited) => {
      // The act that came first may have moved what is to be picked up.
      const at = waited && start.aimed ? await whereNow(call, start.aimed, true).catch((e: unknown) => { throw isPoint(from) ? e : staleIfLeft(call, { target: from }, e); }) : start.at;
      call.acted();
      let kind: DragResult['kind'] = 'pointer';
      const dialog = await untilDialog(id, async () => { kind = await carry(call, id, send, { ...start, at }, goal); });
      if (start.aimed && !dialog) await pickedUp(call, start.aimed, reach);
      return { element: start.aimed?.element, to: goal.aimed?.element, kind, tab_id: id, ...told(dialog) };
    }).finally(() => reach.stop());
  });
};

interface Place { at: Point; aimed?: Aimed }

/** Throws if what was pressed was not the element. */
async function pickedUp(call: Call, aimed: Aimed, reach: Reach): Promise<void> {
  const seen = await verdict(call, aimed, true);
  if (seen instanceof BridgeError ? await reach.reached('press') : seen.pressed) return;
  const why = seen instanceof BridgeError ? seen.message : seen.instead ? `${seen.instead} got in the way` : 'the page got none of it';
  throw new BridgeError('ELEMENT_NOT_ACTIONABLE', `the press did not arrive at the element, so it was not picked up: ${why}`, { maybe_executed: true });
}

async function find(call: Call, tabId: number, end: End, timeout: number | undefined, how: AimArgs = {}): Promise<Place> {
  if (isPoint(end)) {
    checkPoint(end, await viewOf(call, tabId));
    await admitInput(call, tabId, { point: end });
    showPoint(call, tabId, end);
    return { at: end };
  }
  const aimed = await aimAt(call, tabId, { target: end, timeout }, how);
  return { at: aimed.at, aimed };
}

async function carry(call: Call, tabId: number, send: Send, start: Place, goal: Place): Promise<DragResult['kind']> {
  let data: object | undefined;
  let heard = () => {};
  const stop = onDebuggerEvent(tabId, (method, params) => {
    if (method !== 'Input.dragIntercepted') return;
    data = params.data as object;
    heard();
  });
  const from = start.at;
  let at = from;
  let held = false;
  try {
    await send('Input.setInterceptDrags', { enabled: true });
    await move(send, from);
    if (start.aimed) {
      const under = await verdict(call, start.aimed, false);
      if (under instanceof BridgeError) throw under;
      if (under.over === false) throw new BridgeError('ELEMENT_NOT_ACTIONABLE', `it was not picked up, as it moved away under the pointer: ${under.instead ?? 'nothing'} is there`, { maybe_executed: true });
    }
    held = true;
    await press(send, from, LEFT);
    // A drag begins when the pointer has gone some pixels with the button held.
    for (const d of [3, 6, 9]) await move(send, at = { x: from.x + d, y: from.y + d }, 0, 'left');
    if (!data) await Promise.race([new Promise<void>((r) => { heard = r; }), new Promise((r) => setTimeout(r, STARTED_MS))]);
    // Picking it up may have moved what is around it.
    const to = goal.aimed ? await whereNow(call, goal.aimed) : goal.at;
    if (data) await drop(send, data, at, to);
    else for (let i = 1; i <= STEPS; i++) await move(send, between(at, to, i / STEPS), 0, 'left');
    if (!data) await move(send, to, 0, 'left');
    held = false;
    await release(send, to, LEFT);
    return data ? 'html5' : 'pointer';
  } catch (e) {
    // A button that stays pressed is the next act's trouble.
    if (held) await letGo(send, at, data);
    throw e;
  } finally {
    stop();
    void send('Input.setInterceptDrags', { enabled: false }).catch(() => {});
  }
}

async function letGo(send: Send, at: Point, data: object | undefined): Promise<void> {
  if (data) await send('Input.dispatchDragEvent', { type: 'dragCancel', x: at.x, y: at.y, data }).catch(() => {});
  await release(send, at, LEFT).catch(() => {});
}

async function drop(send: Send, data: object, from: Point, to: Point): Promise<void> {
  const event = (type: string, at: Point) => send('Input.dispatchDragEvent', { type, x: at.x, y: at.y, data });
  await event('dragEnter', from);
  for (let i = 1; i <= STEPS; i++) await event('dragOver', between(from, to, i / STEPS));
  await event('dragOver', to);
  await event('drop', to);
}

const between = (a: Point, b: Point, part: number): Point => ({ x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part });
