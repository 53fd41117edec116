// Watches over work in a page. Chrome answers an injected function only when it ends, and never if the page has been put away or
// is stuck in a dialog or an endless loop; here every such wait comes to an end, with the reason.
import { remaining, type Call } from '../call';
import { dialogOf, dialogOpen, onDialog } from '../debugger/dialogs';
import { watchForDialogs } from '../debugger/watchful';
import { BridgeError, PageLeft, toBridgeError, type ErrorExtra } from '../errors';
import { FRESH_MS } from '../page/context';
import { findDocument, liveTab, type Doc } from './document';

/** How long a page may show no sign of life before a call on it is answered with PAGE_BLOCKED. */
export const BLOCKED_MS = 5000;
const FIRST_BEAT_MS = 250;
const BEAT_MS = 1000;
/** A page that was blocked may have come back to life a moment ago; its answer to the old question is then on its way. */
const RECOVERY_MS = 300;
/** A page that owes a sign of life for so long when a call's time is up is why there is no answer; a part of the time of a shorter call. */
const SILENT_MS = 150;
const SILENT_PART = 1 / 8;
const SILENT_LEAST_MS = 50;
/** The last part of a call, in which a page is asked again as soon as it has answered. */
const CLOSE_MS = 500;
const CLOSE_PART = 1 / 2;
const CLOSE_BEAT_MS = 15;
/** When the time is up the answer may be on its way; so long it may still take. The hub waits a little longer than the call (router.ts). */
const LAST_MS = 80;
const LAST_LEAST_MS = 40;
/** How long a page in which something did not come is asked whether it reacts. */
const ASKED_MS = 250;
/** What is left of a call's time for an answer that is known. */
const ANSWER_MS = 50;
const lastMs = (time: number) => Math.min(LAST_MS, Math.max(time / 8, Math.min(LAST_LEAST_MS, time / 2)));
const pause = (ms: number) => new Promise<undefined>((r) => setTimeout(r, ms));
/**
 * An `acted` report and the news that the page is gone travel on different roads; the report gets this long to arrive. A page acts without
 * asking for FRESH_MS after something was sent to it, also one that is being left.
 */
const REPORT_GRACE_MS = FRESH_MS + 80;

interface Run {
  id: string;
  call: Call;
  doc: Doc;
  report?: { value: unknown };
  /** An act was sent to the page, whose word that it is done goes lost if the tab is closed in that moment. */
  unsure?: true;
  /** The call is being answered: nothing may be done for it any more. */
  over?: true;
  fail(error: BridgeError): void;
}

/** The document had gone before the operation began: trying in its successor repeats nothing. */
export class NotStarted extends PageLeft {}

const runs = new Map<string, Run>();
let counter = 0;
// A worker that starts anew must not reuse the names of runs that its predecessor left in pages.
const generation = Date.now().toString(36);

/**
 * Runs `start` (which injects something into the document) until it is done, the page is left, blocked or closed, or the call is
 * over. If the work had reported its act and the page went away, the report is the result. What `start` does in several steps it asks before
 * each, by `goOn`, whether it still may, and says there if it sends an act.
 */
export async function guard<T>(call: Call, doc: Doc, start: (run: string, goOn: (acts?: boolean) => void) => Promise<T>): Promise<T> {
  if (call.signal.aborted) throw overdue(call);
  const shown = dialogOf(doc.tabId);
  if (shown) throw dialogOpen(doc.tabId, shown);
  const id = `${generation}.${++counter}`;
  let fail!: (error: BridgeError) => void;
  const failed = new Promise<never>((_, reject) => { fail = reject; });
  failed.catch(() => {});
  const run: Run = { id, call, doc, fail: (error) => { run.over = true; fail(error); } };
  const time = remaining(call);
  const onAbort = () => {
    cancelInPage(run);
    const probe = unanswered.get(doc.documentId);
    const error = overdue(call);
    const last = lastMs(time);
    const silent = Math.max(SILENT_LEAST_MS, Math.min(SILENT_MS, time * SILENT_PART));
    // Timers may fire a little early, or late.
    if (error.code !== 'TIMEOUT' || !probe || Date.now() + last - probe.sentAt < silent * 0.9) return run.fail(error);
    void Promise.race([probe.answered, pause(last)]).then((alive) => run.fail(alive ? error : blocked(run)));
  };
  call.signal.addEventListener('abort', onAbort, { once: true });
  runs.set(id, run);
  const stopDialogs = onDialog(doc.tabId, (dialog) => {
    cancelInPage(run);
    heldUp.set(doc.tabId, Date.now());
    run.fail(dialogOpen(doc.tabId, dialog));
  });
  let stopBeating: (() => void) | undefined;
  try {
    const probe = unanswered.get(doc.documentId);
    const stuck = probe && Date.now() - probe.sentAt >= BLOCKED_MS;
    if (stuck && !(await Promise.race([probe.answered, failed, pause(RECOVERY_MS)]))) throw blocked(run);
    stopBeating = beat(run, time);
    return await Promise.race([start(id, (acts) => {
      if (run.over) throw new BridgeError('CANCELLED', 'cancelled');
      if (acts) run.unsure = true;
    }), failed]);
  } catch (e) {
    const error = e instanceof BridgeError ? e : fromChrome(e, run);
    run.over = true;
    const gone = error instanceof PageLeft || error.code === 'TAB_NOT_FOUND';
    if ((gone || error.code === 'DIALOG_OPEN') && !run.report) await pause(REPORT_GRACE_MS);
    if (gone && run.report) return run.report.value as T;
    if (run.report && !error.extra.maybe_executed) error.extra.maybe_executed = true;
    // The frames of a tab that is closed go before the news of it comes.
    const told = error instanceof PageLeft ? await liveTab(doc.tabId).then(() => error, toBridgeError) : error;
    // Nor does it come from a page whose process ended: of what was sent there Chrome only says that it cannot be reached.
    const unreached = told.code === 'TAB_NOT_FOUND' || (!(e instanceof BridgeError) && !(told instanceof PageLeft));
    if (run.unsure && unreached && !(error instanceof NotStarted)) told.extra.maybe_executed = true;
    throw told;
  } finally {
    stopBeating?.();
    stopDialogs();
    runs.delete(id);
    call.signal.removeEventListener('abort', onAbort);
  }
}

