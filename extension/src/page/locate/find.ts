// Finds the elements that a target means, in one tree or in all trees of this document.
//
// Every way of looking ranks what it finds (an exact text before one that contains it); only the best rank that is there
// counts, so that `index` counts among equals. Ranks from LENIENT on go beyond what protocol v1 would have found.
import { isOverlay } from '../../overlay/host';
import { shadowRoots } from '../dom';
import { elementOf } from '../snapshot/refs';
import { byLabel } from './label';
import { byRole } from './role';
import { invalid, type Target } from './target';
import { byText } from './text';
import { native } from '../native';

export type Root = Document | ShadowRoot;

export interface Matches {
  elements: Element[];
  /** 0 is best. Matches of one rank only are given. */
  rank: number;
}

export const NOTHING: Matches = { elements: [], rank: Infinity };
/** From this rank on a match is only taken once the page has come to rest: something better may still be drawn. */
export const LENIENT = 10;

export function findIn(root: Root, target: Target, lenient: boolean): Matches {
  switch (target.by) {
    case 'css': return exactly(byCss(root, target.value));
    case 'xpath': return root instanceof Document ? exactly(byXPath(root, target.value)) : NOTHING;
    case 'text': return byText(root, target.value, lenient);
    case 'role': return byRole(root, target.value, target.name, lenient);
    case 'label': return byLabel(root, target.value, lenient);
    // One element of the whole document, wherever it is: see `find`.
    case 'ref': return NOTHING;
  }
}

export interface Found extends Matches { shadow: boolean }

/** The light DOM's matches, or, if it has none and `deep` is set, those in shadow roots. */
export function find(target: Target, deep: boolean): Found {
  if (target.by === 'ref') {
    const el = elementOf(target.value);
    return { elements: [el], rank: 0, shadow: native(el).getRootNode() instanceof ShadowRoot };
  }
  const light = findIn(document, target, false);
  if (light.elements.length) return { ...light, shadow: false };
  if (!deep) return { ...NOTHING, shadow: false };
  const roots = target.by === 'xpath' ? [] : shadowRoots(document);
  const inShadow = best(roots.map((root) => findIn(root, target, false)));
  if (inShadow.elements.length) return { ...inShadow, shadow: true };
  const lenient = findIn(document, target, true);
  if (lenient.elements.length) return { ...lenient, shadow: false };
  const lenientInShadow = best(roots.map((root) => findIn(root, target, true)));
  return { ...lenientInShadow, shadow: lenientInShadow.elements.length > 0 };
}

/** All matches of the best rank that any of the trees has, in the trees' order. */
export function best(all: Matches[]): Matches {
  const rank = Math.min(...all.map((m) => (m.elements.length ? m.rank : Infinity)));
  return rank === Infinity ? NOTHING : { rank, elements: all.filter((m) => m.rank === rank).flatMap((m) => m.elements) };
}

/** The best rank that has any element. `rank` says which list stands for what; lists are made only as far as needed. */
export function firstOf(...lists: { rank: number; of: () => Element[] }[]): Matches {
  for (const { rank, of } of lists) {
    const elements = of();
    if (elements.length) return { elements, rank };
  }
  return NOTHING;
}

const exactly = (elements: Element[]): Matches => ({ elements: elements.filter((el) => !isOverlay(el)), rank: 0 });

function byCss(root: Root, value: string): Element[] {
  try {
    return [...root.querySelectorAll(value)];
  } catch (e) {
    throw invalid('css', value, e);
  }
}

function byXPath(root: Document, value: string): Element[] {
  let found: XPathResult;
  try {
    found = root.evaluate(value, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  } catch (e) {
    throw invalid('xpath', value, e);
  }
  const elements = new Set<Element>();
  for (let i = 0; i < found.snapshotLength; i++) {
    const node = found.snapshotItem(i);
    // A path to a text or an attribute means the element that has it.
    const el = node instanceof Element ? node : node instanceof Attr ? node.ownerElement : native(node)?.parentElement;
    if (el) elements.add(el);
  }
  return [...elements];
}
