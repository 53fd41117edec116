// What an act in a page leads to in the browser: a tab that the page opened, another page in this tab, a download.
import { remaining, type Call } from '../call';
import type { Download } from '../generated/methods';
import { placeOf } from '../policy/sites';
import { notBegun, wasOne, watchDownloads } from './downloads';
import { cut } from './answers';
import { own } from './owners';
import { watchStarted, type Act } from './started';

export interface Effects {
  /** Tabs that the page opened, in order. */
  opened?: { tab_id: number; url: string }[];
  /** The address to which the tab is on its way, or where it is now. */
  navigated?: string;
  /** Windows that the page asked for and that did not open. */
  note?: string;
  /** What was downloaded; all of it where that is more than one. */
  download?: Download;
  downloads?: Download[];
}

/** Where a page is likely to be on its way, so long is waited for a sign of it. A tab that an act opens is announced before the act's own result. */
const LIKELY_MS = 100;
/** A window that is to open is announced within this time. */
const WINDOW_MS = 500;
/** A page that is on its way is given this long to arrive, so that whoever acts next acts in it and not in the page that is being left. */
const ARRIVING_MS = 5000;
/** A download that the page asked for is given this long to begin: its server may be slow. */
const BEGIN_MS = 5000;
/** A further one, which Chrome most likely holds back, so long. */
const MORE_MS = 1500;
/** So many that did not begin are told of. */
const MOST = 20;
/** Where a page was on its way and none came, so long is looked for the download that it may have been. */
const INSTEAD_MS = 300;
/** A page that is fetching what it will answer with is waited for so long at most (started.ts says when it has answered). */
const FETCHING_MS = 12_000;
/** A window that was opened is waited for so long to show a page, or that it is a download. */
const COMING_MS = 1500;
/** What is kept of the deadline for the answer itself. */
const ANSWER_MS = 300;
/** A tab that a page opens a moment after the act still belongs to who acted. */
const AFTERMATH_MS = 2000;

/** What the page has said of its answer. */
export interface Signs {
  /** So many downloads were asked for. */
  downloads?: number;
  /** A page is on its way. */
  leads?: boolean;
  /** So many windows are to open. */
  windows?: number;
  /** When the act went on: what the page began to fetch then is waited for. */
  during?: Act & { putOff?: number };
  /** Addresses of windows that the page asked for in vain. */
  unopened?: string[];
}

export interface EffectsWatch {
  /**
   * What has come of it; where something is likely to come, or a download was asked for, looks for it a moment longer. `further` looks on in
   * the page while it is fetching, and says at the end, asked without a time, what signs there were; with `timers` it says so when those have run.
   */
  seen(likely: boolean, signs?: Signs, further?: (ms: number, timers?: boolean) => Promise<Signs>): Promise<Effects>;
  stop(): void;
}

