// The popup: is the daemon there, when did it last answer, who acts where, and the switches that are a person's alone.
import { showActors } from './actors';
import { showLimits } from './limits';
import { el, set, text } from './page';
import type { Ask, Reply, Status } from './status';

const LOOK: Record<Status['state'], 'good' | 'warn' | 'bad' | 'idle'> = {
  up: 'good', dialing: 'idle', down: 'warn', unpaired: 'warn', refused: 'bad', replaced: 'warn', foreign: 'bad',
};
/** So long a daemon may take to give a sign of life before the popup says that it does not. */
const SILENT_MS = 2500;

// That of the words, which are English in a browser that speaks neither language of theirs.
document.documentElement.lang = text('language');
for (const node of document.querySelectorAll<HTMLElement>('[data-i18n]')) node.textContent = text(node.dataset.i18n ?? '');
for (const node of document.querySelectorAll<HTMLElement>('[data-i18n-title]')) node.title = text(node.dataset.i18nTitle ?? '');

let current: Status | undefined;
/** How many calls "stop now" has ended, told until work goes on. */
let stopped: number | undefined;

async function ask(message: Ask): Promise<Reply | undefined> {
  const reply = await chrome.runtime.sendMessage<Ask, Reply | undefined>(message).catch(() => undefined);
  if (reply && !('problem' in reply)) show(reply);
  return reply;
}

function show(status: Status): void {
  current = status;
  stopped = status.stopped ?? stopped;
  const paused = status.paused && status.state === 'up';
  if (!status.paused) stopped = undefined;
  const silent = status.state === 'up' && status.silentSince !== undefined && Date.now() - status.silentSince > SILENT_MS;
  document.body.dataset.look = silent ? 'bad' : paused ? 'warn' : LOOK[status.state];
  set('state', silent ? text('state_silent') : paused ? text('state_paused') : text(`state_${status.state}`, status.address ?? ''));
  set('hint', silent ? text('hint_silent') : !paused ? text(`hint_${status.state}`, status.detail ?? '')
    : stopped === undefined ? text('hint_paused') : text('hint_stopped', String(stopped)));
  set('daemon', [status.server, status.address].filter(Boolean).join(' · ') || '–');
  set('browser-id', status.browserId ?? '–');
  el<HTMLButtonElement>('browser-id').disabled = status.browserId === undefined;
  set('version', status.version);
  set('pause', text(status.paused ? 'popup_resume' : 'popup_pause'));
  el('pause').setAttribute('aria-pressed', String(status.paused));
  const { evaluateUntil: until } = status;
  set('evaluate', until === undefined ? text('popup_off') : text('popup_evaluate_on', new Date(until).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })));
  el('evaluate').setAttribute('aria-checked', String(until !== undefined));
  el<HTMLButtonElement>('evaluate').disabled = status.state !== 'up';
  for (const what of ['box', 'cursor'] as const) {
    set(what, text(status.overlay[what] ? 'popup_on' : 'popup_off'));
    el(what).setAttribute('aria-checked', String(status.overlay[what]));
  }
  set('group', text(status.group ? 'popup_on' : 'popup_off'));
  el('group').setAttribute('aria-checked', String(status.group));
  el('pair').hidden = status.state !== 'unpaired';
  el('scripts').hidden = status.userScripts;
  el('again').hidden = status.state === 'up';
  showActors(status);
  showLimits(status, (owner, place) => void ask({ type: 'unshare', owner, place }));
  showRoundTrip();
}

function showRoundTrip(): void {
  const { roundTrip } = current ?? {};
  set('round-trip', roundTrip ? text('popup_ago', String(Math.max(0, Math.round((Date.now() - roundTrip.at) / 1000))), String(roundTrip.ms)) : text('popup_never'));
}

el('stop').addEventListener('click', () => void ask({ type: 'stop' }));
el('pause').addEventListener('click', () => void ask({ type: 'pause', on: !current?.paused }));
el('evaluate').addEventListener('click', () => void ask({ type: 'evaluate', on: current?.evaluateUntil === undefined }));
for (const what of ['box', 'cursor'] as const) el(what).addEventListener('click', () => void ask({ type: 'overlay', what, on: !current?.overlay[what] }));
el('group').addEventListener('click', () => void ask({ type: 'group', on: !current?.group }));
el('again').addEventListener('click', () => void ask({ type: 'again' }));
el('browser-id').addEventListener('click', () => void navigator.clipboard.writeText(current?.browserId ?? ''));
el('open-switch').addEventListener('click', () => void chrome.tabs.create({ url: `chrome://extensions/?id=${chrome.runtime.id}` }));
el('pair').addEventListener('submit', (event) => {
  event.preventDefault();
  void ask({ type: 'pair', key: el<HTMLInputElement>('key').value }).then((reply) => {
    set('key-problem', reply && 'problem' in reply ? reply.problem : '');
  });
});
addEventListener('keydown', (event) => { if (event.key === 'Escape') window.close(); });

void ask({ type: 'status' });
setInterval(() => void ask({ type: 'status' }), 1000);
