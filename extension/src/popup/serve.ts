// The worker's side of the popup.
import { pingNow, redialNow, tell } from '../connection/connection';
import { link } from '../connection/link';
import { parsePastedKey } from '../connection/pairing';
import { evaluateUntil, pauseHere, policy } from '../policy/policy';
import type { Ask, Reply, Status } from './status';

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
      await pauseHere(ask.on);
      tell({ type: 'policy_set', policy: { paused: ask.on } });
      break;
    case 'evaluate':
      tell({ type: 'policy_set', policy: { evaluate: ask.on } });
      break;
    case 'pair':
      if (!parsePastedKey(ask.key)) return { problem: chrome.i18n.getMessage('popup_key_problem') };
      await chrome.storage.local.set({ pasted_key: ask.key.trim() });
      redialNow();
      break;
    default:
      pingNow();
  }
  return status();
}

function status(): Status {
  const { state, detail, address, browserId, ack, roundTrip } = link;
  return {
    state, detail, address, browserId, roundTrip,
    server: state === 'up' ? `${ack?.server?.name ?? ''} ${ack?.server?.version ?? ''}`.trim() : undefined,
    paused: policy.paused,
    evaluateUntil: evaluateUntil(),
    userScripts: typeof (chrome as { userScripts?: unknown }).userScripts === 'object',
    version: __VERSION__,
  };
}
