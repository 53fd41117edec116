// select_option: one option of a select, by its text, value or index.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { SelectOptionParams, SelectOptionResult } from '../generated/methods';
import type { Selected } from '../page/act/options';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';
import { standing } from '../tabs/standing';

export const handler: Handler<SelectOptionParams, SelectOptionResult> = async ({ value, text, index, ...params }, call) => {
  if (value === undefined && text === undefined && index === undefined) throw new BridgeError('INVALID_PARAMS', 'invalid params: one of value, text or index says which option');
  const { id } = await resolveTab(params, call);
  const done = await standing(call, id, (fill) => fill((worked) => onElement<Selected>(call, id, 'select', params, { option: { value, text, index } }, worked)));
  return { ...done, tab_id: id };
};
