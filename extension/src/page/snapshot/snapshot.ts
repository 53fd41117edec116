// snapshot: what a document offers, as a flat list in the order in which it is read; each node with a ref to act on it by.
// Compact keeps what one can act on and what gives the page its structure; full also keeps the texts.
import { isHiddenItself, nameOf, tidy } from '../a11y/names';
import { isEditingHost, isFocusable, roleOf } from '../a11y/roles';
import { statesOf, valueOf } from '../a11y/states';
import { cut } from '../describe';
import { boxesOf, shadowOf } from '../dom';
import { framePlaceOp, type Place } from '../locate/frames';
import { frameIndex, fromFrame } from '../frames';
import { skipsContent } from '../read/visible';
import { Entries } from './entries';
import { Identities } from './identity';
import { Numbering } from './refs';
import { native } from '../native';

export interface SnapshotArgs { mode: 'compact' | 'full'; max_nodes: number; include_hidden: boolean; next: number }

export interface Bounds { x: number; y: number; width: number; height: number }

export interface SnapshotNode {
  /** The number of the ref. */
  n: number;
  role: string;
  name: string;
  value?: string;
  level?: number;
  states?: string[];
  clickable?: true;
  editable?: true;
  bounds: Bounds;
  /** A child frame: which, and how its view maps to this one. */
  child?: { index: number; x: number; y: number; scaleX: number; scaleY: number };
}

export interface DocumentSnapshot extends Place { url: string; title: string; nodes: SnapshotNode[]; more: number; next: number }

