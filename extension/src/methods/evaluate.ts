// evaluate: runs an expression in the page's own world, through the debugger. Off until the user turns it on (policy/policy.ts).
import { remaining, type Call, type Handler } from '../call';
import { debugging, type Send } from '../debugger/attach';
import { dialogOf, dialogOpen, onDialog } from '../debugger/dialogs';
import { BridgeError } from '../errors';
import type { EvaluateParams, EvaluateResult } from '../generated/methods';
import { admitNow } from '../tabs/admission';
import { findDocument, type Doc } from '../tabs/document';
import { BLOCKED_MS, documentGone } from '../tabs/guard';
import { resolveTab } from '../tabs/resolve';
import { resultOf, sourceOf, type Told } from './run_script/source';

const DEFAULT_TIMEOUT_MS = 10_000;
/** What stopping a script may take, of the time that the call has. */
const STOPPING_MS = 500;
/** A page that does not answer for so long is busy. */
const BUSY_MS = 250;

export const handler: Handler<EvaluateParams, EvaluateResult> = async ({ expression, timeout = DEFAULT_TIMEOUT_MS, ...params }, call) => {
  if (!expression.trim()) throw new BridgeError('INVALID_PARAMS', 'expression is empty: it takes a JavaScript expression');
  const { id } = await resolveTab(params, call);
  const doc = await findDocument(call, id);
  const told = await debugging(call, id, (send) => evaluate(call, doc, send, expression, timeout));
  if ('late' in told) throw blocked(id);
  if (!told.ok) throw new BridgeError('SCRIPT_ERROR', told.error);
  const result = resultOf(told);
  return { ...(result === undefined ? {} : { result }), type: told.type, tab_id: id };
};

async function evaluate(call: Call, doc: Doc, send: Send, expression: string, timeout: number): Promise<Told> {
  const shown = dialogOf(doc.tabId);
  if (shown) throw dialogOpen(doc.tabId, shown);
  // So that whatever keeps the page busy later is ours to stop.
  if (!(await reacts(send, remaining(call, BLOCKED_MS)))) throw blocked(doc.tabId);
  const limit = Math.max(1, Math.min(timeout, remaining(call) - STOPPING_MS));
  const over = new BridgeError('TIMEOUT', `timeout: the expression was not done after ${limit} ms`);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopDialogs = () => {};
  let onAbort = () => {};
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(over), limit + 50);
    stopDialogs = onDialog(doc.tabId, (dialog) => reject(dialogOpen(doc.tabId, dialog)));
    onAbort = () => reject(new BridgeError('CANCELLED', 'cancelled'));
    call.signal.addEventListener('abort', onAbort);
  });
  await admitNow(call, doc.tabId);
  call.acted();
  try {
    return await Promise.race([run(send, doc, expression, limit, over), ended]);
  } catch (e) {
    // What awaits something costs the page nothing; what keeps it busy is stopped.
    if (e === over || call.signal.aborted) await stop(send);
    throw e;
  } finally {
    clearTimeout(timer);
    stopDialogs();
    call.signal.removeEventListener('abort', onAbort);
  }
}

interface Evaluated { result: { value?: Told }; exceptionDetails?: { text?: string; exception?: { description?: string } } }

async function run(send: Send, doc: Doc, expression: string, limit: number, over: BridgeError): Promise<Told> {
  const startBy = Date.now() + limit;
  const { result, exceptionDetails } = await send<Evaluated>('Runtime.evaluate', {
    expression: sourceOf(expression, startBy), awaitPromise: true, returnByValue: true, timeout: limit, silent: true,
  }).catch((e: unknown) => {
    const text = e instanceof Error ? e.message : String(e);
    // What Chrome says of a script that it ended itself.
    if (Date.now() >= startBy && /terminated|Internal error/i.test(text)) throw over;
    if (/navigated|Cannot find context|context was destroyed/i.test(text)) throw documentGone(doc);
    if (/Promise was collected/i.test(text)) throw new BridgeError('SCRIPT_ERROR', 'the promise can never be settled: the page has dropped it');
    throw e;
  });
  if (exceptionDetails) throw new BridgeError('SCRIPT_ERROR', exceptionDetails.exception?.description ?? exceptionDetails.text ?? 'the script failed');
  if (!result.value) throw documentGone(doc);
  return result.value;
}

/** Ends the script that the page is busy with. A page that reacts has none, and would lose the next one that it runs. */
async function stop(send: Send): Promise<void> {
  try {
    if (!(await reacts(send, BUSY_MS))) await send('Runtime.terminateExecution');
  } catch { /* the page is gone, and the script with it */ }
}

async function reacts(send: Send, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<false>((resolve) => { timer = setTimeout(() => resolve(false), ms); });
  const answer = send('Runtime.evaluate', { expression: '1' }).then(() => true);
  answer.catch(() => {});
  try { return await Promise.race([answer, silence]); } finally { clearTimeout(timer); }
}

const blocked = (tabId: number) => new BridgeError('PAGE_BLOCKED', `the page in tab ${tabId} does not react: a script in it runs on, or it shows a dialog; close_tab closes it`);
