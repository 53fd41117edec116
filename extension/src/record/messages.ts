// What a page writes to the console, and what the browser says there about it, as texts.
import { sites } from '../policy/policy';
import { deepen, isDeep } from './deeper';
import { Recorder, type Recording } from './recorder';
import { format, show, type Remote } from './values';

export const LEVELS = ['debug', 'info', 'warning', 'error'] as const;
/** `log` is as severe as `info`; `warn` is the name that pages know. */
const SAME: Record<string, (typeof LEVELS)[number]> = { log: 'info', warn: 'warning' };
export type Level = (typeof LEVELS)[number] | 'log' | 'warn';
const severity = (level: Level) => LEVELS.indexOf(SAME[level] ?? (level as (typeof LEVELS)[number]));

export interface Message {
  level: 'debug' | 'log' | 'info' | 'warning' | 'error';
  text: string;
  /** The page's own words, an error that nobody caught, or the browser's remarks. */
  source: 'console' | 'exception' | 'browser';
  /** Milliseconds since 1970. */
  at: number;
  url?: string;
  line?: number;
}

/** With the origin of the page that it is of, or those of the pages of which it may be; they are not shown. */
type Entry = Message & { origins: string[]; exception?: string };

const TEXT_MOST = 10_000;
const IDLE_MS = 10 * 60_000;
/** Chrome itself tells up to 1000 at once, those from before. */
const FLOOD = 1500;

export const messages = new Recorder<Entry>({ name: 'console', domains: ['Runtime', 'Log'], idle_ms: IDLE_MS, flood: FLOOD, event, at: ({ timestamp }) => (typeof timestamp === 'number' ? timestamp : undefined) });

export const shown = ({ origins: _, exception: __, ...message }: Entry): Message => message;

/** What is of no page that is known is not told; the browser's remarks name addresses, also of others. */
const mayBeTold = ({ origins, url, source, text }: Entry) =>
  !sites.limited || (origins.length > 0 && [...origins, ...(url === undefined ? [] : [url]), ...(source === 'browser' ? (text.match(ADDRESS) ?? []) : [])].every((of) => sites.refusal(of) === undefined));
