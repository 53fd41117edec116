// insert_text: puts a text in where the focus is, all at once, as an input method or the emoji picker does: no keys.
import type { Handler } from '../call';
import { Hearing } from '../debugger/heard';
import { told, trusted } from '../debugger/trusted';
import { focusOf, readBack } from '../debugger/typing';
import type { InsertTextParams, InsertTextResult } from '../generated/methods';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<InsertTextParams, InsertTextResult> = async ({ text, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  return trusted(call, id, async (send) => {
    const before = await focusOf(call, id);
    call.acted();
    const dialog = await Hearing.during(call, before.doc, 1, (hearing) => {
      hearing.next();
      hearing.sends();
      return send('Input.insertText', { text });
    });
    const value = dialog ? undefined : await readBack(call, id, before, text);
    return { text, element: before.element, ...(value === undefined ? {} : { value }), ...(before.frame === undefined ? {} : { frame: before.frame }), tab_id: id, ...told(dialog) };
  });
};
