// check: a check box, radio button or switch is as it is asked to be.
import type { Handler } from '../call';
import type { CheckParams, CheckResult } from '../generated/methods';
import type { Checked } from '../page/act/check';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<CheckParams, CheckResult> = async ({ checked = true, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  return { ...(await onElement<Checked>(call, id, 'check', params, { checked })), tab_id: id };
};
