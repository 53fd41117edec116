// Typing: key by key as far as there are keys, the rest as an input method gives it; and a look at what came of it.
import { remaining, type Call } from '../call';
import { BridgeError, PageLeft } from '../errors';
import type { FocusInFrame } from '../page/act/press';
import type { FocusState } from '../page/act/typing';
import { findDocument, type Doc } from '../tabs/document';
import { childAt } from '../tabs/element';
import { callPage } from '../tabs/page';
import type { Send } from './attach';
import type { Hearing } from './heard';
import { charStroke, eventsOf, type Os, type Stroke } from './keys';

/** So many events are on their way at once: waiting for each one takes a frame of the page's time. */
const WINDOW = 24;

/** Asked before keys are sent: a page may have gone elsewhere, or handed the focus on, because of those before. Throws where none may go. */
export type Admit = () => Promise<void>;

export async function strike(send: Send, strokes: Stroke[], admit: Admit, hearing?: Hearing): Promise<void> {
  for (const stroke of strokes) {
    await admit();
    hearing?.next();
    for (const event of eventsOf(stroke)) {
      if (event.type !== 'keyUp') hearing?.sends();
      await send('Input.dispatchKeyEvent', event);
    }
  }
}

/** What a person would call the characters of a text. */
export const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text.replace(/\r\n?/g, '\n'))].map(({ segment }) => segment);

export async function typeOut(call: Call, send: Send, characters: string[], delay: number, system: Os, admit: Admit, hearing: Hearing): Promise<void> {
  let pending: Promise<unknown>[] = [];
  for (const segment of characters) {
    if (!pending.length) await admit();
    hearing.next();
    const stroke = charStroke(segment, system);
    for (const event of stroke ? eventsOf(stroke) : []) {
      if (event.type !== 'keyUp') hearing.sends();
      pending.push(send('Input.dispatchKeyEvent', event));
    }
    if (!stroke) {
      hearing.sends();
      pending.push(send('Input.insertText', { text: segment }));
    }
    for (const p of pending) p.catch(() => {});
    if (delay > 0 || stroke?.key === 'Enter' || stroke?.key === 'Tab' || pending.length >= WINDOW) {
      await Promise.all(pending);
      pending = [];
    }
    if (delay > 0) await new Promise((r) => setTimeout(r, Math.min(delay, remaining(call))));
  }
  await Promise.all(pending);
}

export interface Focus extends FocusState { doc: Doc; frame?: string }

/** What has the focus, in whichever frame that is. */
export async function focusOf(call: Call, tabId: number): Promise<Focus> {
  let doc: Doc = await findDocument(call, tabId);
  for (let depth = 0; depth < 20; depth++) {
    const state = await callPage<FocusState | FocusInFrame>(call, tabId, 'focus_state', null, { documentId: doc.documentId });
    if (!('focusInFrame' in state)) return { ...state, doc, ...(depth ? { frame: doc.url } : {}) };
    const child = await childAt(call, tabId, doc.frameId, state.focusInFrame.index);
    if (!child) break;
    doc = { ...child, tabId };
  }
  throw new BridgeError('ELEMENT_NOT_ACTIONABLE', 'the focus is in a frame whose page cannot be worked on');
}

/**
 * The document that keys go to; the page's own where the focus is in a frame that cannot be worked on. None where the page itself cannot, as one of
 * `data:`: the browser's own input reaches it all the same.
 */
export async function focusedDocument(call: Call, tabId: number): Promise<Doc | undefined> {
  try {
    return (await focusOf(call, tabId)).doc;
  } catch (e) {
    if (e instanceof BridgeError && e.code === 'RESTRICTED_PAGE') return undefined;
    if (!(e instanceof BridgeError) || e.code !== 'ELEMENT_NOT_ACTIONABLE') throw e;
    return findDocument(call, tabId);
  }
}

/** How long an editor may take to show what was typed. */
const SHOWN_MS = 600;

/** Fields that hold the very characters that are typed; a date field orders them, an editor may make a list of "1. ". */
const PLAIN = /^(?:text|search|email|url|tel|password|number)$/;

/**
 * What the field holds afterwards. Throws if the text did not get there, or in a plain field if a letter or digit of it did not; its form
 * (a mask's brackets, capitals) and what is completed is told as it is. Undefined where there is no field, or the focus has gone on.
 */
export async function readBack(call: Call, tabId: number, before: Focus, text: string): Promise<string | undefined> {
  if (before.value === undefined) return undefined;
  const until = Date.now() + Math.min(SHOWN_MS, remaining(call));
  for (;;) {
    let now: Focus;
    try {
      now = await focusOf(call, tabId);
    } catch (e) {
      if (e instanceof PageLeft || (e instanceof BridgeError && !call.signal.aborted)) return undefined;
      throw e;
    }
    if (now.id !== before.id || now.doc.documentId !== before.doc.documentId || now.value === undefined) return undefined;
    const holds = squashed(now.value).includes(squashed(text));
    const told = now.secret ? '•'.repeat(now.value.length) : now.value;
    if (holds) return told;
    if (Date.now() >= until) {
      if (squashed(text) === '') return told;
      if (now.value !== before.value) {
        const plain = now.element.tag === 'textarea' || (now.element.tag === 'input' && PLAIN.test(now.element.type ?? ''));
        if (!plain || core(now.value).includes(core(text))) return told;
        const [typed, has] = now.secret ? [`a secret of ${text.length} characters`, `one of ${now.value.length}`] : [text, now.value].map((s) => JSON.stringify(s.length > 100 ? `${s.slice(0, 99)}…` : s));
        throw new BridgeError('ELEMENT_NOT_ACTIONABLE', `the page did not keep what was typed: ${typed} was typed, ${now.outline} now has ${has}`, { maybe_executed: true });
      }
      throw new BridgeError('ELEMENT_NOT_ACTIONABLE', `the keys were sent, but ${now.outline} holds what it held before`, { maybe_executed: true });
    }
    await new Promise((r) => setTimeout(r, 40));
  }
}

const core = (s: string) => s.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
const squashed = (s: string) => s.replace(/[\s\u00a0\u200b\ufeff]+/g, '');
