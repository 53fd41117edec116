// type_text: a text is typed key by key, into the element that the target means or where the focus is; and read back.
import type { Call, Handler } from '../call';
import { debugging, type Send } from '../debugger/attach';
import { Hearing } from '../debugger/heard';
import { clickAt } from '../debugger/input';
import { os } from '../debugger/keys';
import { act, told, trusted } from '../debugger/trusted';
import { charactersOf, focusOf, readBack, typeOut } from '../debugger/typing';
import { BridgeError } from '../errors';
import type { TypeTextParams, TypeTextResult } from '../generated/methods';
import type { FocusTaken } from '../page/act/typing';
import { admitInput } from '../tabs/denied-frames';
import { watchEffects } from '../tabs/effects';
import { onElement, type ElementParams } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';

/** The field was fit a moment ago; an act that came between may have changed that. */
const AGAIN_MS = 1000;

export const handler: Handler<TypeTextParams, TypeTextResult> = async ({ text, target, timeout, delay_ms = 0, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const effects = watchEffects(call, id);
  try {
    // The field is waited for while other acts on the tab go on.
    if (target) await debugging(call, id, () => onElement<FocusTaken>(call, id, 'focus_typing', { target, timeout }, { look: true }));
    return await trusted(call, id, async (send) => {
      const taken = target && await takeFocus(call, id, send, { target, timeout: Math.min(timeout ?? AGAIN_MS, AGAIN_MS) });
      const shadow = taken?.shadow;
      const before = await focusOf(call, id);
      // An editor hands the focus on to a field of its own; one that nothing has is nobody's.
      if (taken && before.element.tag === 'body' && taken.element.tag !== 'body') throw new BridgeError('ELEMENT_NOT_ACTIONABLE', 'the element was found, but the page lets neither it nor anything else have the focus');
      call.acted();
      const system = await os();
      const characters = charactersOf(text);
      const dialog = await Hearing.during(call, before.doc, characters.length, (hearing) => typeOut(call, send, characters, delay_ms, system, () => admitInput(call, id, 'focus'), hearing));
      const value = dialog ? undefined : await readBack(call, id, before, text);
      return {
        typed: text, element: before.element, ...(value === undefined ? {} : { value }), ...(shadow ? { shadow } : {}), ...(before.frame === undefined ? {} : { frame: before.frame }),
        tab_id: id, ...told(dialog), ...(dialog ? {} : await effects.seen(false)),
      };
    });
  } finally {
    effects.stop();
  }
};

async function takeFocus(call: Call, tabId: number, send: Send, field: ElementParams): Promise<FocusTaken> {
  const taken = await onElement<FocusTaken>(call, tabId, 'focus_typing', field);
  // What takes no focus itself may hand it on when it is clicked, as the editors do that draw their own text.
  if (!taken.focused) await act(call, tabId, field, { press: true }, 0, send, ({ at }) => clickAt(send, at, { button: 'left', clickCount: 1, modifiers: 0 }), (work) => work(false));
  return taken;
}
