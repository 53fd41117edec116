// What a page writes to the console, and what the browser says there about it, as texts.
import { sites } from '../policy/policy';
import { Recorder, type Recording } from './recorder';

export const LEVELS = ['debug', 'info', 'warning', 'error'] as const;

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
type Entry = Message & { origins: string[] };

const TEXT_MOST = 10_000;
const IDLE_MS = 10 * 60_000;
/** Chrome itself tells up to 1000 at once, those from before. */
const FLOOD = 1500;

export const messages = new Recorder<Entry>({ name: 'console', domains: ['Runtime', 'Log'], idle_ms: IDLE_MS, flood: FLOOD, event });

export const shown = ({ origins: _, ...message }: Entry): Message => message;

/** What is of no page that is known is not told; the browser's remarks name addresses, also of others. */
const mayBeTold = ({ origins, url, source, text }: Entry) =>
  !sites.limited || (origins.length > 0 && [...origins, ...(url === undefined ? [] : [url]), ...(source === 'browser' ? (text.match(ADDRESS) ?? []) : [])].every((of) => sites.refusal(of) === undefined));
const ADDRESS = /\b(?:https?|wss?):\/\/[^\s'"]+/gi;

/** Whether the message is at least as severe, and of no denied site. */
export const atLeast = (level: (typeof LEVELS)[number] | undefined) => (m: Entry): boolean =>
  mayBeTold(m) && (level === undefined || LEVELS.indexOf(m.level === 'log' ? 'info' : m.level) >= LEVELS.indexOf(level));

interface Frame { url?: string; lineNumber?: number }
interface Called { type: string; executionContextId?: number; args: Remote[]; timestamp: number; stackTrace?: { callFrames?: Frame[] } }
interface Thrown { timestamp: number; exceptionDetails: { text: string; executionContextId?: number; exception?: Remote; url?: string; lineNumber?: number; stackTrace?: { callFrames?: Frame[] } } }
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
    push({ level: levelOf(type), text: cut(wordsOf(type, format(args))), source: 'console', at: Math.round(timestamp), ...place(stackTrace?.callFrames?.[0]), ...of(executionContextId) });
  } else if (method === 'Runtime.exceptionThrown') {
    const { timestamp, exceptionDetails: e } = params as unknown as Thrown;
    const what = e.exception ? show(e.exception) : '';
    push({ level: 'error', text: cut(what ? `${e.text === 'Uncaught' ? 'Uncaught ' : `${e.text} `}${what}` : e.text), source: 'exception', at: Math.round(timestamp), ...place(e.stackTrace?.callFrames?.[0] ?? e), ...of(e.executionContextId) });
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
function wordsOf(type: string, text: string): string {
  if (type === 'assert') return text && text !== 'console.assert' ? `Assertion failed: ${text}` : 'Assertion failed';
  return text || (type === 'trace' ? 'console.trace' : '');
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

interface Preview { subtype?: string; description?: string; overflow?: boolean; properties?: Property[]; entries?: { key?: Preview; value: Preview }[]; type?: string }
interface Property { name: string; type: string; subtype?: string; value?: string; valuePreview?: Preview }
interface Remote { type: string; subtype?: string; value?: unknown; unserializableValue?: string; description?: string; preview?: Preview }

/** The arguments as the console shows them: the first one may hold places for the others. */
function format(args: Remote[]): string {
  const [first, ...rest] = args;
  if (first?.type !== 'string' || !String(first.value).includes('%')) return args.map(show).join(' ');
  const text = String(first.value).replace(/%([sdifoOc%])/g, (whole, kind: string) => {
    if (kind === '%') return '%';
    if (!rest.length) return whole;
    const next = rest.shift()!;
    if (kind === 'c') return '';
    return kind === 'd' || kind === 'i' ? String(Math.trunc(Number(next.value))) : show(next);
  });
  return [text, ...rest.map(show)].join(' ');
}

function show(remote: Remote): string {
  if (remote.type === 'string') return String(remote.value);
  if (remote.unserializableValue !== undefined) return remote.unserializableValue;
  if (remote.type === 'undefined') return 'undefined';
  // null has an object's type and a value.
  if (remote.type !== 'object' && remote.type !== 'function' && remote.type !== 'symbol') return String(remote.value);
  if (remote.subtype === 'null') return 'null';
  if (remote.subtype === 'error' || remote.subtype === 'node' || remote.subtype === 'regexp' || remote.subtype === 'date' || !remote.preview) return remote.description ?? remote.type;
  return showPreview(remote.preview, remote.description);
}

function showPreview({ subtype, properties = [], entries, overflow, description }: Preview, name = description): string {
  const more = overflow ? ', …' : '';
  if (entries) return `${name ?? ''} {${entries.map(({ key, value }) => (key ? `${inner(key)} => ${inner(value)}` : inner(value))).join(', ')}${more}}`;
  const list = subtype === 'array' || subtype === 'typedarray';
  const shown = properties.map((p) => (list && /^\d+$/.test(p.name) ? property(p) : `${p.name}: ${property(p)}`)).join(', ') + more;
  return list ? `[${shown}]` : `${name && name !== 'Object' ? `${name} ` : ''}{${shown}}`;
}

const inner = (preview: Preview): string => (preview.properties?.length || preview.entries ? showPreview(preview) : preview.type === 'string' ? JSON.stringify(preview.description ?? '') : preview.description ?? preview.type ?? '');

function property({ type, value, valuePreview }: Property): string {
  if (valuePreview) return showPreview(valuePreview);
  if (type === 'object' && value === 'Object') return '{…}';
  return type === 'string' ? JSON.stringify(value ?? '') : type === 'function' ? 'ƒ' : value ?? type;
}