function overdue(call: Call): BridgeError {
  // Timers may fire a little early.
  return call.deadline <= Date.now() + 50
    ? new BridgeError('TIMEOUT', `timeout: ${call.method} was not done in time`)
    : new BridgeError('CANCELLED', 'cancelled');
}

function blocked(run: Run): BridgeError {
  // An act that the page never came back from has most likely opened a dialog: the next one on this tab is to be seen.
  if (run.report) watchForDialogs(run.doc.tabId);
  const after = run.report ? 'The act was done, then the page stopped reacting' : 'The page does not react';
  return new BridgeError('PAGE_BLOCKED', notReacting(after, run.doc.tabId));
}

const notReacting = (what: string, tabId: number) => `${what} (tab ${tabId}): it shows a dialog, or a script in it runs on; other tabs go on, and close_tab closes this one`;

/** Chrome's own rejections, told apart by their texts; there are no codes. */
function fromChrome(thrown: unknown, { doc }: Run): BridgeError {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (/No tab with id|tab was closed|No tab with/i.test(text)) return new BridgeError('TAB_NOT_FOUND', `tab ${doc.tabId} was closed`);
  if (/No document with id|No frame with id|was removed|was discarded|frame .*(gone|not found)|navigated|no longer/i.test(text)) return left(doc);
  if (/Cannot access|must request permission|cannot be scripted|showing error page|gallery|policy/i.test(text)) {
    return new BridgeError('RESTRICTED_PAGE', `tab ${doc.tabId} cannot be worked on: ${text}`);
  }
  return new BridgeError('INTERNAL_ERROR', text);
}

const left = (doc: Doc, extra: ErrorExtra = {}) => new PageLeft(`the page in tab ${doc.tabId} was left while the command was under way`, extra);

/** For starts that get an empty answer: what Chrome gives for a function whose document is gone. */
export const documentGone = left;

// ---- Signs of life ----

interface Probe {
  sentAt: number;
  /** Resolves with true when the page has answered. */
  answered: Promise<true>;
}
/** Probes that have not been answered, by document: a later call on a stuck page need not wait 5 s again. */
const unanswered = new Map<string, Probe>();

/**
 * Asks the page for signs of life until stopped, and fails the run when they stay out. The first question comes early in a short call,
 * and in its last part one follows the other: whether the page or what it waits for is late is to be known when the time is up.
 */
function beat(run: Run, time: number): () => void {
  const { doc } = run;
  let stopped = false;
  let timer: ReturnType<typeof setTimeout>;
  const tick = () => {
    if (stopped) return;
    const probe = unanswered.get(doc.documentId);
    if (!probe) sendProbe(doc);
    else if (Date.now() - probe.sentAt >= BLOCKED_MS) {
      cancelInPage(run);
      return run.fail(blocked(run));
    }
    const age = probe ? Date.now() - probe.sentAt : 0;
    timer = setTimeout(tick, Math.min(BEAT_MS, BLOCKED_MS - age));
  };
  timer = setTimeout(tick, unanswered.has(doc.documentId) ? 0 : Math.min(FIRST_BEAT_MS, time / 8));
  const closely = () => {
    if (stopped) return;
    const { answered } = unanswered.get(doc.documentId) ?? sendProbe(doc);
    void answered.then(() => { if (!stopped) last = setTimeout(closely, CLOSE_BEAT_MS); });
  };
  let last = setTimeout(closely, Math.max(0, remaining(run.call) - Math.min(CLOSE_MS, time * CLOSE_PART)));
  return () => {
    stopped = true;
    clearTimeout(timer);
    clearTimeout(last);
  };
}

