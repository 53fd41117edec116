// Says how far a tab's navigation has come, by Chrome's events. It is bounded: every way that a navigation can take (redirects, fragments,
// downloads, 204, refused, hanging) has an end here.
import { remaining, type Call } from '../call';
import { BridgeError } from '../errors';
import { report, type Arrival } from './arrival';
import { watchDownloads } from './downloads';
import { admitDownload, shown, stateOf, stayedWhere, StillWaiting } from './led-nowhere';

export type WaitUntil = 'none' | 'domcontentloaded' | 'load' | 'network_idle';

/** A page that is parsed but not loaded (a picture that never comes) is given this long before it is called arrived. */
const AFTER_PARSED_MS = 10_000;
/** An aborted navigation is over for good when no other has begun within this time. */
const ABORT_GRACE_MS = 250;
/** How long after a tab is gone the word may come that it was a download's. */
const GONE_MS = 300;
/** So long a navigation may take to begin: longer means that the page asks whether it may be left. */
const BEGIN_MS = 5000;
/** A page whose HTML does not end is given this long after its beginning. */
const AFTER_COMMIT_MS = 20_000;
/** A page that keeps sending on to the next is followed this many times. */
const MAX_HOPS = 20;
/** Who waits for nothing is still told of an address that fails at once. */
const NOT_WAITING_MS = 1000;
/** What is kept of the deadline for the last look at the page. */
export const REPORT_MS = 300;

type Outcome =
  | { kind: 'loaded' }
  | { kind: 'parsed' }
  | { kind: 'same-document' }
  | { kind: 'failed'; error: string }
  | { kind: 'stayed' }
  | { kind: 'closed' }
  | { kind: 'under-way' }
  | { kind: 'time-up' };

export interface NavigationWatch {
  /** The address that is about to be asked for, where its events are heard only later. */
  expect(url: string): void;
  /** Names the tab, if it was not known when the watch was set up. */
  bind(tabId: number): void;
  /** Waits for the navigation to get as far as asked and looks where the tab is. */
  arrival(until: WaitUntil, wanted?: string): Promise<Arrival>;
  /** Whether a navigation has begun (or the address changed) since the watch was set up. */
  begun(): boolean;
  /** Whether a navigation begins (or has begun since the watch was set up) within the time. */
  begins(ms: number): Promise<boolean>;
  stop(): void;
}

/**
 * Listens to a tab's navigations. Must be set up before the navigation is started, or its first events are missed; `leaving` is the
 * document that the tab shows then, of which late events may still come.
 */
