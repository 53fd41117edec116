// Trusted acts on elements: the page finds the element and says where it is, the browser's own input goes there, and the page says
// whether it arrived. The debugger comes first, since its bar changes the size of the view and with it where things are.
import { remaining, type Call } from '../call';
import { BridgeError } from '../errors';
import type { Aim, AimArgs, Verdict } from '../page/act/aim';
import type { ElementInfo } from '../page/describe';
import { inTab } from '../tabs/around';
import { admitInput } from '../tabs/denied-frames';
import type { Doc } from '../tabs/document';
import { onElement, staleIfLeft, type ElementParams } from '../tabs/element';
import { withTabLock } from '../tabs/lock';
import { callPage } from '../tabs/page';
import { debugging, type Send } from './attach';
import { stayingBehind } from './behind';
import { dialogOf, dialogOpen, messageOf, type Dialog } from './dialogs';
import { move, untilDialog, type Point } from './input';
import { expectReach } from './reached';

export interface Aimed {
  /** In the view of the tab. */
  at: Point;
  element: ElementInfo;
  /** Where it was found, for the result. */
  found: { shadow?: true; frame?: string };
  leads: boolean;
  /** The page asked for so many downloads. */
  downloads?: number;
  /** The form that the browser did not submit, and why. */
  heldBack?: string;
  /** It was pressed, but the click did not come to it, and why. */
  lost?: string;
  doc: Doc;
  aim: number;
}

const DEFAULT_TIMEOUT_MS = 5000;
/** A verdict comes from a page that reacts; one that does not within this time has been taken away or has a dialog open. */
const VERDICT_MS = 2000;

/** Runs `work` with the debugger on the tab, as the only act on it: for input that waits for no element. */
export function trusted<T>(call: Call, tabId: number, work: (send: Send) => Promise<T>): Promise<T> {
  return debugging(call, tabId, (send) => takingTurns(call, tabId, () => work(send)));
}

/** Runs `work` as the only act on the tab; `waited` tells it that another one came first. */
export function takingTurns<T>(call: Call, tabId: number, work: (waited: boolean) => Promise<T>): Promise<T> {
  return withTabLock(call, tabId, async (waited) => {
    await admitInput(call, tabId);
    return stayingBehind(tabId, () => work(waited));
  });
}

/** Finds the element, wherever in the tab it is, and waits until a person could act on it. */
export async function aimAt(call: Call, tabId: number, params: ElementParams, how: AimArgs): Promise<Aimed> {
  const until = Date.now() + Math.min(params.timeout ?? DEFAULT_TIMEOUT_MS, remaining(call));
  let covered: BridgeError | undefined;
  for (;;) {
    let doc: Doc | undefined;
    const timeout = Math.max(0, until - Date.now());
    const aim = await onElement<Aim>(call, tabId, 'aim', { ...params, timeout }, { ...how, aims: true }, (worked) => { doc = worked; }).catch((e: unknown) => {
      // The rest of the time may have been too short to find it once more.
      throw covered && e instanceof BridgeError && e.code === 'ELEMENT_NOT_FOUND' ? covered : e;
    });
    const place = await inTab(call, doc!, aim.point).catch((e: unknown) => { throw staleIfLeft(call, params, e); });
    if (place.unseen === undefined) {
      const { shadow, frame } = aim;
      return { at: place.point, element: aim.element, found: { ...(shadow ? { shadow } : {}), ...(frame === undefined ? {} : { frame }) }, leads: aim.leads === true, doc: doc!, aim: aim.aim };
    }
    await verdict(call, { doc: doc!, aim: aim.aim }, true);
    covered = new BridgeError('ELEMENT_NOT_ACTIONABLE', `the element was found, but ${place.unseen}`);
    if (Date.now() >= until) throw covered;
    await new Promise((r) => setTimeout(r, 100));
  }
}

/** Where the element of an aim is by now; `anew` after another act: it must be the one that is meant, and fit, as it had to be before. */
export async function whereNow(call: Call, { doc, aim }: Pick<Aimed, 'doc' | 'aim'>, anew = false): Promise<Point> {
  const point = await callPage<Point>(call, doc.tabId, 'aim_point', { aim, anew }, { documentId: doc.documentId });
  const place = await inTab(call, doc, point);
  if (anew && place.unseen !== undefined) throw new BridgeError('ELEMENT_NOT_ACTIONABLE', place.unseen);
  return place.point;
}

export interface Happened { dialog?: Dialog }

/** One act's turn on a tab. */
type Turn = <T>(work: (waited: boolean) => Promise<T>) => Promise<T>;

/**
 * Sends input to the element until the page says that it arrived there: what moved away meanwhile is aimed at again, and nothing else
 * is hit in its place. The element is waited for while other acts go on; the tab is this one's only for the input itself.
 */