const ADDRESS = /\b(?:https?|wss?):\/\/[^\s'"]+/gi;

/** Whether the message is at least as severe, and of no denied site. */
export const atLeast = (level: Level | undefined) => (m: Entry): boolean => mayBeTold(m) && (level === undefined || severity(m.level) >= severity(level));

interface Frame { functionName?: string; url?: string; lineNumber?: number; columnNumber?: number }
interface Called { type: string; executionContextId?: number; args: Remote[]; timestamp: number; stackTrace?: { callFrames?: Frame[] } }
interface Thrown { timestamp: number; exceptionDetails: { exceptionId: number; text: string; executionContextId?: number; exception?: Remote; url?: string; lineNumber?: number; stackTrace?: { callFrames?: Frame[] } } }
interface Logged { entry: { source: string; level: string; text: string; timestamp: number; url?: string; lineNumber?: number } }

interface Context { session: string; origin: string; live: boolean }
/** Whose the scripts' contexts are, by session and number, in each recording; also those that are gone, of which messages may still come. */
const contexts = new WeakMap<Recording<Entry>, Map<string, Context>>();
const CONTEXTS_MOST = 5000;

function event(recording: Recording<Entry>, method: string, params: Record<string, unknown>, push: (message: Entry) => void, session = ''): void {
  const known = contexts.get(recording) ?? new Map<string, Context>();
  contexts.set(recording, known);
  const of = (id: number | undefined) => {
    const context = known.get(`${session} ${id}`);
    return { origins: context && isNamed(context.origin) ? [context.origin] : [] };
  };
  const any = () => ({ origins: [...new Set([...known.values()].filter((c) => c.live && c.session === session && isNamed(c.origin)).map((c) => c.origin))] });
  if (method === 'Runtime.executionContextCreated') {
    const { id, origin } = params.context as { id: number; origin: string };
    known.set(`${session} ${id}`, { session, origin, live: true });
    if (known.size > CONTEXTS_MOST) known.delete(known.keys().next().value!);
  } else if (method === 'Runtime.executionContextsCleared') {
    for (const context of known.values()) if (context.session === session) context.live = false;
  } else if (method === 'Runtime.executionContextDestroyed') {
    const context = known.get(`${session} ${String(params.executionContextId)}`);
    if (context) context.live = false;
  } else if (method === 'Runtime.consoleAPICalled') {
    const { type, args, timestamp, stackTrace, executionContextId } = params as unknown as Called;
    if (type === 'endGroup' || type === 'clear') return;
    const words = () => cut(wordsOf(type, format(args), stackTrace?.callFrames));
    const message: Entry = { level: levelOf(type), text: words(), source: 'console', at: Math.round(timestamp), ...place(stackTrace?.callFrames?.[0]), ...of(executionContextId) };
    push(message);
    if (isDeep(args)) complete(recording, session, args, () => { message.text = words(); });
  } else if (method === 'Runtime.exceptionThrown') {
    const { timestamp, exceptionDetails: e } = params as unknown as Thrown;
    const what = e.exception ? show(e.exception) : '';
    push({ level: 'error', text: cut(what ? `${e.text === 'Uncaught' ? 'Uncaught ' : `${e.text} `}${what}` : e.text), source: 'exception', at: Math.round(timestamp), ...place(e.stackTrace?.callFrames?.[0] ?? e), ...of(e.executionContextId), exception: `${session} ${e.exceptionId}` });
  } else if (method === 'Runtime.exceptionRevoked') {
    // A rejection that was handled after all.
    const at = recording.entries.findIndex((m) => m.exception === `${session} ${String(params.exceptionId)}`);
    if (at >= 0) recording.entries.splice(at, 1);
  } else if (method === 'Log.entryAdded') {
    const { source, level, text, timestamp, url, lineNumber } = (params as unknown as Logged).entry;
    // What a worker says is told here by its page, and by the worker itself.
    if (source === 'worker') return;
    push({ level: level === 'verbose' ? 'debug' : levelOf(level), text: cut(text), source: 'browser', at: Math.round(timestamp), ...place({ url, lineNumber }), ...any() });
  }
}

/** An extension's own context is in every page, and one without an origin may be any site's. */
const isNamed = (origin: string) => URL.canParse(origin) && !/^chrome-extension:/i.test(origin);

/** As the console shows it: what kind of call it was, where the arguments do not say so. */
function wordsOf(type: string, text: string, stack: Frame[] = []): string {
  if (type === 'assert') return text && text !== 'console.assert' ? `Assertion failed: ${text}` : 'Assertion failed';
  if (type === 'trace') return [text || 'console.trace', ...stack.map((f) => `    at ${f.functionName || '<anonymous>'} (${f.url ?? ''}:${(f.lineNumber ?? 0) + 1}:${(f.columnNumber ?? 0) + 1})`)].join('\n');
  return text;
}

/** Messages that are being completed, in each recording. */
const underWay = new WeakMap<Recording<Entry>, { all: Set<Promise<void>>; opened: number }>();
/** Of more at once only the previews are told. */
const COMPLETED_MOST = 100;
const COMPLETE_MS = 1000;
/** After so many the page's objects are let go of, which a message that comes in that moment may lose its depth by. */
const RELEASE_AFTER = 500;

function complete(recording: Recording<Entry>, session: string, args: Remote[], then: () => void): void {
  const state = underWay.get(recording) ?? { all: new Set(), opened: 0 };
  underWay.set(recording, state);
  const { all } = state;
  if (all.size >= COMPLETED_MOST) return;
  const of = session === '' ? undefined : session;
  // A page that is left takes its objects along: then the preview stands.
  const work = deepen(args, (method, params) => recording.send(method, params, of)).then((any) => { if (any) then(); }, () => {}).finally(() => {
    all.delete(work);
    if (++state.opened < RELEASE_AFTER || all.size > 0) return;
    state.opened = 0;
    recording.send('Runtime.releaseObjectGroup', { objectGroup: 'console' }, of).catch(() => {});
  });
  all.add(work);
}

/** How long a page may take for its turn; one that stands still is not waited for. */
const TURN_MS = 300;

/**
 * Resolves when all has been heard that the page says by itself in its next turn (an error of a timer that an act has just begun), and the
 * messages are complete, as far as that takes no longer than it should.
 */
export async function caughtUp(recording: Recording<Entry>, tabId: number): Promise<void> {
  await soon(TURN_MS, async () => {
    await chrome.scripting.executeScript({ target: { tabId }, injectImmediately: true, func: () => new Promise<void>((r) => { setTimeout(r); }) });
    // The answer comes on the road of the messages, behind them.
    await recording.send('Runtime.getIsolateId');
  });
  await soon(COMPLETE_MS, () => Promise.all([...(underWay.get(recording)?.all ?? [])]));
}

async function soon(ms: number, work: () => Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([work().catch(() => {}), new Promise((r) => { timer = setTimeout(r, ms); })]);
  clearTimeout(timer);
}

function levelOf(type: string): Message['level'] {
  switch (type) {
    case 'error': case 'assert': return 'error';
    case 'warning': return 'warning';
    case 'debug': return 'debug';
    case 'info': return 'info';
    default: return 'log';
  }
}

const place = (frame: Frame | undefined) => ({ ...(frame?.url ? { url: frame.url.slice(0, 2000) } : {}), ...(frame?.url && frame.lineNumber !== undefined ? { line: frame.lineNumber + 1 } : {}) });
const cut = (text: string) => (text.length > TEXT_MOST ? `${text.slice(0, TEXT_MOST)}…` : text);
