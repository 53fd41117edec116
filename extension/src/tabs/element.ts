// Element methods across a tab's frames: the top document first, then its child frames in the order in which they stand in the
// page; and across documents, where a page is being replaced by another of the same site while the element is waited for.
import { remaining, type Call } from '../call';
import { BridgeError, PageLeft } from '../errors';
import type { Target } from '../generated/methods';
import type { Around, Beyond, ElementArgs } from '../page/element';
import type { Place, Probe } from '../page/locate/frames';
import { throughFrames } from './around';
import { findDocument, framesOf, type Doc, type Frame } from './document';
import { isTaken } from './lock';
import { callPage } from './page';
import { documentOf, staleRef } from './refs';

export interface ElementParams { target: Target; timeout?: number }

/** What an element operation of the page gives, with the frame it was in, if it was not the top one. */
export type InFrame<R> = R & { frame?: string };

const DEFAULT_TIMEOUT_MS = 5000;
/** What is left of the call's deadline for the answer to travel. */
const ANSWER_MS = 250;
/** How long the top document is waited in before the child frames are looked into once more. */
const SLICE_MS = 250;
/** A frame that does not say within this time what it holds is passed over for now. */
const PROBE_MS = 1500;

/**
 * Runs a page operation on the element that the target means, wherever in the tab it is; waits for it as long as the call allows.
 * `worked` hears in which document that was.
 */
export async function onElement<R extends object>(call: Call, tabId: number, op: string, params: ElementParams, more: object = {}, worked: (doc: Doc) => void = () => {}): Promise<InFrame<R>> {
  const { by = 'css', value = '', index = 0, name } = params.target;
  if (by === 'ref') return onRef(call, tabId, op, params, more, worked);
  const target: ElementArgs['target'] = { by, value, index, ...(name === undefined ? {} : { name }) };
  if (target.name !== undefined && target.by !== 'role') throw new BridgeError('INVALID_PARAMS', 'invalid params: target.name goes with by: "role"');
  let doc = await findDocument(call, tabId);
  const arriving = (await chrome.tabs.get(tabId).catch(() => undefined))?.status === 'loading';
  const timeout = params.timeout ?? DEFAULT_TIMEOUT_MS;
  const from = Date.now();
  const until = Math.min(from + timeout, Math.max(from, call.deadline - ANSWER_MS));
  const args: ElementArgs = { target, from, until, timeout, alone: !isTaken(tabId) };
  let slice: number | undefined;
  let frames = 0;
  let inFrames = 0;
  for (;;) {
    const last = Date.now() >= until;
    let result: R | Beyond;
    try {
      result = await ticking(doc, () => callPage<R | Beyond>(call, tabId, op, { ...more, ...args, slice, frames, inFrames, last }, { documentId: doc.documentId }));
    } catch (e) {
      doc = await successor(call, doc, e, arriving && Date.now() - from < 10_000);
      slice = undefined;
      continue;
    }
    if (!('beyond' in result)) { worked(doc); return result; }
    const there = await probe(call, tabId, target);
    frames = there.frames;
    if (there.found) {
      const { frame, index } = there.found;
      try {
        const inner = { ...more, ...args, target: { ...target, index }, inFrame: true };
        const done = await throughFrames<R>(call, { ...frame, tabId }, until, (clear) =>
          ticking({ ...frame, tabId }, () => callPage<R | Around>(call, tabId, op, { ...inner, clear }, { documentId: frame.documentId })));
        worked({ ...frame, tabId });
        return { ...done, frame: frame.url };
      } catch (e) {
        // Gone again before anything was done: the search goes on.
        const gone = e instanceof PageLeft || (e instanceof BridgeError && e.code === 'ELEMENT_NOT_FOUND');
        if (!gone || (e).extra.maybe_executed || call.signal.aborted) throw e;
      }
    }
    inFrames = there.found ? 0 : there.count;
    slice = last || Date.now() >= until ? undefined : Math.min(until, Date.now() + SLICE_MS);
  }
}

/** As onElement, for the one element that a ref means: in its own document, or nowhere. */
async function onRef<R extends object>(call: Call, tabId: number, op: string, params: ElementParams, more: object, worked: (doc: Doc) => void): Promise<InFrame<R>> {
  const { target: { value: ref = '' }, timeout = DEFAULT_TIMEOUT_MS } = params;
  const doc = await documentOf(call, tabId, ref);
  const from = Date.now();
  const until = Math.min(from + timeout, Math.max(from, call.deadline - ANSWER_MS));
  const args: ElementArgs = { target: { by: 'ref', value: ref, index: 0 }, from, until, timeout, alone: !isTaken(tabId), inFrame: true };
  try {
    const done = await throughFrames<R>(call, doc, until, (clear) => ticking(doc, () => callPage<R | Around>(call, tabId, op, { ...more, ...args, clear }, { documentId: doc.documentId })));
    worked(doc);
    return doc.frameId === 0 ? done : { ...done, frame: doc.url };
  } catch (e) {
    throw staleIfLeft(call, params, e);
  }
}

/** What is answered for a page that was left before anything was done in it: with it a ref is gone for good. */
export function staleIfLeft(call: Call, { target }: Pick<ElementParams, 'target'>, thrown: unknown): unknown {
  const stale = target.by === 'ref' && thrown instanceof PageLeft && !thrown.extra.maybe_executed && !call.signal.aborted;
  return stale ? staleRef(target.value ?? '', 'the page it was on is gone') : thrown;
}

