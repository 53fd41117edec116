// wait_for: waits until something has come true in a tab: an element, a text, an address, a load, a script's word.
import type { Call, Handler } from '../call';
import { remaining } from '../call';
import { BridgeError, PageLeft } from '../errors';
import type { WaitForParams, WaitForResult } from '../generated/methods';
import type { Target } from '../page/locate/target';
import type { ElementState, Standing } from '../page/wait-for';
import { guarded, judge, sites } from '../policy/policy';
import { unshared } from '../tabs/admission';
import { findDocument, liveTab, type Doc } from '../tabs/document';
import { ticking } from '../tabs/element';
import { ended } from '../tabs/guard';
import { callPage } from '../tabs/page';
import { documentOf, staleRef } from '../tabs/refs';
import { resolveTab } from '../tabs/resolve';
import { watchTraffic } from '../tabs/traffic';
import { bounded, LOOK_MS, period, Settling, waited, waitInPages, type Period } from '../tabs/waiting';
import { execute, prepareWorld } from './run_script';

const KINDS = ['target', 'text', 'url', 'load', 'script'] as const;
const SCRIPT_MS = 100;

export const handler: Handler<WaitForParams, WaitForResult> = async (params, call) => {
  const given = KINDS.filter((kind) => params[kind] !== undefined);
  if (given.length !== 1) throw new BridgeError('INVALID_PARAMS', `invalid params: one of ${KINDS.join(', ')} says what to wait for${given.length ? `; here are ${given.join(' and ')}` : ''}`);
  if (params.state !== undefined && !params.target) throw new BridgeError('INVALID_PARAMS', 'invalid params: state goes with target');
  const { id } = await resolveTab(params, call);
  const time = period(call, params.timeout ?? 10_000);
  try {
    await wait(params, call, id, time);
  } catch (e) {
    throw params.url === undefined ? await ended(call, id, e) : e;
  }
  const tab = await chrome.tabs.get(id).catch(() => undefined);
  const url = tab?.url ?? '';
  return { waited_ms: Date.now() - time.from, tab_id: id, url: (await unshared(call, id, url)) ?? url };
};

async function wait(params: WaitForParams, call: Call, id: number, time: Period): Promise<void> {
  if (params.target) {
    const { state = 'visible' } = params;
    const target = pageTarget(params.target);
    if (target.by === 'ref') await waitForRef(call, id, target, state, time);
    else await waitInPages(call, id, { target, state }, time, `${target.by} ${JSON.stringify(target.name ?? target.value.slice(0, 120))} ${state}`);
  } else if (params.text !== undefined) await waitInPages(call, id, { text: params.text }, time, `the text ${JSON.stringify(params.text.slice(0, 120))}`);
  else if (params.url !== undefined) await waitForAddress(call, id, params.url, time);
  else if (params.script !== undefined) await waitForScript(call, id, params.script, time);
  else if (params.load !== false) await waitForLoad(call, id, params.load === true || params.load === undefined ? 'load' : params.load, time);
}

function pageTarget({ by = 'css', value = '', index = 0, name }: NonNullable<WaitForParams['target']>): Target {
  if (!value) throw new BridgeError('INVALID_PARAMS', 'invalid params: target.value is missing');
  return { by, value, index, ...(name === undefined ? {} : { name }) };
}

/** One element in its own document: with the document it is gone for good. */
async function waitForRef(call: Call, tabId: number, target: Target, state: ElementState, time: Period): Promise<void> {
  const gone = state === 'hidden' || state === 'detached';
  const ended = (e: unknown) => {
    // What no snapshot gave cannot have gone.
    if (gone && e instanceof BridgeError && e.code === 'STALE_REF' && / is gone;/.test(e.message)) return;
    throw e;
  };
  let doc: Doc;
  try { doc = await documentOf(call, tabId, target.value); } catch (e) { return ended(e); }
  let known: Standing | undefined;
  try {
    do {
      known = await ticking(doc, () => callPage<Standing>(call, tabId, 'standing', { condition: { target, state }, ...time, known }, { documentId: doc.documentId }));
      if (known.holds) return;
    } while (Date.now() < time.until);
  } catch (e) {
    const left = e instanceof PageLeft || (e instanceof BridgeError && e.code === 'CANCELLED' && !call.signal.aborted);
    return ended(left ? staleRef(target.value, 'the page it was on is gone') : e);
  }
  throw waited(`ref ${target.value} ${state} did not come${known.reason ? `: ${known.reason}` : ''}`, time);
}

/** The whole address, with query and fragment, holds the text; with a `*` in it, it is a pattern for the whole address. */
function addressTest(wanted: string): (url: string) => boolean {
  if (!wanted.includes('*')) return (url) => url.includes(wanted) || decoded(url).includes(wanted);
  const pattern = new RegExp(`^${wanted.split(/\*+/).map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`, 's');
  return (url) => pattern.test(url) || pattern.test(decoded(url)) || url.includes(wanted);
}

/** As a person reads it: 文 and not %E6%96%87. */
function decoded(url: string): string {
  try { return decodeURI(url); } catch { return url; }
}

