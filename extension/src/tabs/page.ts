// callPage: runs one operation of the page bundle in a tab's document and brings back its result, or an error that says why not.
import type { Call } from '../call';
import { BridgeError, PageLeft, type ErrorCode } from '../errors';
import { overlayTold } from '../overlay/settings';
import type { Bundle, Outcome, PageApi, RunContext } from '../page/index';
import { asksBegun, seeingBegun } from './begun';
import { findDocument, type Doc, type Where } from './document';
import { documentGone, guard, NotStarted, startBy } from './guard';

export { framesOf, type Frame } from './document';

export interface PageOptions extends Where {
  /** 'parsed' waits (boundedly) until the HTML has been parsed; by default the operation starts as soon as there is a document. */
  ready?: 'document' | 'parsed';
  /**
   * If the document is left before the act, run the operation again in the one that follows. The arguments must then hold absolute
   * times (Date.now() milliseconds), as a relative timeout would start anew.
   */
  follow?: boolean;
}

export async function callPage<T>(call: Call, tabId: number, op: string, args: unknown, options: PageOptions = {}): Promise<T> {
  for (;;) {
    const doc = await findDocument(call, tabId, options);
    try {
      return await runIn<T>(call, doc, op, args, options.ready ?? 'document');
    } catch (e) {
      // A page that is being left cancels what waits in it; that news is often quicker than Chrome's own.
      const left = e instanceof PageLeft || (options.follow && e instanceof BridgeError && e.code === 'CANCELLED');
      const again = left && !e.extra.maybe_executed && (options.follow || e instanceof NotStarted);
      if (!again || options.documentId !== undefined || call.signal.aborted) throw e;
    }
  }
}

/** The operations that do something to the page by themselves. */
const ACTS = new Set(['click', 'click_at', 'check', 'press', 'press_here', 'scroll', 'select', 'set_value', 'upload']);

type Invoked = Outcome | null | undefined;

function runIn<T>(call: Call, doc: Doc, op: string, args: unknown, ready: 'document' | 'parsed'): Promise<T> {
  return guard<T>(call, doc, async (run, goOn) => {
    const [begun] = await Promise.all([asksBegun(op) ? seeingBegun(doc) : undefined, seen.has(doc.documentId) ? undefined : put(doc, 'page.js')]);
    goOn(ACTS.has(op));
    const context: RunContext = { run, deadline: call.deadline, startBy: startBy(call), sentAt: Date.now(), ready, ...overlayTold(), ...(begun === undefined ? {} : { begun }) };
    let outcome = await invoke(doc, op, args, context);
    for (let i = 0; i < 2 && outcome && 'missing' in outcome; i++) {
      await put(doc, outcome.missing);
      goOn();
      outcome = await invoke(doc, op, args, { ...context, sentAt: Date.now() });
    }
    if (!outcome) throw documentGone(doc);
    if ('missing' in outcome) throw new BridgeError('INTERNAL_ERROR', `unknown page operation: ${op}`);
    if ('ok' in outcome) return outcome.ok as T;
    const { code, message, maybe_executed, left } = outcome.error;
    if (left) throw documentGone(doc, maybe_executed ? { maybe_executed } : {});
    throw new BridgeError(code as ErrorCode, message, maybe_executed ? { maybe_executed } : {});
  });
}

/** Documents that have page.js, as far as this worker knows; asking first would cost each new page a round. */
const seen = new Set<string>();
const SEEN_MAX = 500;

async function put(doc: Doc, bundle: Bundle): Promise<void> {
  await chrome.scripting.executeScript({ target: { tabId: doc.tabId, documentIds: [doc.documentId] }, injectImmediately: true, files: [bundle] }).catch(notStarted);
  if (seen.size >= SEEN_MAX) seen.clear();
  seen.add(doc.documentId);
}

async function invoke(doc: Doc, op: string, args: unknown, context: RunContext): Promise<Invoked> {
  const injected = await chrome.scripting.executeScript({
    target: { tabId: doc.tabId, documentIds: [doc.documentId] },
    injectImmediately: true,
    func: (build: string, op: string, args: unknown, context: RunContext): Promise<Outcome> | Outcome => {
      const api = (globalThis as { __bridged?: PageApi }).__bridged;
      return api?.build === build ? api.run(op, args, context) : { missing: 'page.js' };
    },
    args: [__BUILD__, op, args ?? null, context],
  }).catch(notStarted);
  return injected[0]?.result;
}

/** "No document with id": nothing of ours ran there. Other texts are judged by the guard. */
function notStarted(thrown: unknown): never {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (/No document with id/i.test(text)) throw new NotStarted('the page was replaced before the command began');
  throw thrown;
}
