// get_a11y_tree: the page as a flat list of what it offers, in document order; what one can act on carries a target.
import { isHiddenItself, nameOf, tidy } from './names';
import { isEditingHost, isFocusable, roleOf, tagOf } from './roles';
import { renderedChildren, skipsContent } from '../read/visible';
import { statesOf, valueOf } from './states';
import { PiercingTargets, Targets, type Target } from './target';
import { native } from '../native';

export interface TreeArgs {
  include_hidden?: boolean;
  max_nodes?: number;
  /** Shadow trees as well. */
  pierce?: boolean;
}

export interface TreeNode {
  role: string;
  name: string;
  value: string | null;
  states: string[];
  depth: number;
  level?: number;
  tag: string;
  /** What a live region says: its name would be empty. */
  text?: string;
  /** Inside a shadow tree. */
  shadow?: true;
  /** The choices of a select. */
  options?: string[];
  target?: Target;
}

export interface Tree { title: string; url: string; count: number; nodes: TreeNode[]; truncated?: true }

const INTERACTIVE = new Set(['button', 'checkbox', 'combobox', 'gridcell', 'link', 'listbox', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
  'option', 'radio', 'scrollbar', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem']);

/** Roles that say how text is set, not what there is: listed only with a name of their own or when they take the focus. */
const QUIET = new Set(['generic', 'none', 'blockquote', 'caption', 'code', 'comment', 'definition', 'deletion', 'document', 'emphasis', 'figure',
  'group', 'img', 'insertion', 'listitem', 'mark', 'note', 'paragraph', 'rowgroup', 'separator', 'strong', 'subscript', 'suggestion', 'superscript',
  'term', 'time', 'math']);

const LIVE = new Set(['alert', 'alertdialog', 'log', 'marquee', 'status', 'timer', 'tooltip']);

/** Tags that never hold anything for a reader. */
const SKIPPED = new Set(['base', 'head', 'link', 'meta', 'noscript', 'script', 'source', 'style', 'template', 'title', 'track']);

const LONGEST_NAME = 400;
const MOST_OPTIONS = 30;
/** Longest time for one page: with more the page would look blocked. */
const LONGEST_MS = 4000;
/** Deeper nesting than the HTML parser makes; a script that builds more loses what is below. */
const DEEPEST = 2000;

interface Place { depth: number; hidden: boolean; covered: string }

/** The operation. Light DOM of this document only, as the protocol's base version says, unless `pierce` asks for more. */
export function a11yTree({ include_hidden = false, max_nodes = 500, pierce = false }: TreeArgs): Tree {
  const nodes: TreeNode[] = [];
  const targets = pierce ? new PiercingTargets() : new Targets(document);
  const most = Math.min(5000, Math.max(1, max_nodes));
  let truncated = false;
  /** Something lies below the deepest level that is looked at. */
  let deeper = false;

  const until = performance.now() + LONGEST_MS;
  let steps = 0;

  const visit = (el: Element, place: Place): void => {
    if ((++steps & 255) === 0 && performance.now() > until) truncated = true;
    if (truncated || SKIPPED.has(native(el).localName)) return;
    const style = getComputedStyle(el);
    const hidden = place.hidden || isHiddenItself(el, style);
    if (hidden && !include_hidden) return;
    const seen = !hidden && style.visibility === 'visible';
    let { covered } = place;
    if (seen || include_hidden) {
      const node = describe(el, place, seen, targets);
      if (node) {
        if (nodes.length >= most) { truncated = true; return; }
        nodes.push(node);
        if (INTERACTIVE.has(node.role)) covered = node.name;
      }
    }
    if (native(el).localName === 'select') return;
    if (place.depth >= DEEPEST) {
      deeper ||= native(el).childElementCount > 0;
      return;
    }
    const inside: Place = { depth: place.depth + 1, hidden: hidden || skipsContent(style), covered };
    const children = pierce ? Array.from(renderedChildren(el)).filter((node) => node instanceof Element) : native(el).children;
    for (const child of children) visit(child, inside);
  };

  const top = document.body ?? document.documentElement;
  const modal = include_hidden ? null : openModal();
  visit(modal ?? top, { depth: modal ? depthOf(modal, top) : 0, hidden: false, covered: '' });
  return { title: document.title, url: location.href, count: nodes.length, nodes, ...(truncated || deeper ? { truncated: true as const } : {}) };
}

/** A modal dialog makes everything else inert; the last one opened lies on top, as a rule also in the document. */
function openModal(): Element | null {
  return Array.from(document.querySelectorAll('dialog:modal')).at(-1) ?? null;
}

function depthOf(el: Element, top: Element): number {
  let depth = 0;
  for (let up: Element | null = el; up && up !== top; up = native(up).parentElement) depth++;
  return depth;
}

/** The node for an element, or null if there is nothing to tell. */
function describe(el: Element, { depth, covered }: Place, seen: boolean, targets: Pick<Targets, 'of'>): TreeNode | null {
  const role = roleOf(el);
  const acts = el !== document.body && (INTERACTIVE.has(role) || isActive(el));
  if (QUIET.has(role) && !acts && role !== 'img' && !mayBeNamed(el, role)) return null;
  let name = nameOf(el);
  if (QUIET.has(role) && !acts && !name) return null;
  // A picture that only repeats the link or button around it.
  if (role === 'img' && !acts && covered.includes(name)) return null;
  if (name.length > LONGEST_NAME) name = `${name.slice(0, LONGEST_NAME).replace(/[\ud800-\udbff]$/, '')}…`;

  const states = statesOf(el, role);
  if (!seen) states.push('hidden');
  const node: TreeNode = { role, name, value: valueOf(el, role), states, depth, tag: tagOf(el) };
  if (role === 'heading') node.level = levelOf(el);
  if (LIVE.has(role)) {
    const text = tidy(native(el as HTMLElement).innerText ?? native(el).textContent ?? '').slice(0, LONGEST_NAME);
    if (text && text !== name) node.text = text;
  }
  if (el instanceof HTMLSelectElement) node.options = optionsOf(el);
  if (native(el).getRootNode() !== document) node.shadow = true;
  if (acts) node.target = targets.of(el);
  return node;
}

/** Whether a person can act on the element although its role does not say so. */
function isActive(el: Element): boolean {
  return isEditingHost(el) || native(el).hasAttribute('onclick') || (native(el).localName !== 'iframe' && native(el).localName !== 'dialog' && isFocusable(el));
}

/** Roles of the text kind take a name only from the author. */
function mayBeNamed(el: Element, role: string): boolean {
  if (native(el).localName === 'fieldset' || native(el).localName === 'optgroup' || native(el).hasAttribute('aria-label') || native(el).hasAttribute('aria-labelledby')) return true;
  return role !== 'generic' && native(el).hasAttribute('title');
}

function levelOf(el: Element): number {
  const said = Number(native(el).getAttribute('aria-level'));
  if (Number.isInteger(said) && said > 0) return said;
  return /^h[1-6]$/.test(native(el).localName) ? Number(native(el).localName[1]) : 2;
}

function optionsOf(select: HTMLSelectElement): string[] {
  const options = Array.from(select.options).slice(0, MOST_OPTIONS).map((option) => tidy(option.label));
  const more = select.options.length - options.length;
  return more > 0 ? [...options, `… ${more} more`] : options;
}
