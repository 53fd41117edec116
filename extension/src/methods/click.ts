// click: one click on the element that the target means, once it can take it; and what that led to.
import type { Call, Handler } from '../call';
import { debugging } from '../debugger/attach';
import { clickAt } from '../debugger/input';
import { modifierBits } from '../debugger/keys';
import { act, told } from '../debugger/trusted';
import type { ClickParams, ClickResult } from '../generated/methods';
import type { Answer } from '../page/act/answer';
import type { Clicked } from '../page/act/click';
import type { Doc } from '../tabs/document';
import { admitAddress } from '../tabs/admission';
import { watchEffects, type EffectsWatch } from '../tabs/effects';
import { onElement } from '../tabs/element';
import { openTab } from '../tabs/open';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

/** A page that does not answer within this time has gone, or is busy with what it has fetched. */
const LOOK_MS = 1000;

export const handler: Handler<ClickParams, ClickResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  const effects = watchEffects(call, id);
  try {
    // A link for a new tab is opened by the worker: there is nothing for a trusted click to do better.
    if (params.trusted && !params.new_tab) return await trustedClick(call, id, params, effects);
    const how = { newTab: params.new_tab, button: params.button, clickCount: params.click_count, modifiers: params.modifiers };
    let doc: Doc | undefined;
    const clicked = await onElement<Clicked>(call, id, 'click', params, how, (worked) => { doc = worked; });
    return await afterClick(call, { tabId: id, documentId: doc?.documentId }, clicked, effects, params.new_tab === true);
  } finally {
    effects.stop();
  }
};

async function trustedClick(call: Call, tabId: number, params: ClickParams, effects: EffectsWatch): Promise<ClickResult> {
  const { button = 'left', click_count: clickCount = 1, modifiers = [] } = params;
  const held = modifierBits(modifiers);
  const stay = button === 'left' && held === 0;
  let from = 0;
  const done = await debugging(call, tabId, (send) =>
    act(call, tabId, params, { press: true, presses: clickCount, stay }, held, send, (aimed) => {
      from = Date.now();
      return clickAt(send, aimed.at, { button, clickCount, modifiers: held });
    }));
  const seen = done.dialog ? {} : await effects.seen(done.leads, { downloads: done.downloads, during: { from, to: Date.now() } }, looksOn(call, tabId, done.doc.documentId));
  return { clicked: done.element, ...done.found, tab_id: tabId, ...told(done.dialog), ...seen, ...noted(done.lost, done.heldBack, seen.note) };
}

interface Place { tabId: number; documentId: string | undefined }

/** Does what only the worker can do for a click, and puts the result together. */
export async function afterClick<R extends Clicked>(call: Call, { tabId, documentId }: Place, { open, follow, code, leads, downloads, windows, unopened, during, heldBack, ...clicked }: R, effects: EffectsWatch, newTab: boolean) {
  if (open !== undefined) return { ...clicked, tab_id: await openLink(call, open) };
  if (follow !== undefined) admitAddress(follow);
  if (follow !== undefined) await chrome.tabs.update(tabId, { url: follow });
  if (code !== undefined && documentId !== undefined) await runCode(tabId, documentId, code);
  const seen = await effects.seen(leads === true || follow !== undefined || newTab, { downloads, windows, unopened, during }, looksOn(call, tabId, documentId));
  // Asked for a new tab, and the page opened one by itself: that is the one.
  const tab_id = newTab && seen.opened?.[0] ? seen.opened[0].tab_id : tabId;
  return { ...clicked, tab_id, ...seen, ...noted(clicked.note, heldBack, seen.note) };
}

/** The notes as one. */
export function noted(...all: (string | undefined)[]): { note?: string } {
  const notes = all.filter((n) => n !== undefined);
  return notes.length ? { note: notes.join('; ') } : {};
}

/** Looks on in a page that is fetching what it will answer with, or has put it off. */
const looksOn = (call: Call, tabId: number, documentId: string | undefined) => async (ms: number, timers = false): Promise<Answer> =>
  documentId === undefined ? {} : Promise.race([
    callPage<Answer>(call, tabId, 'answering', { ms, timers }, { documentId }).catch(() => ({})),
    new Promise<Answer>((r) => setTimeout(r, timers ? ms : LOOK_MS, {})),
  ]);

/** Follows a javascript: link as the page itself would, under the page's own security policy. */
async function runCode(tabId: number, documentId: string, href: string): Promise<void> {
  const func = (code: string) => { location.href = code; };
  await chrome.scripting.executeScript({ target: { tabId, documentIds: [documentId] }, world: 'MAIN', injectImmediately: true, func, args: [href] }).catch(() => {});
}

/** The tab begins with the link's page, so whatever comes next in it waits for that page. */
async function openLink(call: Call, url: string): Promise<number> {
  admitAddress(url);
  call.acted();
  return (await openTab(call, { url })).id;
}
