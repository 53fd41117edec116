// A walk over the rendered page in the order in which it reads: shadow trees and slots resolved, what cannot be seen left out.
// It keeps its own stack, so that no nesting is too deep, and stops at a bound, so that no page is too large.
import { enter, isTextSeen, renderedChildren, skipsContent, UNCLIPPED, view, type Clip } from './visible';

export interface Visitor {
  /** An element is reached: `skip` leaves it and all in it out, a function is called after its last child. */
  element(el: Element, style: CSSStyleDeclaration): 'skip' | (() => void) | undefined;
  /** Text that can be seen, with the style of the element that draws it. */
  text(text: Text, style: CSSStyleDeclaration): void;
}

/** How much may be spent on one page. The time keeps a reading page from looking like a blocked one. */
export class Budget {
  cut = false;
  private steps = 0;
  private readonly until: number;

  constructor(private chars: number, milliseconds = 4000) {
    this.until = performance.now() + milliseconds;
  }

  /** As much of the text as may still be taken; never half a character. */
  take(text: string): string {
    if (text.length <= this.chars) {
      this.chars -= text.length;
      return text;
    }
    this.cut = true;
    const part = text.slice(0, this.chars).replace(/[\ud800-\udbff]$/, '');
    this.chars = 0;
    return part;
  }

  /** To be asked once a node. */
  get spent(): boolean {
    if ((++this.steps & 255) === 0 && performance.now() > this.until) this.cut = true;
    return this.cut;
  }
}

/** Elements that are never part of what one reads. */
const NEVER = new Set(['base', 'head', 'link', 'meta', 'noscript', 'script', 'source', 'style', 'template', 'title', 'track', 'param', 'datalist',
  'defs', 'desc', 'metadata', 'symbol', 'clipPath', 'mask', 'marker', 'pattern']);

interface Level {
  children: ArrayLike<Node>;
  at: number;
  style: CSSStyleDeclaration;
  clip: Clip;
  leave: (() => void) | undefined;
}

/** Visits all that can be seen of an element, itself included. */
export function walk(root: Element, visitor: Visitor, budget: Budget): void {
  const stack: Level[] = [];
  const at = view();

  const open = (el: Element, above: Clip): void => {
    if (NEVER.has(el.localName)) return;
    const style = getComputedStyle(el);
    const clip = enter(el, style, above);
    if (!clip) return;
    const leave = visitor.element(el, style);
    if (leave === 'skip') return;
    stack.push({ children: skipsContent(style) ? [] : renderedChildren(el), at: 0, style, clip, leave });
  };

  open(root, clipAbove(root));
  while (stack.length) {
    const level = stack[stack.length - 1]!;
    if (level.at >= level.children.length || budget.spent) {
      stack.pop();
      level.leave?.();
      continue;
    }
    const child = level.children[level.at++]!;
    if (child.nodeType === Node.ELEMENT_NODE) open(child as Element, level.clip);
    else if (child.nodeType === Node.TEXT_NODE && isTextSeen(child as Text, level.style, level.clip, at)) visitor.text(child as Text, level.style);
  }
}

/** A root that was asked for by name is read even if it lies in a box that clips it; its own ancestors' fixing still counts. */
function clipAbove(root: Element): Clip {
  for (let up: Element | null = root.parentElement; up; up = up.parentElement) {
    if (getComputedStyle(up).position === 'fixed') return { ...UNCLIPPED, pinned: true };
  }
  return UNCLIPPED;
}
