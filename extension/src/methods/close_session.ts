// close_session: ends a session; its tabs are closed, and no others.
import type { Handler } from '../call';
import type { CloseSessionParams, CloseSessionResult } from '../generated/methods';
import { closeTab } from '../tabs/close';
import { dissolve } from '../tabs/sessions';

export const handler: Handler<CloseSessionParams, CloseSessionResult> = async ({ session_id, close_tabs = true }, call) => {
  const { closing, staying } = await dissolve(call, session_id, close_tabs);
  call.acted();
  const outcomes = await Promise.all(closing.map((id) => closeTab(call, id).then(() => id, () => undefined)));
  return { session_id, closed: outcomes.filter((id) => id !== undefined), ...(staying.length ? { kept: staying } : {}) };
};