/**
 * The document that follows one that was left before anything was done in it. A wait goes on there if the page was arriving when the
 * call came, or if it is the same site's; what another site's page happens to hold is not what was asked for.
 */
async function successor(call: Call, left: Doc, thrown: unknown, arriving: boolean): Promise<Doc> {
  if (call.signal.aborted || !(thrown instanceof PageLeft) || thrown.extra.maybe_executed) throw thrown;
  const next = await findDocument(call, left.tabId);
  if (next.documentId === left.documentId) await new Promise((r) => setTimeout(r, 20));
  if (arriving || origin(next.url) === origin(left.url)) return next;
  throw new PageLeft(`the tab went from ${shown(left.url)} to ${shown(next.url)} while the element was waited for`);
}


const origin = (url: string) => (URL.canParse(url) ? new URL(url).origin : url);
const shown = (url: string) => (url.split(/[?#]/, 1)[0] ?? '').slice(0, 200);

/**
 * A page in the background cannot wake itself more than once a second; the worker can. Nothing is sent to a page that answers at
 * once.
 */
export async function ticking<T>({ tabId, documentId }: Pick<Doc, 'tabId' | 'documentId'>, work: () => Promise<T>, every = 100): Promise<T> {
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    chrome.scripting.executeScript({
      target: { tabId, documentIds: [documentId] },
      injectImmediately: true,
      func: (sentAt: number, startBy: number) => {
        const api = (globalThis as { __bridged?: { run(op: string, args: null, ctx: object): unknown } }).__bridged;
        // One that was held up in a blocked page must not pass for a sign of life: hence startBy.
        api?.run('tick', null, { run: `tick${startBy}`, deadline: startBy, startBy, sentAt, ready: 'document' });
      },
      args: [Date.now(), Date.now() + 1000],
    }).then(() => { busy = false; }, () => { busy = false; });
  }, every);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

interface Probed { found?: { frame: Frame; index: number }; frames: number; count: number }

/** Which child frame holds the match that the index means, counted over all of them. */
async function probe(call: Call, tabId: number, target: ElementArgs['target']): Promise<Probed> {
  const all = await framesOf(tabId);
  const answers = new Map<number, Probe | Place>();
  await Promise.all(all.map(async (frame) => {
    const answer = frame.frameId === 0
      ? await ask<Place>(call, tabId, 'frame_place', null, frame)
      : await ask<Probe>(call, tabId, 'probe', { target }, frame);
    if (answer) answers.set(frame.frameId, answer);
  }));
  const ordered = inDocumentOrder(all, answers).filter((f) => f.frameId !== 0);
  const counts = ordered.map((frame) => ({ frame, answer: answers.get(frame.frameId) as Probe | undefined })).filter((c) => (c.answer?.count ?? 0) > 0);
  const rank = Math.min(...counts.map((c) => c.answer!.rank));
  let index = target.index;
  let count = 0;
  let found: Probed['found'];
  for (const { frame, answer } of counts) {
    if (answer!.rank !== rank) continue;
    count += answer!.count;
    if (!found && index < answer!.count) found = { frame, index };
    index -= answer!.count;
  }
  return { found, frames: ordered.length, count };
}

/** A frame's answer, or nothing if it cannot be asked: it is closed to extensions, blocked, or gone. */
async function ask<T>(call: Call, tabId: number, op: string, args: unknown, frame: Frame): Promise<T | undefined> {
  const asking: Call = { ...call, deadline: Date.now() + Math.min(PROBE_MS, remaining(call)) };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await Promise.race([
      callPage<T>(asking, tabId, op, args, { documentId: frame.documentId }),
      new Promise<undefined>((r) => { timer = setTimeout(r, PROBE_MS, undefined); }),
    ]);
  } catch (e) {
    if (call.signal.aborted) throw e;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Frames as they stand in the page, each before its own child frames. Those that cannot be placed come last among their siblings. */
function inDocumentOrder(all: Frame[], answers: Map<number, Place>): Frame[] {
  const ordered: Frame[] = [];
  const visit = (frame: Frame, depth: number): void => {
    ordered.push(frame);
    if (depth > 20) return;
    const order = answers.get(frame.frameId)?.order ?? [];
    const place = (f: Frame) => {
      const at = order.indexOf(answers.get(f.frameId)?.index ?? -1);
      return at < 0 ? order.length : at;
    };
    const children = all.filter((f) => f.parentFrameId === frame.frameId && f !== frame);
    for (const child of children.sort((a, b) => place(a) - place(b) || a.frameId - b.frameId)) visit(child, depth + 1);
  };
  const top = all.find((f) => f.frameId === 0);
  if (top) visit(top, 0);
  return ordered;
}

/** The child frame that is at the given place among a document's frames. */
export async function childAt(call: Call, tabId: number, parentFrameId: number, index: number): Promise<Frame | undefined> {
  const children = (await framesOf(tabId)).filter((f) => f.parentFrameId === parentFrameId && f.frameId !== parentFrameId);
  const places = await Promise.all(children.map((f) => ask<Place>(call, tabId, 'frame_place', null, f)));
  return children.find((_, i) => places[i]?.index === index);
}
