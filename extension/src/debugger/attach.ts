// The debugger of a tab: attached when a call needs it, shared by all that use it, and taken off again some time after the last use.
// Chrome lets an extension attach once a tab, tells the user so in a bar above every page, and lets them end it there.
//
//   away --use()--> attaching --> held (users > 0) <--> idle (users = 0) --20 s--> away
//                        \--refused--> away       \--navigated to a closed page, tab closed, Cancel--> away
import type { Call } from '../call';
import { BridgeError, PageLeft } from '../errors';
import { restriction } from '../tabs/restricted';
import { clearDialog, dialogOf, onDialogEvent, restoreDialogs } from './dialogs';
import { recall, remember } from './memory';

interface Attachment {
  users: number;
  ready: Promise<void>;
  idle?: ReturnType<typeof setTimeout>;
  /** Set when Chrome or the user took the debugger off. */
  ended?: string;
  /** When the page last took an input event. */
  tookAt?: number;
}
const attachments = new Map<number, Attachment>();

/** So long the debugger stays after its last use: the bar should not come and go with every call of a series. */
const IDLE_MS = 20_000;
/** After the user's Cancel the debugger stays away for so long, whatever is asked. */
const CANCELLED_MS = 5 * 60_000;
/** A page that answers nothing for so long after attaching is stuck, most likely in a dialog that opened before. */
const ENABLE_MS = 3000;
/** How long a page may leave an input event without an answer. */
const BLOCKED_MS = 5000;
/** The news that the debugger is off comes before the news why. */
const REASON_MS = 200;

export type Send = <T = unknown>(method: string, params?: object) => Promise<T>;

/** Runs `work` with the debugger attached to the tab. */
export async function withDebugger<T>(tabId: number, work: (send: Send) => Promise<T>): Promise<T> {
  await refuseIfCancelled();
  const attachment = hold(tabId);
  try {
    await attachment.ready;
    return await work(<R>(method: string, params?: object) => command<R>(tabId, attachment, method, params));
  } finally {
    release(tabId, attachment);
  }
}

/** As withDebugger, for as long as the call lasts: what hangs is given up when its time is over or it is cancelled. */
export function debugging<T>(call: Call, tabId: number, work: (send: Send) => Promise<T>): Promise<T> {
  let stop = () => {};
  const over = new Promise<never>((_, reject) => {
    const onAbort = () => {
      const late = call.deadline <= Date.now() + 50;
      reject(new BridgeError(late ? 'TIMEOUT' : 'CANCELLED', late ? `timeout: ${call.method} was not done in time` : 'cancelled'));
    };
    if (call.signal.aborted) return onAbort();
    call.signal.addEventListener('abort', onAbort, { once: true });
    stop = () => call.signal.removeEventListener('abort', onAbort);
    return undefined;
  });
  return Promise.race([withDebugger(tabId, work), over]).finally(stop);
}

/** Whether the debugger is on the tab now. */
export const isAttached = (tabId: number): boolean => attachments.has(tabId);

function hold(tabId: number): Attachment {
  let attachment = attachments.get(tabId);
  if (!attachment) {
    attachment = { users: 0, ready: Promise.resolve() };
    attachment.ready = attach(tabId, attachment);
    attachments.set(tabId, attachment);
    const mine = attachment;
    attachment.ready.then(() => remember({ tabs: [...attachments.keys()] }), () => { if (attachments.get(tabId) === mine) attachments.delete(tabId); });
  }
  attachment.users++;
  clearTimeout(attachment.idle);
  return attachment;
}

function release(tabId: number, attachment: Attachment): void {
  if (--attachment.users === 0 && attachments.get(tabId) === attachment) settle(tabId, attachment);
}

/** Takes the debugger off after a while. Not while a dialog is open: nobody else could close it by command. */
function settle(tabId: number, attachment: Attachment): void {
  clearTimeout(attachment.idle);
  attachment.idle = setTimeout(() => {
    if (attachment.users > 0 || attachments.get(tabId) !== attachment) return;
    if (dialogOf(tabId)) return settle(tabId, attachment);
    forget(tabId, 'it was idle');
    chrome.debugger.detach({ tabId }).catch(() => {});
  }, IDLE_MS);
}

