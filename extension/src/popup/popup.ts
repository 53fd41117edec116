// The popup: is the daemon there, when did it last answer, which browser is this, and what to do if something is amiss.
import type { Ask, Reply, Status } from './status';

const el = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const text = (key: string, ...values: string[]) => chrome.i18n.getMessage(key, values);

const LOOK: Record<Status['state'], 'good' | 'warn' | 'bad' | 'idle'> = {
  up: 'good', dialing: 'idle', down: 'warn', unpaired: 'warn', refused: 'bad', replaced: 'warn', foreign: 'bad',
};

document.documentElement.lang = chrome.i18n.getUILanguage();
for (const node of document.querySelectorAll<HTMLElement>('[data-i18n]')) node.textContent = text(node.dataset.i18n ?? '');
for (const node of document.querySelectorAll<HTMLElement>('[data-i18n-title]')) node.title = text(node.dataset.i18nTitle ?? '');

let current: Status | undefined;

async function ask(message: Ask): Promise<Reply | undefined> {
  const reply = await chrome.runtime.sendMessage<Ask, Reply | undefined>(message).catch(() => undefined);
  if (reply && !('problem' in reply)) show(reply);
  return reply;
}

function show(status: Status): void {
  current = status;
  const paused = status.paused && status.state === 'up';
  document.body.dataset.look = paused ? 'warn' : LOOK[status.state];
  set('state', paused ? text('state_paused') : text(`state_${status.state}`, status.address ?? ''));
  set('hint', paused ? text('hint_paused') : text(`hint_${status.state}`, status.detail ?? ''));
  set('daemon', [status.server, status.address].filter(Boolean).join(' · ') || '–');
  set('browser-id', status.browserId ?? '–');
  el<HTMLButtonElement>('browser-id').disabled = status.browserId === undefined;
  set('version', status.version);
  set('pause', text(status.paused ? 'popup_resume' : 'popup_pause'));
  el('pause').setAttribute('aria-pressed', String(status.paused));
  const { evaluateUntil: until } = status;
  set('evaluate', until === undefined ? text('popup_evaluate_off') : text('popup_evaluate_on', new Date(until).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })));
  el('evaluate').setAttribute('aria-checked', String(until !== undefined));
  el<HTMLButtonElement>('evaluate').disabled = status.state !== 'up';
  el('pair').hidden = status.state !== 'unpaired';
  el('scripts').hidden = status.userScripts;
  el('again').hidden = status.state === 'up';
  showRoundTrip();
}

function showRoundTrip(): void {
  const { roundTrip } = current ?? {};
  set('round-trip', roundTrip ? text('popup_ago', String(Math.max(0, Math.round((Date.now() - roundTrip.at) / 1000))), String(roundTrip.ms)) : text('popup_never'));
}

/** Changes a text only if it differs, so that a screen reader does not read it out every second. */
function set(id: string, value: string): void {
  const node = el(id);
  if (node.textContent !== value) node.textContent = value;
}

el('pause').addEventListener('click', () => void ask({ type: 'pause', on: !current?.paused }));
el('evaluate').addEventListener('click', () => void ask({ type: 'evaluate', on: current?.evaluateUntil === undefined }));
el('again').addEventListener('click', () => void ask({ type: 'again' }));
el('browser-id').addEventListener('click', () => void navigator.clipboard.writeText(current?.browserId ?? ''));
el('open-switch').addEventListener('click', () => void chrome.tabs.create({ url: `chrome://extensions/?id=${chrome.runtime.id}` }));
el('pair').addEventListener('submit', (event) => {
  event.preventDefault();
  void ask({ type: 'pair', key: el<HTMLInputElement>('key').value }).then((reply) => {
    set('key-problem', reply && 'problem' in reply ? reply.problem : '');
  });
});

void ask({ type: 'status' });
setInterval(() => void ask({ type: 'status' }), 1000);
