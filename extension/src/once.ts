// `once` makes a retry safe: the outcomes of write methods are kept for a while under the key the client chose, so that the same key
// is answered from here and never run a second time, not even after a restart of the worker.
import { BridgeError } from './errors';

/** What a call came to, without the id of its request. */
export type Answer =
  | { success: true; result: object }
  | { success: false; error: string; code: string; maybe_executed?: true };

interface Entry {
  once: string;
  method: string;
  /** What was asked for, as a fingerprint: a key that is used for something else must not be answered with this. */
  params: string;
  at: number;
  answer?: Answer;
}

const KEEP = 256;
const KEEP_MS = 10 * 60_000;
/** Beyond so many owners, those are looked for who did nothing for that long. */
const OWNERS = 100;
/** An outcome larger than this is not kept (storage.session holds 10 MB in all); its replay says that it may have been executed. */
const KEEP_CHARS = 32_768;

const journals = new Map<string, Promise<Entry[]>>();
const running = new Map<string, { of: string; answer: Promise<Answer> }>();

export const validOnce = (once: unknown): once is string => typeof once === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(once);

/** Runs `work` unless this owner's `once` was used before; says whether the answer is a replay. */
export async function runOnce(owner: string, once: string, method: string, given: unknown, work: () => Promise<Answer>): Promise<{ answer: Answer; replayed: boolean }> {
  const name = `${owner}\n${once}`;
  const params = await fingerprint(given);
  const of = `${method}\n${params}`;
  const current = running.get(name);
  if (current) {
    if (current.of !== of) throw reused(once, method, current.of.startsWith(`${method}\n`) ? method : 'another command');
    return { answer: await current.answer, replayed: true };
  }
  let settle!: (answer: Answer) => void;
  running.set(name, { of, answer: new Promise((r) => { settle = r; }) });
  let answer: Answer = { success: false, error: 'the outcome is not known', code: 'INTERNAL_ERROR', maybe_executed: true };
  try {
    const entries = await journal(owner);
    const known = entries.find((e) => e.once === once && e.at > Date.now() - KEEP_MS);
    if (known) {
      if (known.method !== method || known.params !== params) throw reused(once, method, known.method);
      if (known.answer) answer = known.answer;
      else answer = { success: false, error: 'this command was begun before; its outcome is not known', code: 'INTERNAL_ERROR', maybe_executed: true };
      return { answer, replayed: true };
    }
    const entry: Entry = { once, method, params, at: Date.now() };
    entries.push(entry);
    await store(owner, entries);
    answer = await work();
    if (JSON.stringify(answer).length <= KEEP_CHARS) entry.answer = answer;
    await store(owner, entries);
    return { answer, replayed: false };
  } finally {
    running.delete(name);
    settle(answer);
  }
}

const reused = (once: string, method: string, before: string) =>
  new BridgeError('INVALID_REQUEST', `once ${once} was used for ${before === method ? `${before} with other params` : before}: every command has a key of its own`);

/** The same for the same params, in whatever order their fields stand. */
async function fingerprint(params: unknown): Promise<string> {
  const text = JSON.stringify(params ?? {}, (_, value: unknown) =>
    (value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return [...hash.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const PREFIX = 'once:';
const keyOf = (owner: string) => PREFIX + owner;

async function others(owner: string): Promise<string[]> {
  const keys = Object.keys(await chrome.storage.session.get(null));
  return keys.filter((key) => key.startsWith(PREFIX) && key !== keyOf(owner)).map((key) => key.slice(PREFIX.length));
}

async function forget(owners: string[]): Promise<void> {
  for (const owner of owners) journals.delete(owner);
  await chrome.storage.session.remove(owners.map(keyOf));
}

/** Each command line is an owner of its own: those whose last outcome is too old to be asked for are forgotten. */
async function sweep(owner: string, oldest: number): Promise<void> {
  const all = await chrome.storage.session.get<Record<string, Entry[]>>((await others(owner)).map(keyOf));
  await forget(Object.entries(all).filter(([, entries]) => (entries.at(-1)?.at ?? 0) < oldest).map(([key]) => key.slice(PREFIX.length)));
}

function journal(owner: string): Promise<Entry[]> {
  let entries = journals.get(owner);
  if (!entries) {
    entries = chrome.storage.session.get(keyOf(owner)).then((all) => (all[keyOf(owner)] as Entry[] | undefined) ?? []);
    journals.set(owner, entries);
  }
  return entries;
}

async function store(owner: string, entries: Entry[]): Promise<void> {
  const oldest = Date.now() - KEEP_MS;
  let drop = Math.max(0, entries.length - KEEP);
  while (entries[drop] && (entries[drop]?.at ?? 0) < oldest) drop++;
  entries.splice(0, drop);
  try {
    await chrome.storage.session.set({ [keyOf(owner)]: entries });
  } catch {
    // Full: other owners' journals go, those of an earlier worker too.
    await forget(await others(owner));
    await chrome.storage.session.set({ [keyOf(owner)]: entries });
  }
  if (journals.size > OWNERS) await sweep(owner, oldest);
}
