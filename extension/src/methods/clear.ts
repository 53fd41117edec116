// clear: a field is emptied.
import type { Handler } from '../call';
import type { ClearParams, ClearResult } from '../generated/methods';
import type { Filled } from '../page/act/value';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ClearParams, ClearResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  const { value: _, ...cleared } = await onElement<Filled>(call, id, 'set_value', params, { value: '' });
  return { ...cleared, tab_id: id };
};
