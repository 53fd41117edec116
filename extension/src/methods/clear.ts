// clear: a field is emptied.
import type { Handler } from '../call';
import type { ClearParams, ClearResult } from '../generated/methods';
import type { Filled } from '../page/act/value';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';
import { standing } from '../tabs/standing';

export const handler: Handler<ClearParams, ClearResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  const { value: _, ...cleared } = await standing(call, id, (fill) => fill((worked) => onElement<Filled>(call, id, 'set_value', params, { value: '' }, worked)));
  return { ...cleared, tab_id: id };
};
