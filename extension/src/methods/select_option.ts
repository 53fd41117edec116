// select_option: one option of a select, by its text, value or index.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { SelectOptionParams, SelectOptionResult } from '../generated/methods';
import type { Selected } from '../page/act/options';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<SelectOptionParams, SelectOptionResult> = async ({ value, text, index, ...params }, call) => {
  if (value === undefined && text === undefined && index === undefined) throw new BridgeError('INVALID_PARAMS', 'invalid params: one of value, text or index says which option');
  const { id } = await resolveTab(params, call);
  return { ...(await onElement<Selected>(call, id, 'select', params, { option: { value, text, index } })), tab_id: id };
};
