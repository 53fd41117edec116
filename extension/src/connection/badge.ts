// The toolbar button says at a glance whether the daemon is connected, and warns in red where something is wrong.
import { onPolicy, policy } from '../policy/policy';
import { link, onLink, type LinkState } from './link';

const RED = '#b3261e';
const GREY = '#6b7280';
const AMBER = '#b45309';

const look: Record<LinkState, { text: string; color: string }> = {
  up: { text: '', color: GREY },
  dialing: { text: '…', color: GREY },
  down: { text: '…', color: GREY },
  unpaired: { text: '?', color: AMBER },
  refused: { text: '!', color: RED },
  replaced: { text: '!', color: AMBER },
  foreign: { text: '!', color: RED },
};

let shown = '';

export function startBadge(): void {
  onLink(draw);
  onPolicy(draw);
}

function draw(): void {
  const { text, color } = link.state === 'up' && policy.paused ? { text: '❚❚', color: AMBER } : look[link.state];
  const title = chrome.i18n.getMessage(`badge_${link.state}`, link.address ?? '') || chrome.i18n.getMessage('name');
  const key = `${text}|${color}|${title}`;
  if (key === shown) return;
  shown = key;
  void chrome.action.setBadgeText({ text });
  void chrome.action.setBadgeBackgroundColor({ color });
  void chrome.action.setTitle({ title });
}
