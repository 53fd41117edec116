// A snapshot of a whole tab: every document's own, put together where the frames stand, within one budget; and what has changed
// since the last one.
import { remaining, type Call } from '../call';
import { BridgeError } from '../errors';
import type { Bounds, DocumentSnapshot, SnapshotArgs, SnapshotNode } from '../page/snapshot/snapshot';
import { findDocument, framesOf, type Frame } from './document';
import { callPage } from './page';
import { frameKey, reserve } from './refs';

export interface Node {
  ref: string;
  role: string;
  name: string;
  value?: string;
  level?: number;
  states?: string[];
  clickable?: true;
  editable?: true;
  bounds: Bounds;
  /** The address of the child frame that holds it. */
  frame?: string;
}

export interface TabSnapshot { url: string; title: string; nodes: Node[]; total: number; documentId: string }
export type Mode = Pick<SnapshotArgs, 'mode' | 'max_nodes' | 'include_hidden'>;

/** A frame that does not say within this time what it holds is left out. */
const FRAME_MS = 2000;

export async function takeSnapshot(call: Call, tabId: number, mode: Mode): Promise<TabSnapshot> {
  for (let attempt = 0; ; attempt++) {
    const top = await findDocument(call, tabId);
    const numbers = await reserve(tabId, top.documentId, mode.max_nodes);
    const frames = await framesOf(tabId);
    try {
      const [page, inner] = await Promise.all([
        callPage<DocumentSnapshot>(call, tabId, 'snapshot', { ...mode, next: numbers.next }, { documentId: top.documentId, ready: 'parsed' }),
        Promise.all(frames.filter((f) => f.frameId !== 0).map(async (frame) => [frame, await inFrame(call, tabId, frame, mode)] as const)),
      ]);
      const keys = new Map<number, number>();
      for (const [frame, snapshot] of inner) if (snapshot) keys.set(frame.frameId, await frameKey(tabId, frame.documentId));
      await numbers.used(page.next);
      const all = assemble(page, new Map(inner), keys);
      return { url: page.url, title: page.title, nodes: all.nodes.slice(0, mode.max_nodes), total: all.nodes.length + all.more, documentId: top.documentId };
    } catch (e) {
      // The page was being replaced: the one that came is meant.
      const left = e instanceof BridgeError && (e.code === 'NAVIGATION_FAILED' || e.code === 'CANCELLED') && !call.signal.aborted;
      if (!left || attempt >= 5) throw e;
    }
  }
}

/** What a child frame holds; nothing if it is closed to extensions, stuck or gone. */
async function inFrame(call: Call, tabId: number, frame: Frame, mode: Mode): Promise<DocumentSnapshot | undefined> {
  const asking: Call = { ...call, deadline: Date.now() + Math.min(FRAME_MS, remaining(call)) };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await Promise.race([
      callPage<DocumentSnapshot>(asking, tabId, 'snapshot', { ...mode, next: 1 }, { documentId: frame.documentId }),
      new Promise<undefined>((r) => { timer = setTimeout(r, FRAME_MS, undefined); }),
    ]);
  } catch (e) {
    if (call.signal.aborted || (e instanceof BridgeError && e.code === 'DIALOG_OPEN')) throw e;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

interface Space { x: number; y: number; scaleX: number; scaleY: number }

function assemble(page: DocumentSnapshot, inner: Map<Frame, DocumentSnapshot | undefined>, keys: Map<number, number>): { nodes: Node[]; more: number } {
  const nodes: Node[] = [];
  let more = 0;
  const visit = (snapshot: DocumentSnapshot, frame: Frame | undefined, space: Space): void => {
    more += snapshot.more;
    const children = [...inner].filter(([f]) => f.parentFrameId === (frame?.frameId ?? 0));
    const suffix = frame ? `@f${keys.get(frame.frameId)}` : '';
    for (const node of snapshot.nodes) {
      nodes.push(tell(node, suffix, frame?.url, space));
      const { child } = node;
      if (!child) continue;
      const at = children.findIndex(([, s]) => s?.index === child.index);
      // The frame is on its way, or shows what no extension may see.
      const [held] = at < 0 ? [] : children.splice(at, 1);
      if (held?.[1]) visit(held[1], held[0], {
        x: space.x + child.x * space.scaleX, y: space.y + child.y * space.scaleY, scaleX: space.scaleX * child.scaleX, scaleY: space.scaleY * child.scaleY,
      });
    }
  };
  visit(page, undefined, { x: 0, y: 0, scaleX: 1, scaleY: 1 });
  return { nodes, more };
}

function tell({ n, child: _, bounds, ...node }: SnapshotNode, suffix: string, frame: string | undefined, space: Space): Node {
  const placed = frame === undefined ? bounds : {
    x: Math.round(space.x + bounds.x * space.scaleX), y: Math.round(space.y + bounds.y * space.scaleY),
    width: Math.round(bounds.width * space.scaleX), height: Math.round(bounds.height * space.scaleY),
  };
  return { ref: `backend-${n}${suffix}`, ...node, bounds: placed, ...(frame === undefined ? {} : { frame }) };
}

// ---- What has changed ----

interface Kept { documentId: string; mode: string; nodes: Map<string, string> }

/** The last snapshot that each client took of each tab. Lost with the worker: the next one is then told as a whole. */
const kept = new Map<string, Kept>();
const KEPT_MOST = 32;

export interface Diff { nodes: (Node & { change: 'added' | 'changed' })[]; removed: string[]; unchanged: number }

/** Keeps the snapshot for the owner; gives what has changed since the one before, if that was of the same page and kind. */
export function compare(owner: string, tabId: number, mode: Mode, snapshot: TabSnapshot): Diff | undefined {
  const key = `${tabId} ${owner}`;
  const before = kept.get(key);
  const now: Kept = { documentId: snapshot.documentId, mode: JSON.stringify(mode), nodes: new Map(snapshot.nodes.map((n) => [n.ref, said(n)])) };
  kept.delete(key);
  kept.set(key, now);
  if (kept.size > KEPT_MOST) kept.delete(kept.keys().next().value!);
  if (before?.documentId !== now.documentId || before.mode !== now.mode) return undefined;
  const nodes: Diff['nodes'] = [];
  for (const node of snapshot.nodes) {
    const was = before.nodes.get(node.ref);
    if (was === undefined) nodes.push({ ...node, change: 'added' });
    else if (was !== now.nodes.get(node.ref)) nodes.push({ ...node, change: 'changed' });
  }
  return { nodes, removed: [...before.nodes.keys()].filter((ref) => !now.nodes.has(ref)), unchanged: snapshot.nodes.length - nodes.length };
}

/** A node without its place: scrolling moves everything and changes nothing. */
function said({ ref: _, bounds: __, ...node }: Node): string {
  return JSON.stringify(node);
}
