// set_value: what a field holds is replaced, and read back.
import type { Handler } from '../call';
import type { SetValueParams, SetValueResult } from '../generated/methods';
import type { Filled } from '../page/act/value';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';
import { standing } from '../tabs/standing';

export const handler: Handler<SetValueParams, SetValueResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  const filled = await standing(call, id, (fill) => fill((worked) => onElement<Filled>(call, id, 'set_value', params, { value: params.value }, worked)));
  return { ...filled, tab_id: id };
};
