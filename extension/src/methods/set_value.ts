// set_value: what a field holds is replaced, and read back.
import type { Handler } from '../call';
import type { SetValueParams, SetValueResult } from '../generated/methods';
import type { Filled } from '../page/act/value';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<SetValueParams, SetValueResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  return { ...(await onElement<Filled>(call, id, 'set_value', params, { value: params.value })), tab_id: id };
};