async function attach(tabId: number, attachment: Attachment): Promise<void> {
  try {
    await chrome.debugger.attach({ tabId }, '1.3');
  } catch (e) {
    // An earlier worker of this extension left it on: it is ours, so work goes on with it.
    if (!/Another debugger is already attached/i.test(textOf(e))) throw refused(tabId, e);
  }
  await prepare(tabId, attachment).catch((e: unknown) => {
    chrome.debugger.detach({ tabId }).catch(() => {});
    throw e;
  });
}

/**
 * What every use counts on: dialogs are told of, and the page behaves as if it were in front, so that one in the background draws,
 * keeps its timers and takes the focus, while nothing on the screen changes.
 */
async function prepare(tabId: number, attachment: Attachment): Promise<void> {
  if (dialogOf(tabId)) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stuck = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BridgeError('PAGE_BLOCKED', `the page in tab ${tabId} does not react: it shows a dialog that opened before the debugger came, or a script in it runs on; close_tab closes it`)), ENABLE_MS);
  });
  const enable = Promise.all([
    command(tabId, attachment, 'Page.enable'),
    command(tabId, attachment, 'Emulation.setFocusEmulationEnabled', { enabled: true }),
  ]);
  enable.catch(() => {});
  try { await Promise.race([enable, stuck]); } finally { clearTimeout(timer); }
}

async function command<T>(tabId: number, attachment: Attachment, method: string, params: object = {}): Promise<T> {
  if (attachment.ended !== undefined) throw await gone(tabId, attachment.ended);
  try {
    const answer = chrome.debugger.sendCommand({ tabId }, method, params as Record<string, unknown>) as Promise<T>;
    return await (method.startsWith('Input.') ? taken(tabId, attachment, answer) : answer);
  } catch (e) {
    if (e instanceof BridgeError) throw e;
    const text = textOf(e);
    if (/not attached|Detached while|No tab with|target closed/i.test(text)) {
      // Why it was taken off is told a moment later.
      for (let i = 0; i < REASON_MS / 10 && attachment.ended === undefined; i++) await new Promise((r) => setTimeout(r, 10));
      throw await gone(tabId, attachment.ended ?? text);
    }
    // The tab has come to a page that no debugger may be on.
    if (/Cannot access|Cannot attach/i.test(text)) throw refused(tabId, e);
    throw new BridgeError('UNSUPPORTED', `${method}: ${refusalOf(e)}`);
  }
}

/** An input event is answered when the page is through with it. One that takes none any more has stopped at something. */
async function taken<T>(tabId: number, attachment: Attachment, answer: Promise<T>): Promise<T> {
  const from = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const blocked = new Promise<never>((_, reject) => {
    const look = () => {
      const silent = Date.now() - Math.max(from, attachment.tookAt ?? 0);
      if (silent < BLOCKED_MS || dialogOf(tabId)) timer = setTimeout(look, dialogOf(tabId) ? BLOCKED_MS : BLOCKED_MS - silent);
      else reject(new BridgeError('PAGE_BLOCKED', `The input was sent, then the page stopped reacting (tab ${tabId}): a script in it runs on, or it shows the print preview or a dialog of the browser; other tabs go on, and close_tab closes this one`));
    };
    timer = setTimeout(look, BLOCKED_MS);
  });
  try {
    const result = await Promise.race([answer, blocked]);
    attachment.tookAt = Date.now();
    return result;
  } finally {
    clearTimeout(timer);
    answer.catch(() => {});
  }
}

/** Chrome's refusals are JSON: {"code":-32000,"message":"…"}. */
export const refusalOf = (e: unknown): string => /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(textOf(e))?.[1] ?? textOf(e);

const textOf = (e: unknown) => (e instanceof Error ? e.message : String(e));

async function gone(tabId: number, why: string): Promise<BridgeError> {
  if (why === 'canceled_by_user') return cancelled(Date.now());
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  if (!tab) return new BridgeError('TAB_NOT_FOUND', `tab ${tabId} was closed while the command was under way`);
  // Chrome says the same of a page that it took out of memory and of one that no debugger may be on.
  if (/target_closed|target closed/i.test(why)) return new PageLeft(`the page in tab ${tabId} was left while the command was under way${restriction(tab.url ?? '') === undefined ? '' : ', for one where no debugger may be'}`);
  return new BridgeError('UNSUPPORTED', `the debugger was taken off tab ${tabId} while the command was under way: ${why}`);
}

