// send_keys: key strokes and shortcuts, one after the other, where the focus is.
import type { Handler } from '../call';
import { dialogOf } from '../debugger/dialogs';
import { Hearing } from '../debugger/heard';
import { untilDialog } from '../debugger/input';
import { os, parseKeys } from '../debugger/keys';
import { refuseDialog, told, trusted } from '../debugger/trusted';
import { focusedDocument, strike } from '../debugger/typing';
import type { SendKeysParams, SendKeysResult } from '../generated/methods';
import { admitInput } from '../tabs/denied-frames';
import { watchEffects } from '../tabs/effects';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<SendKeysParams, SendKeysResult> = async ({ keys, ...params }, call) => {
  const strokes = parseKeys(keys, await os());
  const { id } = await resolveTab(params, call);
  const effects = watchEffects(call, id);
  try {
    const dialog = await trusted(call, id, async (send) => {
      const admit = () => admitInput(call, id, 'focus');
      await admit();
      refuseDialog(id, dialogOf(id));
      const doc = await focusedDocument(call, id);
      call.acted();
      const sendAll = (hearing?: Hearing) => strike(send, strokes, admit, hearing);
      return doc ? Hearing.during(call, doc, strokes.length, sendAll) : untilDialog(id, () => sendAll());
    });
    const leads = strokes.some((s) => s.key === 'Enter');
    return { keys: strokes.map((s) => s.label), tab_id: id, ...told(dialog), ...(dialog ? {} : await effects.seen(leads)) };
  } finally {
    effects.stop();
  }
};
