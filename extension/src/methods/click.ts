// click: one click on the element that the target means, once it can take it; and what that led to.
import type { Call, Handler } from '../call';
import { BridgeError } from '../errors';
import type { ClickParams, ClickResult } from '../generated/methods';
import type { Clicked } from '../page/act/click';
import { closeTab } from '../tabs/close';
import { watchEffects, type Effects } from '../tabs/effects';
import { onElement } from '../tabs/element';
import { navigateTab, StillWaiting } from '../tabs/navigation';
import { openTab } from '../tabs/open';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ClickParams, ClickResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  const effects = watchEffects(call, id);
  try {
    const clicked = await onElement<Clicked>(call, id, 'click', params, {
      newTab: params.new_tab, button: params.button, clickCount: params.click_count, modifiers: params.modifiers,
    });
    return await afterClick(call, id, clicked, effects, params.new_tab === true);
  } finally {
    effects.stop();
  }
};

/** Does what only the worker can do for a click, and puts the result together. */
export async function afterClick<R extends Clicked>(call: Call, tabId: number, { open, follow, leads, ...clicked }: R, effects: { seen(likely: boolean): Promise<Effects> }, newTab: boolean) {
  if (open !== undefined) return { ...clicked, tab_id: await openLink(call, open) };
  if (follow !== undefined) {
    call.acted();
    await chrome.tabs.update(tabId, { url: follow });
  }
  const seen = await effects.seen(leads === true || follow !== undefined);
  // Asked for a new tab, and the page opened one by itself: that is the one.
  const tab_id = newTab && seen.opened?.[0] ? seen.opened[0].tab_id : tabId;
  return { ...clicked, tab_id, ...seen };
}

async function openLink(call: Call, url: string): Promise<number> {
  call.acted();
  const tab = await openTab(call);
  try {
    await navigateTab(call, tab.id, url, 'none');
  } catch (e) {
    if (!(e instanceof StillWaiting)) {
      await closeTab(call, tab.id).catch(() => {});
      if (e instanceof BridgeError) e.extra.maybe_executed = true;
      throw e;
    }
  }
  return tab.id;
}
