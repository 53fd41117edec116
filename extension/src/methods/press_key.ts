// press_key: one key press in the element that the target means, or in whatever has the focus; what that led to, and with wait_load the page.
import { remaining, type Call, type Handler } from '../call';
import { BridgeError } from '../errors';
import type { PressKeyParams, PressKeyResult } from '../generated/methods';
import type { FocusInFrame, Pressed } from '../page/act/press';
import { findDocument } from '../tabs/document';
import { watchEffects } from '../tabs/effects';
import { childAt, onElement, type InFrame } from '../tabs/element';
import { watchNavigation } from '../tabs/navigation-watch';
import { callPage } from '../tabs/page';
import { noted } from './click';
import { resolveTab } from '../tabs/resolve';

/** How long a page may take to set off for another one after the key. */
const BEGIN_MS = 1000;

export const handler: Handler<PressKeyParams, PressKeyResult> = async ({ key, modifiers = [], target, timeout, wait_load, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const press = async () => {
    const effects = watchEffects(call, id);
    try {
      const { leads, downloads, windows, unopened, during: _, heldBack, ...pressed } = target
        ? await onElement<Pressed>(call, id, 'press', { target, timeout }, { key, modifiers })
        : await pressHere(call, id, key, modifiers);
      // What a page fetches because of a key, as it does for each letter that is typed, is not waited for.
      const seen = await effects.seen(leads === true && !wait_load, { downloads, windows, unopened });
      return { ...pressed, tab_id: id, ...seen, ...noted(pressed.note ?? heldBack, seen.note) };
    } finally {
      effects.stop();
    }
  };
  if (!wait_load) return press();
  const watch = watchNavigation(call, id);
  try {
    const pressed = await press();
    const end = Date.now() + Math.min(BEGIN_MS, remaining(call));
    while (!watch.begun() && Date.now() < end && !call.signal.aborted) await new Promise((r) => setTimeout(r, 20));
    if (!watch.begun()) return { ...pressed, loaded: false };
    const { url, title, loaded } = await watch.arrival('load');
    return { ...pressed, url, title, loaded };
  } finally {
    watch.stop();
  }
};

async function pressHere(call: Call, tabId: number, key: string, modifiers: string[]): Promise<InFrame<Pressed>> {
  let doc = await findDocument(call, tabId);
  for (let depth = 0; depth < 20; depth++) {
    const result = await callPage<Pressed | FocusInFrame>(call, tabId, 'press_here', { key, modifiers }, { documentId: doc.documentId });
    if (!('focusInFrame' in result)) return depth ? { ...result, frame: doc.url } : result;
    const child = await childAt(call, tabId, doc.frameId, result.focusInFrame.index);
    if (!child) break;
    doc = { ...child, tabId };
  }
  throw new BridgeError('ELEMENT_NOT_ACTIONABLE', 'the focus is in a frame whose page cannot be worked on');
}
