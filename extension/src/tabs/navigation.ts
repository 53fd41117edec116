// Leads a tab to another page and says where it ended up; watched from before the navigation starts.
import { remaining, type Call } from '../call';
import { lettingGo } from '../debugger/leave';
import { report, type Arrival } from './arrival';
import { mayAsk } from './leaving';
import { refused } from './led-nowhere';
import { REPORT_MS, watchNavigation, type NavigationWatch, type WaitUntil } from './navigation-watch';
import { ownerOf } from './owners';
import { watchTraffic, type Traffic } from './traffic';

/** So long after its load event a page's network is waited for. */
const IDLE_MS = 15_000;

/** Navigates and waits as asked. */
export function navigateTab(call: Call, tabId: number, url: string, until: WaitUntil = 'load'): Promise<Arrival> {
  return navigateBy(call, tabId, () => chrome.tabs.update(tabId, { url }).catch((e: unknown) => { throw refused(e, tabId); }), until, url);
}

/** Runs something that starts a navigation (an address, reload, history) and waits for where it leads. */
export async function navigateBy(call: Call, tabId: number, begin: (watch: NavigationWatch) => Promise<unknown>, until: WaitUntil = 'load', wanted?: string): Promise<Arrival> {
  const before = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
  const go = async () => {
    const watch = watchNavigation(call, tabId, before?.documentId);
    const traffic = until === 'network_idle' ? watchTraffic(tabId) : undefined;
    try {
      call.acted();
      await begin(watch);
      return await atRest(call, await watch.arrival(until, wanted), traffic);
    } finally {
      traffic?.stop();
      watch.stop();
    }
  };
  // In a person's own tab the question "leave this page?" is theirs; in a client's tab nobody is there to answer it.
  const ask = (await ownerOf(tabId)) !== undefined && (await mayAsk(call, tabId));
  return ask ? lettingGo(tabId, go) : go();
}

/** Opens a tab at an address and waits as asked; `open` must give the new tab's id. */
export async function navigateNew(call: Call, open: () => Promise<number>, url: string, until: WaitUntil = 'load'): Promise<Arrival> {
  // The first events of a new tab come before its id is known here.
  const watch = watchNavigation(call);
  // A download may even be over by then.
  watch.expect(url);
  const traffic = until === 'network_idle' ? watchTraffic() : undefined;
  try {
    const tabId = await open();
    watch.bind(tabId);
    traffic?.bind(tabId);
    return await atRest(call, await watch.arrival(until, url), traffic);
  } finally {
    traffic?.stop();
    watch.stop();
  }
}

/** Waits for the network too, where that was asked for, and looks once more where the tab is. */
async function atRest(call: Call, arrival: Arrival, traffic: Traffic | undefined): Promise<Arrival> {
  if (!traffic) return arrival;
  const idle = await traffic.quiet(Math.max(0, remaining(call, IDLE_MS) - REPORT_MS), call.signal);
  return { ...(await report(call, arrival.tab_id, arrival.loaded)), idle };
}