export function watchNavigation(call: Call, knownTab?: number, leaving?: string): NavigationWatch {
  let tabId = knownTab ?? -1;
  /** Events of all tabs until it is known which one is meant. */
  let early: (() => void)[] | undefined = knownTab === undefined ? [] : undefined;
  /** Counts navigations, so that one that begins during the last look at a page is noticed. */
  let hops = 0;
  let begun = false;
  let committed = false;
  let parsed = false;
  let loaded = false;
  let sameDocument = false;
  let failure: string | undefined;
  let aborted = false;
  let closed = false;
  const downloads = watchDownloads(knownTab ?? -1, () => {});
  /** A page of this navigation was loaded, whatever it did next. */
  let arrived = false;
  const listeners = new Set<() => void>();
  const changed = () => { for (const listener of listeners) listener(); };
  const bind = (id: number) => {
    tabId = id;
    const events = early ?? [];
    early = undefined;
    for (const event of events) event();
  };
  const soon = <D>(handler: (details: D) => void) => (details: D) => { if (early) early.push(() => handler(details)); else handler(details); };
  const mine = (d: { tabId: number; frameId: number; documentId?: string; documentLifecycle?: string }) =>
    d.tabId === tabId && d.frameId === 0 && (d.documentId === undefined || d.documentId !== leaving) && (d.documentLifecycle === undefined || d.documentLifecycle === 'active');

  const onBefore = soon((d: Details) => {
    if (!mine(d)) return;
    downloads.went(d.url);
    // A redirect by script or a second navigation: what was before no longer counts.
    begun = true;
    hops++;
    committed = parsed = loaded = sameDocument = aborted = false;
    failure = undefined;
    changed();
  });
  const onCommitted = soon((d: Details) => {
    if (!mine(d)) return;
    begun = committed = true;
    parsed = loaded = aborted = false;
    failure = undefined;
    changed();
  });
  const onParsed = soon((d: Details) => { if (mine(d) && (committed || !begun)) { parsed = true; changed(); } });
  const onCompleted = soon((d: Details) => { if (mine(d) && committed) { arrived = parsed = loaded = true; changed(); } });
  const onSame = soon((d: Details) => {
    if (d.tabId !== tabId || d.frameId !== 0) return;
    // A page that rewrites its address while it loads is still loading.
    if (!begun) { begun = sameDocument = true; changed(); }
  });
  const onError = soon((d: Details & { error: string }) => {
    if (!mine(d)) return;
    begun = true;
    if (/ERR_ABORTED/.test(d.error)) aborted = true; else failure = d.error;
    changed();
  });
  const onRemoved = soon((id: number) => { if (id === tabId) { closed = true; changed(); } });

  const nav = chrome.webNavigation;
  const deaf = [
    listen(nav.onBeforeNavigate, onBefore),
    listen(nav.onCommitted, onCommitted),
    listen(nav.onDOMContentLoaded, onParsed),
    listen(nav.onCompleted, onCompleted),
    listen(nav.onReferenceFragmentUpdated, onSame),
    listen(nav.onHistoryStateUpdated, onSame),
    listen(nav.onErrorOccurred, onError),
    listen(chrome.tabs.onRemoved, onRemoved),
  ];
  const stop = () => {
    for (const off of deaf) off();
    downloads.stop();
  };

  function judge(until: WaitUntil): Outcome | undefined {
    if (closed) return { kind: 'closed' };
    if (failure !== undefined) return { kind: 'failed', error: failure };
    if (sameDocument) return { kind: 'same-document' };
    if (loaded) return { kind: 'loaded' };
    if (parsed && committed && until === 'domcontentloaded') return { kind: 'parsed' };
    if (committed && until === 'none') return { kind: 'parsed' };
    return undefined;
  }

  function settle(until: WaitUntil): Promise<Outcome> {
    return new Promise((resolve) => {
      const timers = new Map<string, ReturnType<typeof setTimeout>>();
      const arm = (name: string, on: boolean, ms: number, then: () => void) => {
        if (on && !timers.has(name)) timers.set(name, setTimeout(() => { timers.delete(name); then(); }, ms));
        else if (!on && timers.has(name)) { clearTimeout(timers.get(name)); timers.delete(name); }
      };
      const done = (outcome: Outcome) => {
        listeners.delete(look);
        call.signal.removeEventListener('abort', onAbort);
        for (const timer of timers.values()) clearTimeout(timer);
        resolve(outcome);
      };
      const onAbort = () => done({ kind: 'time-up' });
      const stayed = async () => {
        const tab = await chrome.tabs.get(tabId).catch(() => undefined);
        // Another navigation may be under way by now; its events will come.
        if (aborted && (!tab?.pendingUrl || tab.status === 'complete')) done({ kind: 'stayed' });
        else if (aborted) arm('aborted', true, ABORT_GRACE_MS, () => void stayed());
      };
      const noBeginning = async () => {
        if (begun) return;
        const tab = await chrome.tabs.get(tabId).catch(() => undefined);
        done(tab?.status === 'complete' && !tab.pendingUrl ? { kind: 'loaded' } : { kind: 'stayed' });
      };
      const look = () => {
        const outcome = judge(until);
        if (outcome) return done(outcome);
        arm('aborted', aborted && !committed, ABORT_GRACE_MS, () => void stayed());
        arm('committed', committed && !parsed, AFTER_COMMIT_MS, () => done({ kind: 'parsed' }));
        arm('parsed', committed && parsed, AFTER_PARSED_MS, () => done({ kind: 'parsed' }));
        arm('none', until === 'none' && begun && !aborted, NOT_WAITING_MS, () => done({ kind: 'under-way' }));
        arm('begin', !begun, BEGIN_MS, () => void noBeginning());
      };
      arm('deadline', true, Math.max(0, remaining(call) - REPORT_MS), () => done({ kind: 'time-up' }));
      listeners.add(look);
      call.signal.addEventListener('abort', onAbort);
      look();
    });
  }

  return {
    expect: (url) => { if (URL.canParse(url)) downloads.went(new URL(url).href); },
    stop,
    bind,
    begun: () => begun,
    async begins(ms) {
      if (begun) return true;
      await new Promise<void>((resolve) => {
        const done = () => {
          if (!begun && Date.now() < end) return;
          clearTimeout(timer);
          listeners.delete(done);
          resolve();
        };
        const end = Date.now() + ms;
        const timer = setTimeout(() => { listeners.delete(done); resolve(); }, ms);
        listeners.add(done);
      });
      return begun;
    },
    async arrival(until, wanted) {
      for (let followed = 0; ; followed++) {
        const outcome = await settle(until);
        switch (outcome.kind) {
          case 'closed': {
            // A new tab that shows nothing but is a download's is closed by Chrome itself; the word of the download may come later.
            for (const end = Date.now() + GONE_MS; !committed && !downloads.began() && Date.now() < end && !call.signal.aborted;) await new Promise((r) => setTimeout(r, 25));
            const [download] = await downloads.outcome(call);
            admitDownload(download);
            if (download) throw new BridgeError('NAVIGATION_FAILED', `${shown(wanted)} is a download, not a page (${stateOf(download)}); its tab is closed`);
            throw new BridgeError('TAB_NOT_FOUND', `tab ${tabId} was closed while it was loading`);
          }
          case 'failed': throw new BridgeError('NAVIGATION_FAILED', `${shown(wanted)} could not be loaded: ${outcome.error}`);
          case 'stayed':
            // A page that arrived and then set off a download, say, has arrived.
            if (arrived) return report(call, tabId, true);
            throw await stayedWhere(tabId, wanted, begun, (await downloads.outcome(call))[0]);
          case 'time-up':
            if (call.signal.aborted && call.deadline > Date.now()) throw new BridgeError('CANCELLED', 'cancelled');
            if (!committed && !arrived) throw new StillWaiting(`${shown(wanted)} did not answer in time; the tab is still waiting for it`);
            return report(call, tabId, false);
          case 'under-way': {
            const tab = await chrome.tabs.get(tabId).catch(() => undefined);
            if (!committed && tab) return { tab_id: tabId, url: tab.pendingUrl ?? wanted ?? tab.url ?? '', title: '', loaded: false };
            return report(call, tabId, false);
          }
          default: {
            const seen = hops;
            const arrival = await report(call, tabId, loaded || outcome.kind === 'same-document');
            // A page that sends on at once, by script or by meta refresh, has not arrived yet.
            if ((until === 'load' || until === 'network_idle') && followed < MAX_HOPS && (hops !== seen || (await goesOn(tabId, () => hops !== seen)))) continue;
            return arrival;
          }
        }
      }
    },
  };
}

/** Adds a listener and gives what takes it away again. */
function listen<H>(event: { addListener(handler: H): void; removeListener(handler: H): void }, handler: H): () => void {
  event.addListener(handler);
  return () => { event.removeListener(handler); };
}

/** Whether another navigation has been asked for already; waits a moment for its first event. */
async function goesOn(tabId: number, begun: () => boolean): Promise<boolean> {
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  if (!tab?.pendingUrl || tab.status !== 'loading') return false;
  for (let i = 0; i < 10 && !begun(); i++) await new Promise((r) => setTimeout(r, 25));
  return begun();
}

interface Details { tabId: number; frameId: number; documentId?: string; documentLifecycle?: string; url: string }
