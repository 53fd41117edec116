// The toolbar button says at a glance whether the daemon is connected, and warns in red where something is wrong. Over a tab that an
// agent holds it says so, until the agent has let go.
import { heldNow } from '../person/held';
import { calledAs, onNames } from '../person/names';
import { onActing } from '../person/acting';
import { onPolicy, policy } from '../policy/policy';
import { link, onLink, type LinkState } from './link';

const RED = '#b3261e';
const GREY = '#6b7280';
const AMBER = '#b45309';
const BLUE = '#1668dc';

const look: Record<LinkState, { text: string; color: string }> = {
  up: { text: '', color: GREY },
  dialing: { text: '…', color: GREY },
  down: { text: '…', color: GREY },
  unpaired: { text: '?', color: AMBER },
  refused: { text: '!', color: RED },
  replaced: { text: '!', color: AMBER },
  foreign: { text: '!', color: RED },
};

let everywhere = { text: '', color: GREY, title: '' };
let shown = '';
/** What each tab's own badge says now. Those of an earlier worker are taken over, so that none stays behind. */
const marked = new Map<number, string>();
const KEY = 'badged';
const ADOPTED = '';

/** To be called at the top level of the worker. */
export function startBadge(): void {
  onLink(draw);
  onPolicy(draw);
  onActing(drawTabs);
  onNames(drawTabs);
  chrome.tabs.onRemoved.addListener((tabId) => { if (marked.delete(tabId)) remember(); });
  // Chrome takes a tab's own badge off when the tab goes to another page.
  chrome.webNavigation.onCommitted.addListener(({ tabId, frameId }) => {
    if (frameId !== 0 || !marked.delete(tabId)) return;
    remember();
    drawTabs();
  });
  void chrome.storage.session.get<{ badged?: number[] }>(KEY).then(({ badged }) => {
    for (const tabId of badged ?? []) if (!marked.has(tabId)) marked.set(tabId, ADOPTED);
    drawTabs();
  });
}

function draw(): void {
  const { text, color } = link.state === 'up' && policy.paused ? { text: '❚❚', color: AMBER } : look[link.state];
  const title = chrome.i18n.getMessage(`badge_${link.state}`, link.address ?? '') || chrome.i18n.getMessage('name');
  const key = `${text}|${color}|${title}`;
  if (key === shown) return;
  shown = key;
  everywhere = { text, color, title };
  void chrome.action.setBadgeText({ text });
  void chrome.action.setBadgeBackgroundColor({ color });
  void chrome.action.setTitle({ title });
  drawTabs();
}

function drawTabs(): void {
  const held = heldNow();
  let changed = false;
  for (const tabId of [...marked.keys()]) {
    if (held.has(tabId)) continue;
    marked.delete(tabId);
    changed = true;
    put(tabId, null, everywhere.color, everywhere.title);
  }
  for (const [tabId, { owner }] of held) {
    const title = chrome.i18n.getMessage('badge_held', calledAs(owner));
    if (marked.get(tabId) === title) continue;
    marked.set(tabId, title);
    changed = true;
    put(tabId, '●', BLUE, title);
  }
  if (changed) remember();
}

/** Without a text of its own the tab shows what all tabs show. */
function put(tabId: number, text: string | null, color: string, title: string): void {
  const gone = () => {};
  // The types do not know that null takes a tab's own text back.
  chrome.action.setBadgeText({ tabId, text } as { tabId: number; text: string }).catch(gone);
  chrome.action.setBadgeBackgroundColor({ tabId, color }).catch(gone);
  chrome.action.setTitle({ tabId, title }).catch(gone);
}

function remember(): void {
  void chrome.storage.session.set({ [KEY]: [...marked.keys()] });
}
