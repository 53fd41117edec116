// What an act in a page leads to in the browser: a tab that the page opened, another page in this tab.
import { remaining, type Call } from '../call';
import { own } from './owners';

export interface Effects {
  /** Tabs that the page opened, in order. */
  opened?: { tab_id: number; url: string }[];
  /** The address to which the tab is on its way, or where it is now. */
  navigated?: string;
}

/** Where a page is likely to be on its way, so long is waited for a sign of it. A tab that an act opens is announced before the act's own result. */
const LIKELY_MS = 100;
/** A page that is on its way is given this long to arrive, so that whoever acts next acts in it and not in the page that is being left. */
const ARRIVING_MS = 5000;
/** What is kept of the deadline for the answer itself. */
const ANSWER_MS = 300;
/** A tab that a page opens a moment after the act still belongs to who acted. */
const AFTERMATH_MS = 2000;

export interface EffectsWatch {
  /** What has come of it; where something is likely to come, looks for it a moment longer. */
  seen(likely: boolean): Promise<Effects>;
  stop(): void;
}

/** Must be set up before the act. */
export function watchEffects(call: Call, tabId: number): EffectsWatch {
  const opened: { tab_id: number; url: string }[] = [];
  let navigated: string | undefined;
  let acted = false;
  /** A navigation has begun of which neither the new page nor the end has been seen. */
  let leaving = false;
  let wake = () => {};
  const woken = (ms: number) => new Promise<void>((resolve) => { wake = resolve; setTimeout(resolve, ms); });
  const onCreated = (d: { sourceTabId: number; tabId: number; url: string }) => {
    if (d.sourceTabId !== tabId) return;
    opened.push({ tab_id: d.tabId, url: d.url });
    void own(d.tabId, call.owner);
    wake();
  };
  const onNavigate = (d: { tabId: number; frameId: number; url: string; documentLifecycle?: string }) => {
    if (d.tabId !== tabId || d.frameId !== 0 || d.documentLifecycle === 'prerender') return;
    navigated = d.url;
    leaving = false;
    wake();
  };
  const onBegun = (d: { tabId: number; frameId: number; url: string; documentLifecycle?: string }) => {
    onNavigate(d);
    if (d.tabId === tabId && d.frameId === 0 && d.documentLifecycle !== 'prerender') leaving = true;
  };
  /** No page came of it (a download, an empty answer, a refused connection): there is nothing more to wait for. */
  const onEnded = (d: { tabId: number; frameId: number }) => {
    if (d.tabId !== tabId || d.frameId !== 0) return;
    leaving = false;
    wake();
  };
  const onClosed = (id: number) => onEnded({ tabId: id, frameId: 0 });
  const nav = chrome.webNavigation;
  const moves = [nav.onCommitted, nav.onHistoryStateUpdated, nav.onReferenceFragmentUpdated];
  nav.onCreatedNavigationTarget.addListener(onCreated);
  nav.onBeforeNavigate.addListener(onBegun);
  nav.onErrorOccurred.addListener(onEnded);
  chrome.tabs.onRemoved.addListener(onClosed);
  for (const event of moves) event.addListener(onNavigate);
  const stop = () => {
    nav.onBeforeNavigate.removeListener(onBegun);
    nav.onErrorOccurred.removeListener(onEnded);
    chrome.tabs.onRemoved.removeListener(onClosed);
    for (const event of moves) event.removeListener(onNavigate);
    if (acted) setTimeout(() => nav.onCreatedNavigationTarget.removeListener(onCreated), AFTERMATH_MS);
    else nav.onCreatedNavigationTarget.removeListener(onCreated);
  };
  return {
    stop,
    async seen(likely) {
      acted = true;
      if (likely && !opened.length && navigated === undefined) {
        await woken(LIKELY_MS);
      }
      const patience = Date.now() + Math.min(ARRIVING_MS, remaining(call) - ANSWER_MS);
      while (leaving && !call.signal.aborted && Date.now() < patience) await woken(patience - Date.now());
      return { ...(opened.length ? { opened } : {}), ...(navigated === undefined ? {} : { navigated }) };
    },
  };
}
