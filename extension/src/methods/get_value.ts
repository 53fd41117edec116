// get_value: what an element holds now. An agent is not told what is in a password field.
import type { Handler } from '../call';
import type { GetValueParams, GetValueResult } from '../generated/methods';
import type { Value } from '../page/act/read-value';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<GetValueParams, GetValueResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  return { ...(await onElement<Value>(call, id, 'read_value', params, { redact: call.class === 'agent' })), tab_id: id };
};