function sendProbe(doc: Doc): Probe {
  const sentAt = Date.now();
  const sent = chrome.scripting.executeScript({
    target: { tabId: doc.tabId, documentIds: [doc.documentId] },
    injectImmediately: true,
    // The time of sending, not of arrival: what was stuck in the queue while the page was blocked is no proof of life.
    func: (sentAt: number) => { (globalThis as { __bridged?: { beat(t: number): void } }).__bridged?.beat(sentAt); },
    args: [sentAt],
  });
  const answered = sent.then(() => {}, () => {}).then((): true => {
    if (unanswered.get(doc.documentId) === probe) unanswered.delete(doc.documentId);
    return true;
  });
  const probe: Probe = { sentAt, answered };
  unanswered.set(doc.documentId, probe);
  return probe;
}

/** The error of a wait in a page whose time is over; that the page does not react, if that is why. */
export async function ended(call: Call, tabId: number, thrown: unknown): Promise<unknown> {
  const ms = Math.min(ASKED_MS, remaining(call) - ANSWER_MS);
  if (!(thrown instanceof BridgeError) || thrown.code !== 'TIMEOUT' || call.signal.aborted || ms < SILENT_LEAST_MS) return thrown;
  const doc = await findDocument(call, tabId).catch(() => undefined);
  if (!doc || dialogOf(tabId)) return thrown;
  const { answered } = unanswered.get(doc.documentId) ?? sendProbe(doc);
  return (await Promise.race([answered, pause(ms)])) ? thrown : new BridgeError('PAGE_BLOCKED', `${thrown.message}; ${notReacting('the page does not react', tabId)}`);
}

/** Tabs in which calls were answered because of a dialog, and when that was. */
const heldUp = new Map<number, number>();

/**
 * Resolves when the page may go on after a dialog: what was on its way to it when its callers were answered is old enough by then for the page
 * to ask whether it is still wanted, instead of doing it on the quiet.
 */
export async function mayGoOn(tabId: number): Promise<void> {
  const left = (heldUp.get(tabId) ?? 0) + FRESH_MS + CLOCK_MS - Date.now();
  heldUp.delete(tabId);
  if (left > 0) await pause(left);
}
const CLOCK_MS = 20;

function cancelInPage({ id, doc }: Run): void {
  chrome.scripting.executeScript({
    target: { tabId: doc.tabId, documentIds: [doc.documentId] },
    injectImmediately: true,
    func: (run: string) => { (globalThis as { __bridged?: { cancel(run: string): void } }).__bridged?.cancel(run); },
    args: [id],
  }).catch(() => {});
}

// ---- News from the browser ----

/** Registers the listeners; must run at the top level of the worker, so that they exist when an event wakes it. */
export function watchPages(): void {
  chrome.webNavigation.onCommitted.addListener((details) => {
    for (const run of runs.values()) {
      const { doc } = run;
      if (doc.tabId !== details.tabId || details.documentLifecycle !== 'active') continue;
      const own = details.frameId === doc.frameId && details.documentId !== doc.documentId;
      if (own || (details.frameId === 0 && doc.frameId !== 0)) {
        unanswered.delete(doc.documentId);
        run.fail(left(doc));
      }
    }
  });
  chrome.tabs.onRemoved.addListener((tabId) => {
    heldUp.delete(tabId);
    for (const run of runs.values()) {
      if (run.doc.tabId !== tabId) continue;
      unanswered.delete(run.doc.documentId);
      run.fail(new BridgeError('TAB_NOT_FOUND', `tab ${tabId} was closed while the command was under way`));
    }
  });
  chrome.runtime.onMessage.addListener((message: unknown, sender, answer: (at: number | false) => void) => {
    const m = message as { type?: unknown; run?: unknown; report?: unknown } | null;
    if ((m?.type !== 'acted' && m?.type !== 'wanted') || typeof m.run !== 'string' || sender.id !== chrome.runtime.id) return;
    const run = runs.get(m.run);
    if (m.type === 'wanted') return answer(run && !run.over ? Date.now() : false);
    // Of a tab that is closed Chrome tells no more than which document it was.
    if (!run || run.doc.documentId !== sender.documentId) return;
    run.report = { value: m.report };
    run.call.acted();
  });
}

/** Milliseconds since the epoch by which injected work must have started; what starts later finds its caller gone. */
export const startBy = (call: Call) => Date.now() + Math.min(BLOCKED_MS, remaining(call));
