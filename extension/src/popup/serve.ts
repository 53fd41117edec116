// The worker's side of the popup.
import { pingNow, redialNow, tell, unansweredSince } from '../connection/connection';
import { link } from '../connection/link';
import { paste } from '../connection/pairing';
import { overlayWish, setOverlay } from '../overlay/settings';
import { allActing, isHeld } from '../person/acting';
import { groupsHeld, setGroupsHeld } from '../person/grouping';
import { calledAs, harmless } from '../person/names';
import { stopAll } from '../person/stop';
import { allGrants, grantsReady, revoke } from '../policy/grants';
import { evaluateUntil, limits, pauseHere, policy } from '../policy/policy';
import type { Actor, Ask, Reply, Status } from './status';

/** To be called at the top level of the worker. */
export function servePopup(): void {
  chrome.runtime.onMessage.addListener((message: unknown, sender, reply: (r: Reply) => void) => {
    if (sender.id !== chrome.runtime.id || !sender.url?.startsWith(chrome.runtime.getURL('popup.html'))) return;
    const ask = message as Ask | null;
    // Opened as a tab the page can be driven like any other, so there it may look but change nothing.
    if (ask?.type !== 'status' && sender.tab) return;
    void answer(ask).then(reply);
    return true;
  });
}

async function answer(ask: Ask | null): Promise<Reply> {
  switch (ask?.type) {
    case 'again':
      redialNow();
      break;
    case 'pause':
      await pause(ask.on);
      break;
    case 'stop':
      // First the pause, so that nothing new begins while the old is ended.
      await pause(true);
      return { ...(await status()), stopped: await stopAll() };
    case 'evaluate':
      tell({ type: 'policy_set', policy: { evaluate: ask.on } });
      break;
    case 'overlay':
      if (ask.what === 'box' || ask.what === 'cursor') await setOverlay({ [ask.what]: ask.on === true });
      break;
    case 'group':
      await setGroupsHeld(ask.on === true);
      break;
    case 'unshare':
      await revoke(String(ask.owner), String(ask.place));
      break;
    case 'pair':
      if (!(await paste(ask.key))) return { problem: chrome.i18n.getMessage('popup_key_problem') };
      redialNow();
      break;
    default:
      pingNow();
  }
  return status();
}

async function pause(on: boolean): Promise<void> {
  await pauseHere(on);
  tell({ type: 'policy_set', policy: { paused: on } });
}

async function status(): Promise<Status> {
  await grantsReady;
  const { state, detail, address, browserId, ack, roundTrip } = link;
  const all = allActing();
  return {
    state, detail, address, browserId, roundTrip,
    silentSince: unansweredSince(),
    server: state === 'up' ? `${ack?.server?.name ?? ''} ${ack?.server?.version ?? ''}`.trim() : undefined,
    paused: policy.paused,
    evaluateUntil: evaluateUntil(),
    userScripts: typeof (chrome as { userScripts?: unknown }).userScripts === 'object',
    version: __VERSION__,
    acting: await Promise.all(all.slice(0, SHOWN).map(actor)),
    more: Math.max(0, all.length - SHOWN),
    overlay: overlayWish(),
    limits: limits(),
    shared: allGrants(),
    group: groupsHeld(),
  };
}

/** More rows than this nobody reads. */
const SHOWN = 20;

async function actor(acting: ReturnType<typeof allActing>[number]): Promise<Actor> {
  const { owner, class: kind, tabId, method, since, last, running } = acting;
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  const title = harmless(tab?.title ?? '', 80) || harmless(tab?.url ?? '', 80) || `${tabId}`;
  return { name: calledAs(owner), agent: kind === 'agent', tabId, title, method, since, last, running: running > 0, held: isHeld(acting, Date.now()) };
}