function refused(tabId: number, thrown: unknown): BridgeError {
  const text = textOf(thrown);
  if (/No tab with/i.test(text)) return new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`);
  if (/Cannot access|Cannot attach/i.test(text)) return new BridgeError('RESTRICTED_PAGE', `tab ${tabId} cannot be worked on: ${text}`);
  return new BridgeError('UNSUPPORTED', `the debugger cannot be attached to tab ${tabId}: ${text}`);
}

/** Takes the debugger off at once where only the caller uses it: what comes from there is more than can be heard. */
export function leaveNow(tabId: number, why: string): void {
  const attachment = attachments.get(tabId);
  if (!attachment || attachment.users > 1 || dialogOf(tabId)) return;
  forget(tabId, why);
  chrome.debugger.detach({ tabId }).catch(() => {});
}

/** Takes the debugger off every tab at once, whatever is under way with it. */
export async function detachAll(why: string): Promise<void> {
  const tabs = [...attachments.keys()];
  for (const tabId of tabs) forget(tabId, why);
  await Promise.all(tabs.map((tabId) => chrome.debugger.detach({ tabId }).catch(() => {})));
}

// ---- The user's word ----

let cancelledAt: number | undefined;

async function refuseIfCancelled(): Promise<void> {
  cancelledAt ??= (await recall()).cancelledAt;
  if (cancelledAt !== undefined && Date.now() - cancelledAt < CANCELLED_MS) throw cancelled(cancelledAt);
}

function cancelled(at: number): BridgeError {
  const left = Math.ceil((at + CANCELLED_MS - Date.now()) / 60_000);
  return new BridgeError('DENIED_BY_USER', `the user pressed Cancel in Chrome's bar about debugging: the debugger stays away for ${left} more minute${left === 1 ? '' : 's'}. ` +
    'What needs no trusted input works on: click, set_value, press_key, snapshot and all that reads');
}

// ---- News from Chrome ----

/** `session` names a frame of another process or a worker. */
type Listener = (method: string, params: Record<string, unknown>, session?: string) => void;
const listeners = new Map<number, Set<Listener>>();

/** Hears the debugger's events of a tab until the given function is called. */
export function onDebuggerEvent(tabId: number, listener: Listener): () => void {
  const of = listeners.get(tabId) ?? new Set();
  listeners.set(tabId, of.add(listener));
  return () => {
    of.delete(listener);
    if (!of.size && listeners.get(tabId) === of) listeners.delete(tabId);
  };
}

function forget(tabId: number, why: string): void {
  const attachment = attachments.get(tabId);
  if (attachment) {
    attachment.ended = why;
    clearTimeout(attachment.idle);
    attachments.delete(tabId);
    void remember({ tabs: [...attachments.keys()] });
  }
  clearDialog(tabId);
  for (const listener of left) listener(tabId, why);
}

const left: ((tabId: number, why: string) => void)[] = [];

/** Hears when the debugger is off a tab, whoever took it off: Chrome tells only of what others did. */
export function onDebuggerLeft(listener: (tabId: number, why: string) => void): void {
  left.push(listener);
}

/** To be called at the top level of the worker. */
export function watchDebugger(): void {
  chrome.debugger?.onEvent.addListener(({ tabId, sessionId }: chrome.debugger.DebuggerSession, method, params) => {
    if (tabId === undefined) return;
    const told = (params ?? {}) as Record<string, unknown>;
    onDialogEvent(tabId, method, told);
    for (const listener of [...(listeners.get(tabId) ?? [])]) listener(method, told, sessionId);
  });
  chrome.debugger?.onDetach.addListener(({ tabId }, reason) => {
    if (String(reason) === 'canceled_by_user') {
      cancelledAt = Date.now();
      void remember({ cancelledAt });
    }
    if (tabId !== undefined) forget(tabId, String(reason));
  });
  void adopt();
}

/** What a worker before this one left attached is taken over, so that it comes off in time. */
async function adopt(): Promise<void> {
  const stored = await recall();
  cancelledAt = stored.cancelledAt;
  restoreDialogs(stored.dialogs);
  for (const tabId of stored.tabs) {
    if (attachments.has(tabId)) continue;
    const attachment: Attachment = { users: 0, ready: Promise.resolve() };
    attachments.set(tabId, attachment);
    attachment.ready = prepare(tabId, attachment);
    attachment.ready.then(() => { if (attachment.users === 0) settle(tabId, attachment); }, () => forget(tabId, 'its worker ended'));
  }
}