const INTERACTIVE = new Set(['button', 'checkbox', 'combobox', 'gridcell', 'link', 'listbox', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
  'option', 'radio', 'scrollbar', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem']);
/** Said in a compact snapshot, with a name or without. */
const STRUCTURE = new Set(['heading', 'main', 'navigation', 'search', 'form', 'dialog', 'alertdialog', 'alert', 'status', 'log', 'progressbar', 'meter',
  'list', 'table', 'grid', 'treegrid', 'tree', 'tablist', 'tabpanel', 'menu', 'menubar', 'toolbar', 'radiogroup', 'feed']);
/** Said only where they have a name. */
const NAMED = new Set(['region', 'banner', 'contentinfo', 'complementary', 'group', 'img', 'figure', 'article', 'columnheader', 'rowheader', 'tooltip', 'note']);
const LIVE = new Set(['alert', 'alertdialog', 'log', 'status', 'tooltip', 'timer']);
const SKIPPED = new Set(['base', 'head', 'link', 'meta', 'noscript', 'script', 'source', 'style', 'template', 'title', 'track']);
const TEXT_MOST = 400;
const NAME_MOST = { compact: 120, full: 200 };
/** Enough to tell a card or a row from those beside it. */
const CARD_MOST = 60;
const LONGEST_MS = 4000;
const DEEPEST = 2000;

interface Around { hidden: boolean; depth: number; pointer: boolean; covered: string }

export function snapshotOp({ mode, max_nodes, include_hidden, next }: SnapshotArgs): DocumentSnapshot {
  const identities = new Identities();
  const numbering = new Numbering(next);
  const nodes: SnapshotNode[] = [];
  let more = 0;
  let over = false;
  let steps = 0;
  const until = performance.now() + LONGEST_MS;
  const full = mode === 'full';
  const entries = new Entries(nodes);

  const add = (el: Element, role: string, name: string, rest: Partial<SnapshotNode>): void => {
    if (nodes.length >= max_nodes) { more++; return; }
    nodes.push({ n: numbering.of(el, identities.of(el, role, name)), role, name, ...rest, bounds: boundsOf(el) });
  };

  const visit = (el: Element, around: Around): void => {
    if ((++steps & 127) === 0 && performance.now() > until) over = true;
    if (over || SKIPPED.has(native(el).localName)) return;
    const style = getComputedStyle(el);
    const hidden = around.hidden || isHiddenItself(el, style);
    if (hidden && !include_hidden) return;
    const seen = !hidden && style.visibility === 'visible';
    const role = roleOf(el);
    const points = style.cursor === 'pointer';
    const acts = el !== document.body && (INTERACTIVE.has(role) || isActive(el));
    // A pointer that is not that of something around it: the page takes clicks here, whatever the element is.
    const clickable = acts ? isClickable(role) || points : points && !around.pointer && el !== document.body;
    let { covered } = around;
    let ends = () => {};
    if (seen || include_hidden) {
      const said = wanted(el, role, acts || clickable, full);
      if (said) {
        let name = nameFor(el, role, clickable && !acts, full);
        // What a link or button says itself: its picture, and but for the full form its heading.
        const repeats = !acts && !clickable && covered.includes(name) && (role === 'img' || (!full && role === 'heading'));
        const needless = (said === 'named' && !name) || repeats;
        if (!needless) {
          if (name.length > NAME_MOST[mode] && role !== 'text') name = cut(name, NAME_MOST[mode]);
          const states = statesOf(el, role).filter((s) => s !== 'enabled');
          if (!seen) states.push('hidden');
          const value = valueOf(el, role);
          const editable = isEditable(el, role, states);
          add(el, role, name, {
            ...(value === null || value === '' ? {} : { value }),
            ...(role === 'heading' ? { level: levelOf(el) } : {}),
            ...(states.length ? { states } : {}),
            ...(clickable && !states.includes('disabled') ? { clickable: true as const } : {}),
            ...(editable ? { editable: true as const } : {}),
            ...(isFrame(el) ? { child: childOf(el) } : {}),
          });
          if (acts || clickable) covered = name;
        }
      } else if (!full && nodes.length < max_nodes) {
        ends = entries.begin(el, role);
      }
    }
    if (native(el).localName === 'select' || isFrame(el)) return;
    if (around.depth >= DEEPEST) {
      if (native(el).childElementCount) more++;
      return;
    }
    const inside: Around = { hidden: hidden || skipsContent(style), depth: around.depth + 1, pointer: points, covered };
    for (const child of childrenOf(el)) visit(child, inside);
    ends();
  };

  const top = document.body ?? document.documentElement;
  const modal = include_hidden ? null : Array.from(document.querySelectorAll('dialog:modal')).at(-1);
  if (top) visit(modal ?? top, { hidden: false, depth: 0, pointer: false, covered: '' });
  for (const { el, role, before } of entries.needed()) {
    const name = ownWords(el, CARD_MOST);
    if (name.replace(/[^\p{L}\p{N}]/gu, '').length < 2 || nodes.length >= max_nodes) continue;
    nodes.splice(nodes.indexOf(before), 0, { n: numbering.of(el, identities.of(el, role, name)), role, name, bounds: boundsOf(el) });
  }
  // With the time over it is not known how many more there are; at least one.
  return { url: location.href, title: document.title, nodes, more: over ? Math.max(1, more) : more, next: numbering.done(), ...framePlaceOp() };
}

function wanted(el: Element, role: string, acts: boolean, full: boolean): 'always' | 'named' | null {
  if (acts || isFrame(el) || STRUCTURE.has(role)) return 'always';
  if (NAMED.has(role)) return 'named';
  if (!full) return null;
  if (role === 'generic' || role === 'none') return hasOwnText(el) ? 'named' : null;
  return 'always';
}

function nameFor(el: Element, role: string, byText: boolean, full: boolean): string {
  const name = nameOf(el);
  if (name) return name;
  if (byText && !full) return ownWords(el, CARD_MOST);
  if (byText || LIVE.has(role)) return cut(tidy(native(el as HTMLElement).innerText ?? native(el).textContent ?? ''), TEXT_MOST);
  return full && hasOwnText(el) ? cut(ownText(el), TEXT_MOST) : '';
}

function hasOwnText(el: Element): boolean {
  for (const child of native(el).childNodes) if (native(child).nodeType === Node.TEXT_NODE && /\S/.test((child as Text).data)) return true;
  return false;
}

/** The text of an element with what is set in it (bold, code), but without that of its blocks. */
function ownText(el: Element): string {
  let text = '';
  for (const child of native(el).childNodes) {
    if (native(child).nodeType === Node.TEXT_NODE) text += (child as Text).data;
    else if (child instanceof HTMLElement) text += getComputedStyle(child).display.startsWith('inline') ? native(child).innerText : ' ';
  }
  return tidy(text);
}

/** What an element says besides what can be acted on in it, which is told by itself; no more than `most` characters of it. */
function ownWords(el: Element, most: number): string {
  let text = '';
  let steps = 0;
  const read = (parent: Element, depth: number): void => {
    for (const child of native(parent).childNodes) {
      if (text.length > most || ++steps > 400) return;
      if (native(child).nodeType === Node.TEXT_NODE) text += (child as Text).data.replace(/\s+/g, ' ');
      else if (child instanceof Element && depth < 100 && !SKIPPED.has(native(child).localName) && !isFrame(child)) {
        const style = getComputedStyle(child);
        if (isHiddenItself(child, style) || style.visibility !== 'visible' || INTERACTIVE.has(roleOf(child)) || isActive(child)) continue;
        if (!style.display.startsWith('inline')) text += ' ';
        read(child, depth + 1);
        if (!style.display.startsWith('inline')) text += ' ';
      }
    }
  };
  read(el, 0);
  return cut(tidy(text), most);
}

/** Whether a person can act on the element although its role does not say so. */
function isActive(el: Element): boolean {
  return isEditingHost(el) || native(el).hasAttribute('onclick') || (!isFrame(el) && native(el).localName !== 'dialog' && isFocusable(el));
}

const isClickable = (role: string) => INTERACTIVE.has(role) || role === 'generic';
const isFrame = (el: Element): el is HTMLIFrameElement => native(el).localName === 'iframe' || native(el).localName === 'frame';

function isEditable(el: Element, role: string, states: string[]): boolean {
  if (states.includes('disabled') || states.includes('readonly')) return false;
  if (isEditingHost(el)) return true;
  if (el instanceof HTMLInputElement) return !/^(?:button|submit|reset|image|checkbox|radio|file|hidden)$/.test(el.type);
  return el instanceof HTMLTextAreaElement || el instanceof HTMLSelectElement || role === 'textbox' || role === 'searchbox';
}

function levelOf(el: Element): number {
  const said = Number(native(el).getAttribute('aria-level'));
  if (Number.isInteger(said) && said > 0) return said;
  return /^h[1-6]$/.test(native(el).localName) ? Number(native(el).localName[1]) : 2;
}

/** As rendered: the shadow tree of a host, and in its slots what was put there. */
function childrenOf(el: Element): Iterable<Element> {
  const shadow = shadowOf(el);
  if (shadow) return shadow.children;
  if (el instanceof HTMLSlotElement) {
    const assigned = el.assignedElements();
    if (assigned.length) return assigned;
  }
  return native(el).children;
}

function boundsOf(el: Element): Bounds {
  let r = native(el).getBoundingClientRect();
  if (r.width === 0 && r.height === 0) r = boxesOf(el)[0] ?? r;
  return { x: Math.round(r.x), y: Math.round(r.y), width: Math.round(r.width), height: Math.round(r.height) };
}

function childOf(frame: HTMLIFrameElement): SnapshotNode['child'] {
  const zero = fromFrame(frame, { x: 0, y: 0 });
  const one = fromFrame(frame, { x: 1, y: 1 });
  return { index: frameIndex(frame), x: zero.x, y: zero.y, scaleX: one.x - zero.x, scaleY: one.y - zero.y };
}
