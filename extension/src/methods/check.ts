// check: a check box, radio button or switch is as it is asked to be.
import type { Handler } from '../call';
import type { CheckParams, CheckResult } from '../generated/methods';
import type { Checked } from '../page/act/check';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';
import { standing } from '../tabs/standing';

export const handler: Handler<CheckParams, CheckResult> = async ({ checked = true, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const done = await standing(call, id, (fill) => fill((worked) => onElement<Checked>(call, id, 'check', params, { checked }, worked)));
  return { ...done, tab_id: id };
};
