// scroll: the window, or the container that the target means.
import type { Handler } from '../call';
import type { ScrollParams, ScrollResult } from '../generated/methods';
import type { Scrolled } from '../page/act/scroll';
import { onElement } from '../tabs/element';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ScrollParams, ScrollResult> = async ({ dx = 0, dy = 0, smooth = false, target, timeout, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const by = { dx, dy, smooth };
  const scrolled = target ? await onElement<Scrolled>(call, id, 'scroll', { target, timeout }, by) : await callPage<Scrolled>(call, id, 'scroll_window', by);
  return { ...scrolled, tab_id: id };
};