/** Must be set up before the act. */
export function watchEffects(call: Call, tabId: number): EffectsWatch {
  const opened: { tab_id: number; url: string }[] = [];
  let navigated: string | undefined;
  let acted = false;
  /** A navigation has begun of which neither the new page nor the end has been seen. */
  let leaving = false;
  /** Where the tab has been led to for certain: what it was only on its way to may have been a download, or nothing. */
  let settled: string | undefined;
  let instead = false;
  /** Tabs that were opened for an address of which neither a page nor the end has been seen: it may be a download. */
  const coming = new Set<number>();
  let givenUp: string | undefined;
  let wake = () => {};
  const started = watchStarted(tabId);
  const woken = (ms: number) => new Promise<void>((resolve) => { wake = resolve; setTimeout(resolve, ms); });
  const news = () => { started.wake(); wake(); };
  const downloads = watchDownloads(tabId, news);
  const onCreated = (d: { sourceTabId: number; tabId: number; url: string }) => {
    if (d.sourceTabId !== tabId) return;
    opened.push({ tab_id: d.tabId, url: d.url });
    if (/^https?:/i.test(d.url)) coming.add(d.tabId);
    downloads.went(d.url);
    void own(d.tabId, call.owner);
    news();
  };
  const onNavigate = (d: { tabId: number; frameId: number; url: string; documentLifecycle?: string }) => {
    if (d.frameId === 0 && /^https?:/i.test(d.url) && coming.delete(d.tabId)) news();
    if (d.tabId !== tabId || d.frameId !== 0 || d.documentLifecycle === 'prerender') return;
    navigated = settled = d.url;
    leaving = instead = false;
    news();
  };
  const onBegun = (d: { tabId: number; frameId: number; url: string; documentLifecycle?: string }) => {
    // Also where a frame goes, or a tab that the page opened: it may be a download.
    if (d.tabId === tabId || opened.some((o) => o.tab_id === d.tabId)) downloads.went(d.url);
    if (d.tabId !== tabId || d.frameId !== 0 || d.documentLifecycle === 'prerender') return;
    givenUp = navigated;
    navigated = d.url;
    leaving = true;
    instead = false;
    news();
  };
  /** No page came of it (a download, an empty answer, a refused connection): there is nothing more to wait for. */
  const onEnded = (d: { tabId: number; frameId: number; url?: string; error?: string }) => {
    if (d.frameId === 0 && coming.delete(d.tabId)) {
      instead ||= /ERR_ABORTED/.test(d.error ?? '');
      news();
    }
    if (d.tabId !== tabId || d.frameId !== 0) return;
    // One that gave way to another is not the one that is awaited.
    if (leaving && d.url !== navigated && d.url === givenUp) return;
    if (leaving && /ERR_ABORTED/.test(d.error ?? '')) {
      navigated = settled;
      instead = true;
    }
    leaving = false;
    news();
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
    downloads.stop();
    started.stop();
    for (const event of moves) event.removeListener(onNavigate);
    if (acted) setTimeout(() => nav.onCreatedNavigationTarget.removeListener(onCreated), AFTERMATH_MS);
    else nav.onCreatedNavigationTarget.removeListener(onCreated);
  };
  return {
    stop,
    async seen(likely, signs = {}, further) {
      acted = true;
      let { downloads: asked = 0, windows = 0, unopened = [], during } = signs;
      const nothing = () => !downloads.began() && !leaving && navigated === undefined && !opened.length;
      const left = (most: number) => Date.now() + Math.min(most, remaining(call) - ANSWER_MS);
      const until = async (end: number, holds: () => boolean) => { while (!holds() && !call.signal.aborted && Date.now() < end) await woken(end - Date.now()); };
      const look = async (ms: number, timers = false) => {
        const more = (await further?.(Math.max(0, ms), timers)) ?? {};
        asked += more.downloads ?? 0;
        windows += more.windows ?? 0;
        unopened = [...unopened, ...(more.unopened ?? [])];
        likely ||= more.leads === true;
        return more;
      };
      if (during?.putOff && !asked && !windows && !likely && nothing()) {
        const end = left(during.putOff);
        let ran = false;
        void look(end - Date.now(), true).then(({ during: after }) => {
          if (during && after) during = { ...during, to: after.to, begun: after.begun };
          ran = true;
          news();
        });
        await until(end, () => ran || !nothing());
      }
      if (during && !asked && !windows && nothing() && started.any(during)) {
        const act = during;
        const end = left(FETCHING_MS);
        await look(end - Date.now());
        // The second time when the page has certainly had a turn: a busy machine is slow to react.
        for (let turn = 1, last = false; !last; turn++) {
          await started.over(act, call.signal, end, () => !nothing());
          last = turn === 2 || !nothing();
          await look(last ? 0 : end - Date.now());
        }
      }
      if (asked) await until(left(wasOne(tabId) ? MORE_MS : BEGIN_MS), () => downloads.began() > 0 || leaving || navigated !== undefined);
      if (asked > 1) await until(left(INSTEAD_MS), () => downloads.began() >= asked);
      else if (likely && !opened.length && navigated === undefined && !instead && !downloads.began()) await woken(LIKELY_MS);
      if (windows) await until(left(WINDOW_MS), () => opened.length > 0);
      const shown = left(COMING_MS);
      await until(left(ARRIVING_MS), () => !leaving);
      await until(shown, () => !coming.size || navigated !== undefined || downloads.began() > 0);
      if (instead) await until(left(INSTEAD_MS), () => downloads.began() > 0 || leaving || !instead);
      const got = await downloads.outcome(call);
      // A tab that was opened for a download goes away by itself.
      if (got.length) for (const { tab_id } of [...opened]) if (!(await chrome.tabs.get(tab_id).catch(() => undefined))) opened.splice(opened.findIndex((o) => o.tab_id === tab_id), 1);
      // An address that led to no page may have been a download that Chrome holds back.
      const wanted = navigated === undefined ? Math.max(asked, Number(instead && wasOne(tabId))) : 0;
      while (got.length < Math.min(wanted, MOST)) got.push(notBegun(tabId));
      const note = notOpened(unopened, opened.length > 0);
      return { ...(note === undefined ? {} : { note }), ...(opened.length ? { opened } : {}), ...(navigated === undefined ? {} : { navigated }), ...(got[0] ? { download: got[0] } : {}), ...(got.length > 1 ? { downloads: got } : {}) };
    },
  };
}

/** Only addresses are told, as what a page asks for may be any text. Chrome lets a page open one window a click; in a frame that may not open any, or past a trick of the page's, it is none. */
function notOpened(asked: string[], another: boolean): string | undefined {
  const urls = asked.filter((url) => URL.canParse(url)).map((url) => (/^(?:https?:|about:blank$)/i.test(url) ? cut(new URL(url).href) : placeOf(url)));
  if (!urls.length) return undefined;
  const what = `${urls.length === 1 ? 'a window' : 'windows'} that did not open: ${urls.join(', ')}`;
  return another ? `the page also asked for ${what}; it may open one a click` : `the page asked for ${what}; a click with trusted may open it`;
}
