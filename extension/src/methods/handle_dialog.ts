// handle_dialog: answers the dialog that a page shows. It does not wait for the tab's other calls: they wait for the dialog.
import { remaining, type Call, type Handler } from '../call';
import { debugging } from '../debugger/attach';
import { dialogClosed, dialogOf, messageOf } from '../debugger/dialogs';
import { watchForDialogs } from '../debugger/watchful';
import { BridgeError } from '../errors';
import type { HandleDialogParams, HandleDialogResult } from '../generated/methods';
import { liveTab } from '../tabs/document';
import { mayGoOn } from '../tabs/guard';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

/** A dialog is drawn a moment after the act that led to it. */
const COMING_MS = 300;
const CLOSED_MS = 3000;
const ALIVE_MS = 1000;

export const handler: Handler<HandleDialogParams, HandleDialogResult> = async ({ accept, prompt_text, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  for (const end = Date.now() + COMING_MS; !dialogOf(id) && Date.now() < end;) await new Promise((r) => setTimeout(r, 30));
  const dialog = dialogOf(id);
  if (!dialog) throw await none(call, id);
  if (prompt_text !== undefined && dialog.type !== 'prompt') throw new BridgeError('INVALID_PARAMS', `invalid params: prompt_text goes with a prompt, and this is ${dialog.type === 'alert' ? 'an alert' : `a ${dialog.type}`}`);
  await debugging(call, id, async (send) => {
    await mayGoOn(id);
    call.acted();
    // A prompt that is accepted without a text gives back what it offered, as when a person presses OK.
    const promptText = dialog.type === 'prompt' ? { promptText: prompt_text ?? dialog.default ?? '' } : {};
    await send('Page.handleJavaScriptDialog', { accept, ...promptText }).catch((e: unknown) => {
      // The page was left, or somebody else has answered it.
      throw e instanceof BridgeError && /No dialog is showing/i.test(e.message) ? noDialog(id) : e;
    });
    await dialogClosed(id, remaining(call, CLOSED_MS));
  });
  return { type: dialog.type, message: messageOf(dialog), accepted: accept, tab_id: id };
};

const noDialog = (tabId: number) => new BridgeError('INVALID_REQUEST', `tab ${tabId} shows no dialog`);

async function none(call: Call, tabId: number): Promise<BridgeError> {
  // Whoever asks expects dialogs here: from now on the debugger is there before an act, and sees them.
  watchForDialogs(tabId);
  const alive = await Promise.race([
    callPage(call, tabId, 'viewport', null).then(() => true, (e: unknown) => !(e instanceof BridgeError && e.code === 'PAGE_BLOCKED')),
    new Promise<false>((r) => setTimeout(r, Math.min(ALIVE_MS, remaining(call)), false)),
  ]);
  await liveTab(tabId);
  if (alive) return noDialog(tabId);
  return new BridgeError('PAGE_BLOCKED', `the page in tab ${tabId} does not react, and no dialog is known: one that opened while the debugger was away can only be closed by hand or with close_tab. ` +
    'From now on dialogs of this tab are seen; click with trusted also sees those that it opens');
}
