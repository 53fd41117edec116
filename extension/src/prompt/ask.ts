// Asks the user whether an agent may use their tabs of a site, in a window of the extension's own: no page can draw it, none can reach it,
// and no command works on it (tabs/resolve.ts). One question per agent at a time; closing the window is a no.
//
//   call ──> granted? ──> refused a moment ago? ──> one open, or asked too often? busy
//              │no            │no                      │no
//              └──────────────┴──> window ──> yes: granted until the browser ends · no: refused · 60 s: no confirmation
import { remaining, type Call } from '../call';
import { BridgeError } from '../errors';
import { calledAs, harmless, onNames } from '../person/names';
import { grant, grantsReady, isGranted, refuse, refusedBy } from '../policy/grants';
import { onPolicy, policy, userTabs } from '../policy/policy';
import { placeIn } from '../tabs/inherited';
import { questionEnded, quietFor } from './patience';
import { ARMED_MS, PORT, type Answered, type Asked } from './words';

/** A question stands for so long, and a call is held no longer. */
const ASKING_MS = 60_000;
/** What is kept of a call's own time for its answer. */
const ANSWER_MS = 100;
/** So many windows at most ask at a time, of all agents together. */
const MOST = 5;

interface Question {
  id: string;
  owner: string;
  place: string;
  title: string;
  opened: Promise<chrome.windows.Window | undefined>;
  shownAt: number;
  port?: chrome.runtime.Port;
  answer: Promise<boolean | undefined>;
  /** `void`: nobody was to answer it any more, which says nothing about who asked. */
  settle(answer: boolean | undefined | 'void'): void;
}

/** By owner. */
const open = new Map<string, Question>();

const noAnswer = (place: string) => new BridgeError('PERMISSION_DENIED', `denied: no confirmation: the user has not said whether you may use their tabs of ${place}`);
const refusal = (place: string) => new BridgeError('DENIED_BY_USER', `denied: the user does not share their tabs of ${place} with you`);

/** Resolves when the agent may use the user's tabs of the place; throws if it may not. */
export async function mayUse(call: Call, tabId: number, place: string): Promise<void> {
  await grantsReady;
  if (isGranted(call.owner, place)) return;
  const before = refusedBy(call.owner, place);
  if (before) throw before === 'no' ? refusal(place) : noAnswer(place);
  const standing = open.get(call.owner);
  if (standing || open.size >= MOST) {
    throw new BridgeError('OVERLOADED', `busy: the user is being asked about ${standing ? standing.place : 'other agents'} already; one question at a time`);
  }
  const quiet = quietFor();
  if (quiet > 0) throw new BridgeError('OVERLOADED', `busy: the user was asked several times in a row and shared nothing; nobody asks again for ${Math.ceil(quiet / 1000)} s`);
  const question = raise(call.owner, place, tabId);
  const answer = await held(call, question);
  if (answer === false) throw refusal(place);
  if (answer === undefined) throw noAnswer(place);
  // The tab may have gone on while the user thought about it.
  const now = await chrome.tabs.get(tabId).catch(() => { throw new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`); });
  if ((await placeIn(tabId, { frameId: 0 }, now.url || now.pendingUrl || '')) !== place) throw new BridgeError('PERMISSION_DENIED', `forbidden: the tab went to another site than ${place} while the user was asked`);
}

function raise(owner: string, place: string, tabId: number): Question {
  const id = crypto.randomUUID();
  let resolve!: (answer: boolean | undefined) => void;
  const answer = new Promise<boolean | undefined>((r) => { resolve = r; });
  const question: Question = {
    id, owner, place, title: '', answer,
    opened: chrome.windows.create({ type: 'popup', url: chrome.runtime.getURL(`prompt.html#${id}`), width: 480, height: 360, focused: true }),
    shownAt: Infinity,
    settle(given) {
      if (open.get(owner) !== question) return;
      open.delete(owner);
      clearTimeout(timer);
      if (given !== 'void') questionEnded(given === true);
      if (given === false || given === undefined) refuse(owner, place, given === false ? 'no' : 'none');
      void question.opened.then((w) => (w?.id === undefined ? undefined : chrome.windows.remove(w.id)), () => {}).catch(() => {});
      resolve(given === 'void' ? undefined : given);
    },
  };
  const timer = setTimeout(() => question.settle(undefined), ASKING_MS);
  open.set(owner, question);
  void chrome.tabs.get(tabId).then((tab) => { question.title = harmless(tab.title ?? '', 80); tell(question); }, () => {});
  question.opened.catch(() => question.settle('void'));
  return question;
}

/** The answer, as far as the call can wait for it. The question outlives a call whose time is up: people are slower than programs. */
async function held(call: Call, question: Question): Promise<boolean | undefined> {
  let stop = () => {};
  const over = new Promise<undefined>((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, Math.min(ASKING_MS, remaining(call) - ANSWER_MS)), undefined);
    const onAbort = () => {
      // Nobody waits for it any more.
      if (call.deadline > Date.now() + ANSWER_MS) question.settle(undefined);
      resolve(undefined);
    };
    call.signal.addEventListener('abort', onAbort, { once: true });
    stop = () => { clearTimeout(timer); call.signal.removeEventListener('abort', onAbort); };
  });
  try {
    return await Promise.race([question.answer, over]);
  } finally {
    stop();
  }
}

function tell(question: Question): void {
  const asked: Asked = { name: calledAs(question.owner), place: question.place, title: question.title };
  question.port?.postMessage(asked);
}

/** To be called at the top level of the worker. */
export function watchPrompts(): void {
  chrome.runtime.onConnect.addListener((port) => {
    if (port.name === PORT) void connected(port).catch(() => port.disconnect());
  });
  chrome.windows.onRemoved.addListener(closed);
  onNames(() => { for (const question of open.values()) tell(question); });
  // Paused, stopped, or no longer to be asked: there is nothing to answer.
  onPolicy(() => {
    if (policy.paused || userTabs !== 'ask') for (const question of [...open.values()]) question.settle('void');
  });
}

/** A window that is closed before it could say anything. */
function closed(windowId: number): void {
  for (const question of open.values()) void question.opened.then((w) => { if (w?.id === windowId) question.settle(false); }, () => {});
}

/** Only the very window that was opened for a question is heard on it. */
async function connected(port: chrome.runtime.Port): Promise<void> {
  const { sender } = port;
  const [page, id] = (sender?.url ?? '').split('#');
  const question = [...open.values()].find((q) => q.id === id);
  const window = await question?.opened;
  if (!question || sender?.id !== chrome.runtime.id || page !== chrome.runtime.getURL('prompt.html') || window?.id === undefined || sender.tab?.windowId !== window.id || question.port) {
    port.disconnect();
    return;
  }
  question.port = port;
  question.shownAt = Date.now();
  port.onMessage.addListener((message: unknown) => {
    const answered = message as Answered | null;
    if (typeof answered?.yes !== 'boolean' || Date.now() - question.shownAt < ARMED_MS || open.get(question.owner) !== question) return;
    if (!answered.yes) return question.settle(false);
    void grant(question.owner, calledAs(question.owner), question.place).then(() => question.settle(true));
  });
  // Closed without an answer.
  port.onDisconnect.addListener(() => question.settle(false));
  tell(question);
}
