// run_script: evaluates an expression in a page, in a world of its own that the page's content security policy does not bind.
import type { Call, Handler } from '../call';
import { BridgeError } from '../errors';
import type { RunScriptParams, RunScriptResult } from '../generated/methods';
import { findDocument, type Doc } from '../tabs/document';
import { documentGone, guard, startBy } from '../tabs/guard';
import { resolveTab } from '../tabs/resolve';
import { serialise } from './run_script/serialise';

export const handler: Handler<RunScriptParams, RunScriptResult> = async ({ code, ...params }, call) => {
  if (!code.trim()) throw new BridgeError('INVALID_PARAMS', 'code is empty: it takes a JavaScript expression');
  const { id } = await resolveTab(params, call);
  await prepareWorld();
  const doc = await findDocument(call, id);
  const result = await execute(call, doc, code);
  return { ...(result === undefined ? {} : { result }), tab_id: id };
};

const WORLD = 'bridged';
let prepared: Promise<void> | undefined;

/** A world's policy counts only for documents that have not made the world yet, so it is set before the first script. */
export async function prepareWorld(): Promise<void> {
  // Chrome leaves the whole API out while its switch is off, and puts it in as soon as the user turns it on.
  const { userScripts } = chrome as { userScripts?: typeof chrome.userScripts };
  if (typeof userScripts?.execute !== 'function') {
    throw new BridgeError('UNSUPPORTED', `run_script needs Chrome's switch "Allow User Scripts" for this extension: open chrome://extensions/?id=${chrome.runtime.id} and turn it on`);
  }
  prepared ??= userScripts.configureWorld({ worldId: WORLD, csp: "script-src 'self' 'unsafe-eval'; object-src 'none'", messaging: false });
  await prepared.catch((e: unknown) => { prepared = undefined; throw e; });
}

/**
 * The value of the code as a script; or, if it only parses with `await` or `return` at its top, as the body of an async function. Goes
 * into the page as text. Code is run a second way only if it certainly did not run the first way: a SyntaxError can also come from
 * code that ran.
 */
function evaluate(code: string): unknown {
  try {
    return (0, eval)(code);
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- running code is what this method is for
    const parses = (body: string) => { try { new Function(body); return true; } catch { return false; } };
    if (e.message !== 'Illegal return statement' && parses(code)) throw e;
    const AsyncFunction = (async () => {}).constructor as new (body: string) => () => Promise<unknown>;
    for (const body of [`return (${code}\n)`, code]) {
      let f: () => Promise<unknown>;
      try { f = new AsyncFunction(body); } catch { continue; }
      return f();
    }
    throw e;
  }
}

type Told = { ok: true; json?: string } | { ok: false; error: string } | { late: true };

export async function execute(call: Call, doc: Doc, code: string): Promise<unknown> {
  // The code goes in as a string to an indirect eval: a syntax error is then thrown where it can be caught, and the code sees no
  // variable of ours.
  const source = `(async () => {
    if (Date.now() > ${startBy(call)}) return { late: true };
    const serialise = ${serialise.toString()};
    const text = (e) => e instanceof Error || (e && typeof e === 'object' && typeof e.message === 'string' && typeof e.name === 'string')
      ? e.name + ': ' + e.message : e === undefined ? 'rejected without a reason' : typeof e === 'string' ? e : serialise(e) ?? String(e);
    const evaluate = ${evaluate.toString()};
    try { return { ok: true, json: serialise(await evaluate(${JSON.stringify(code)})) }; } catch (e) {
      try { return { ok: false, error: text(e) }; } catch { return { ok: false, error: 'a value that cannot be shown was thrown' }; }
    }
  })()`;
  call.acted();
  const told = await guard<Told | undefined>(call, doc, async () => {
    const [injected] = await chrome.userScripts.execute({
      target: { tabId: doc.tabId, documentIds: [doc.documentId] }, worldId: WORLD, injectImmediately: true, js: [{ code: source }],
    });
    const result = injected?.result as Told | undefined | null;
    if (!result) throw injected?.error ? new BridgeError('SCRIPT_ERROR', injected.error) : documentGone(doc);
    return result;
  });
  if (!told) throw documentGone(doc);
  if ('late' in told) throw new BridgeError('PAGE_BLOCKED', `the page in tab ${doc.tabId} got to the script too late`);
  if (!told.ok) throw new BridgeError('SCRIPT_ERROR', told.error);
  return told.json === undefined ? undefined : (JSON.parse(told.json) as unknown);
}