export async function act(
  call: Call, tabId: number, params: ElementParams, how: AimArgs & { hover?: boolean }, modifiers: number, send: Send,
  input: (aimed: Aimed) => Promise<unknown>, turn: Turn = (work) => takingTurns(call, tabId, work),
): Promise<Aimed & Happened> {
  const until = Date.now() + Math.min(params.timeout ?? DEFAULT_TIMEOUT_MS, remaining(call));
  const reach = expectReach();
  const aimArgs: AimArgs = { press: how.press, presses: how.presses, stay: how.stay, token: reach.token };
  const acted = (found: Aimed) => turn(async (waited): Promise<(Aimed & Happened) | BridgeError> => {
    if (call.signal.aborted) throw new BridgeError('CANCELLED', 'cancelled');
    const aimed = waited ? await afterOthers(call, found) : found;
    if (aimed instanceof BridgeError) return aimed;
    call.acted();
    // What comes to life under the pointer may move the element away: then nothing is pressed.
    const onMove = await untilDialog(tabId, () => move(send, aimed.at, modifiers));
    if (onMove && how.hover) return { ...aimed, dialog: onMove };
    if (onMove) throw unpressed(dialogOpen(tabId, onMove));
    const under = how.hover ? {} : await verdict(call, aimed, false);
    // The page under the pointer may be another by now.
    if (under instanceof BridgeError) throw unpressed(under);
    if (under.over !== false) {
      const dialog = await untilDialog(tabId, () => input(aimed));
      if (dialog && !(await reach.reached('press'))) throw unpressed(dialogOpen(tabId, dialog));
      if (dialog) return { ...aimed, dialog };
    }
    const seen = await verdict(call, aimed, true);
    if (seen instanceof BridgeError) {
      if (await reach.reached(how.hover ? 'press' : 'click')) return { ...aimed, dialog: dialogOf(tabId) };
      throw new BridgeError(seen.code, `${seen.message}; ${how.hover ? 'the pointer' : 'the click'} has not reached the element by then`, { maybe_executed: true });
    }
    const arrived = how.hover ? seen.over : seen.pressed;
    if (arrived) return { ...aimed, leads: aimed.leads || seen.leads === true, downloads: seen.downloads, heldBack: seen.heldBack, lost: seen.lost };
    const why = seen.instead ? `${seen.instead} got in the way` : 'the page got none of it';
    return new BridgeError('ELEMENT_NOT_ACTIONABLE', `${how.hover ? 'the pointer' : 'the press'} did not arrive at the element: ${why}`, { maybe_executed: true });
  });
  try {
    for (;;) {
      const done = await acted(await aimAt(call, tabId, { ...params, timeout: Math.max(0, until - Date.now()) }, aimArgs));
      if (!(done instanceof BridgeError)) return done;
      if (Date.now() >= until) throw done;
      await new Promise((r) => setTimeout(r, 50));
    }
  } finally {
    reach.stop();
  }
}

/** The pointer was moved there, and that was all. */
const unpressed = ({ code, message }: BridgeError) => new BridgeError(code, `${message}; the press had not reached the element by then`, { maybe_executed: true });

/** The aim as it stands when the tab's other acts are through; why not, if they have taken the element away or changed it. */
async function afterOthers(call: Call, aimed: Aimed): Promise<Aimed | BridgeError> {
  try {
    return { ...aimed, at: await whereNow(call, aimed, true) };
  } catch (e) {
    await verdict(call, aimed, true);
    if (call.signal.aborted || !(e instanceof BridgeError) || e.code === 'STALE_REF' || e.code === 'DIALOG_OPEN') throw e;
    return e;
  }
}

/** What the page says has arrived; an error if it says nothing, as it has gone on to another, or a dialog holds it. */
export async function verdict(call: Call, { doc, aim }: Pick<Aimed, 'doc' | 'aim'>, end: boolean): Promise<Verdict | BridgeError> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await Promise.race([
      callPage<Verdict>(call, doc.tabId, 'aimed', { aim, end }, { documentId: doc.documentId }),
      new Promise<BridgeError>((r) => { timer = setTimeout(() => r(new BridgeError('PAGE_BLOCKED', `the page in tab ${doc.tabId} does not react`)), end ? Math.min(VERDICT_MS, remaining(call)) : remaining(call)); }),
    ]);
  } catch (e) {
    if (e instanceof BridgeError && ['NAVIGATION_FAILED', 'CANCELLED', 'TAB_NOT_FOUND', 'DIALOG_OPEN', 'RESTRICTED_PAGE'].includes(e.code) && !call.signal.aborted) return e;
    throw e;
  } finally {
    clearTimeout(timer);
  }
}

/** A dialog as a result tells it. */
export const told = (dialog: Dialog | undefined) => (dialog ? { dialog: { type: dialog.type, message: messageOf(dialog) } } : {});

/** For input that goes to no element: an open dialog would take it. */
export function refuseDialog(tabId: number, dialog: Dialog | undefined): void {
  if (dialog) throw dialogOpen(tabId, dialog);
}

/** The size of the tab's view, which points must lie in. */
export function viewOf(call: Call, tabId: number): Promise<{ width: number; height: number }> {
  return callPage(call, tabId, 'viewport', null);
}
