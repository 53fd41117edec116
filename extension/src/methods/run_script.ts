// run_script: evaluates an expression in a page, in a world of its own that the page's content security policy does not bind.
import type { Call, Handler } from '../call';
import { BridgeError } from '../errors';
import type { RunScriptParams, RunScriptResult } from '../generated/methods';
import { findDocument, type Doc } from '../tabs/document';
import { documentGone, guard, startBy } from '../tabs/guard';
import { resolveTab } from '../tabs/resolve';
import { resultOf, sourceOf, type Told } from './run_script/source';

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

export async function execute(call: Call, doc: Doc, code: string): Promise<unknown> {
  const source = sourceOf(code, startBy(call));
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
  return resultOf(told);
}