async function waitForAddress(call: Call, tabId: number, wanted: string, time: Period): Promise<void> {
  const matches = addressTest(wanted);
  const wait = new Settling();
  let at = '';
  // The address of a denied site, or of a page of the user's that is not shared, is not to be found out by asking for it.
  const look = async (url: string) => {
    const refusal = sites.refusal(url);
    if (refusal !== undefined) return wait.end(new BridgeError('PERMISSION_DENIED', refusal));
    const told = guarded(call) ? ((await unshared(call, tabId, url)) ?? url) : url;
    at = told;
    if (matches(told)) wait.end();
  };
  const seen = (url: string) => void look(url).catch((e: unknown) => wait.end(e));
  bounded(call, tabId, wait, time, () => waited(`the tab did not come to an address with ${JSON.stringify(wanted.slice(0, 200))}; it is at ${at.slice(0, 300)}`, time), () => at !== '');
  const onMove = (d: { tabId: number; frameId: number; url: string; documentLifecycle?: string }) => {
    if (d.tabId === tabId && d.frameId === 0 && d.documentLifecycle !== 'prerender') seen(d.url);
  };
  const nav = chrome.webNavigation;
  for (const event of [nav.onCommitted, nav.onHistoryStateUpdated, nav.onReferenceFragmentUpdated]) wait.listen(event, onMove);
  wait.listen(chrome.tabs.onUpdated, (id: number, change: { url?: string }) => { if (id === tabId && change.url !== undefined) seen(change.url); });
  // Closed before it was listened to.
  const now = await liveTab(tabId).catch((e: unknown) => wait.end(e));
  if (now?.url !== undefined && !wait.done) seen(now.url);
  await wait.promise;
}

async function waitForLoad(call: Call, tabId: number, until: 'domcontentloaded' | 'load' | 'network_idle', time: Period): Promise<void> {
  const wait = new Settling();
  const traffic = until === 'network_idle' ? watchTraffic(tabId) : undefined;
  if (traffic) wait.onEnd(() => traffic.stop());
  let looked = false;
  bounded(call, tabId, wait, time, () => waited(`the page in tab ${tabId} has not ${until === 'network_idle' ? 'come to rest' : 'loaded'}`, time), () => looked);
  const rest = new AbortController();
  wait.onEnd(() => rest.abort());
  let resting = false;
  const arrived = () => {
    if (!traffic) return wait.end();
    if (resting) return;
    resting = true;
    void traffic.quiet(Math.max(0, time.until - Date.now()), rest.signal).then((quiet) => { if (quiet) wait.end(); });
  };
  const look = async () => {
    const tab = await liveTab(tabId).catch((e: unknown) => wait.end(e));
    if (tab?.status === 'complete' && !tab.pendingUrl && !wait.done) arrived();
    looked ||= until !== 'domcontentloaded' || tab?.status === 'complete';
    if (wait.done || !tab || tab.pendingUrl || tab.status === 'complete') return;
    if (until !== 'domcontentloaded') return;
    const doc = await findDocument(call, tabId).catch(() => undefined);
    if (!doc || wait.done) return;
    const [ready] = await chrome.scripting.executeScript({
      target: { tabId, documentIds: [doc.documentId] }, injectImmediately: true, func: () => document.readyState,
    }).catch(() => []);
    if (ready && ready.result !== 'loading') arrived();
    looked = true;
  };
  const onEvent = (d: { tabId: number; frameId: number }) => { if (d.tabId === tabId && d.frameId === 0) void look(); };
  wait.listen(chrome.webNavigation.onDOMContentLoaded, onEvent);
  wait.listen(chrome.webNavigation.onCompleted, onEvent);
  wait.listen(chrome.tabs.onUpdated, (id: number, change: { status?: string }) => { if (id === tabId && change.status !== undefined) void look(); });
  void look();
  await wait.promise;
}

/** Runs the script again and again until it gives something true. An error in it is a "not yet", as long as it can be read at all. */
async function waitForScript(call: Call, tabId: number, script: string, time: Period): Promise<void> {
  judge('run_script', 'write', {});
  await prepareWorld();
  // However short the time, it is asked once.
  for (let least = LOOK_MS; ; least = 50) {
    let last: string;
    const began = Date.now();
    // One that itself waits must not outlive the wait.
    const asking: Call = { ...call, deadline: Math.max(began + least, time.until), acted: () => {} };
    try {
      const doc = await findDocument(asking, tabId);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<null>((r) => { timer = setTimeout(r, Math.max(least, time.until - Date.now()), null); });
      const value = await Promise.race([execute(asking, doc, script), late]).finally(() => clearTimeout(timer));
      if (value) return;
      last = `it gave ${value === undefined ? 'undefined' : JSON.stringify(value)}`;
    } catch (e) {
      if (!(e instanceof BridgeError) || call.signal.aborted) throw e;
      if (e.code === 'SCRIPT_ERROR' && /^SyntaxError/.test(e.message)) throw e;
      // The page that it ran in was left: the next one may say yes.
      if (!['SCRIPT_ERROR', 'NAVIGATION_FAILED', 'RESTRICTED_PAGE', 'TIMEOUT'].includes(e.code)) throw e;
      last = e.message;
    }
    const left = Math.min(time.until - Date.now(), remaining(call));
    if (left <= 0) throw waited(`the script did not come true: ${last}`, time);
    await new Promise((r) => setTimeout(r, Math.min(left, Math.max(SCRIPT_MS, (Date.now() - began) * 2))));
  }
}
