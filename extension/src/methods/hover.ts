// hover: the pointer is moved onto an element and stays there, so that what opens under it is open.
import type { Handler } from '../call';
import { debugging } from '../debugger/attach';
import { act, told } from '../debugger/trusted';
import type { HoverParams, HoverResult } from '../generated/methods';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<HoverParams, HoverResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  const done = await debugging(call, id, (send) => act(call, id, params, { hover: true }, 0, send, () => Promise.resolve()));
  return { element: done.element, ...done.found, tab_id: id, ...told(done.dialog) };
};
