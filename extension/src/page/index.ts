// The bundle that runs inside pages, in the extension's isolated world: a registry of operations and the one entry point that
// the worker calls through chrome.scripting.executeScript. Nothing of it is visible to the page's own scripts. What only reading needs
// is a bundle of its own (reading.ts), put in on first need: it is more than half of the code, and every new page would pay for it.
import { pointOut, setWish } from '../overlay/draw';
import type { OverlayWish } from '../overlay/settings';
import { watchEdits } from './act/edited';
import { actOps } from './act-ops';
import { beginnersHear } from './begun';
import { commonOps, parsed } from './common-ops';
import { FRESH_MS, type PageContext, type PageOp } from './context';
import { isPageError, PageError } from './error';
import { fileOps } from './file-ops';
import { waitOps } from './wait-ops';

const ops: Record<string, PageOp> = Object.assign(Object.create(null) as Record<string, PageOp>, { ...commonOps, ...actOps, ...waitOps, ...fileOps });

/** What an operation comes to. executeScript swallows exceptions, so failures travel as data. */
export type Outcome =
  | { ok: unknown }
  | { error: { code: string; message: string; maybe_executed?: boolean; left?: boolean } }
  | { missing: Bundle };

/** The files that make up the page code. */
export type Bundle = 'page.js' | 'reading.js';

export interface RunContext {
  run: string;
  /** When the caller stops waiting, in Date.now() milliseconds. */
  deadline: number;
  /** Work that the page gets to later than this (it was blocked) is refused: its caller has been answered already. */
  startBy: number;
  /** When this was sent; it may have waited for the page. */
  sentAt: number;
  ready: 'document' | 'parsed';
  /** What a person is to see of it. */
  show?: OverlayWish;
  /** By which name the page's own world tells what the page begins, where it does. */
  begun?: string;
}

export interface PageApi {
  build: string;
  /** Takes in the operations of another bundle. */
  add(more: Record<string, PageOp>): void;
  run(op: string, args: unknown, ctx: RunContext): Promise<Outcome>;
  cancel(run: string): void;
  /** A sign of life from the worker, sent at that time. */
  beat(sentAt: number): void;
}

/** An act is refused when the worker's last sign of life is older than this: it has given the page up as blocked. */
const LEASE_MS = 4500;
/** How long `ready: 'parsed'` waits for the parser. */
const PARSE_MS = 10_000;
let lastBeat = 0;
/** When the worker sent the last of what has come from it. */
let lastSign = 0;
/** The document is going: what it cancels nobody has asked to be cancelled. */
let leaving = false;

const running = new Map<string, AbortController>();

async function run(op: string, args: unknown, { run, deadline, startBy, sentAt, ready, show, begun }: RunContext): Promise<Outcome> {
  if (!ops[op]) return { missing: 'reading.js' };
  if (Date.now() > startBy) return { error: { code: 'CANCELLED', message: 'the page got to the command only after its caller had been answered' } };
  lastBeat = Math.max(lastBeat, Date.now());
  lastSign = Math.max(lastSign, sentAt);
  if (op !== 'tick') setWish(show);
  if (begun !== undefined) beginnersHear(begun);
  const controller = new AbortController();
  running.set(run, controller);
  const context: PageContext = {
    run,
    deadline,
    signal: controller.signal,
    acted(report) {
      // Gone on the quiet would be worse than not done: whoever was told that this failed must not find it done later.
      if (controller.signal.aborted || Date.now() > deadline || Date.now() - lastBeat > LEASE_MS) {
        throw new PageError('CANCELLED', 'the command was over before it could act');
      }
      // The worker may be gone or the extension reloaded; the act itself must not fail on that.
      try { chrome.runtime.sendMessage({ type: 'acted', run, report }).catch(() => {}); } catch { /* orphaned */ }
      pointOut();
    },
    wanted: () => (Date.now() - lastSign <= FRESH_MS ? null : askWanted(run, controller.signal)),
  };
  try {
    const f = ops[op];
    if (!f) throw new PageError('INTERNAL_ERROR', `unknown page operation: ${op}`);
    const asking = op === 'tick' ? null : context.wanted();
    if (asking) await asking;
    if (ready === 'parsed') await parsed(Math.min(PARSE_MS, (deadline - Date.now()) / 2), controller.signal);
    const value = await f(args as never, context);
    return { ok: value === undefined ? null : value };
  } catch (e) {
    if (isPageError(e)) return { error: { code: e.code, message: e.message, ...e.extra, ...(e.code === 'CANCELLED' && leaving ? { left: true } : {}) } };
    return { error: { code: 'INTERNAL_ERROR', message: e instanceof Error ? `${e.name}: ${e.message}` : String(e) } };
  } finally {
    running.delete(run);
  }
}

async function askWanted(run: string, signal: AbortSignal): Promise<void> {
  const at: unknown = await Promise.resolve(chrome.runtime.sendMessage({ type: 'wanted', run })).catch(() => undefined);
  if (typeof at !== 'number' || signal.aborted) throw new PageError('CANCELLED', 'the command was over before it could act');
  lastSign = Math.max(lastSign, at);
}

const scope = globalThis as { __bridged?: PageApi };
// A newer build replaces an older one that an extension update left behind in the page.
if (scope.__bridged?.build !== __BUILD__) {
  scope.__bridged = {
    build: __BUILD__,
    add: (more) => void Object.assign(ops, more),
    run,
    cancel: (id) => running.get(id)?.abort(),
    beat: (t) => { lastBeat = Math.max(lastBeat, t); lastSign = Math.max(lastSign, t); },
  };
  watchEdits();
  addEventListener('pagehide', () => {
    leaving = true;
    for (const controller of running.values()) controller.abort();
  });
  // Brought back from the browser's cache.
  addEventListener('pageshow', () => { leaving = false; });
}
