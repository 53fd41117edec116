// A walk over the rendered page in the order in which it reads: shadow trees and slots resolved, what cannot be seen left out.
// It keeps its own stack, so that no nesting is too deep, and stops at a bound, so that no page is too large. A long walk pauses: a page
// whose scripts never get a turn would look blocked.
import { enter, isBoxSeen, isTextSeen, renderedChildren, skipsContent, UNCLIPPED, view, type Clip } from './visible';
import { native } from '../native';

export interface Visitor {
  /**
   * An element is reached: `skip` leaves it and all in it out, a function is called after its last child. `seen` says whether what it
   * shows of its own, other than text, can be seen.
   */
  element(el: Element, style: CSSStyleDeclaration, seen: () => boolean): 'skip' | (() => void) | undefined;
  /** Text that can be seen, with the style of the element that draws it. */
  text(text: Text, style: CSSStyleDeclaration): void;
}

/** Work goes on for so long before the page's own scripts get a turn: pages that are read within it are read as of one moment. */
const TURN_MS = 1000;
/** Longest time for one page, all turns together. */
const LONGEST_MS = 15_000;
/** Kept of the caller's deadline for the way back. */
const REPORT_MS = 1500;

/** How much may be spent on one page: characters and time. */
export class Budget {
  /** Something had to be left out. */
  cut = false;
  private steps = 0;
  private turn = performance.now();
  private until: number;

  constructor(private chars: number, deadline = Infinity) {
    this.until = this.turn + Math.min(LONGEST_MS, deadline - Date.now() - REPORT_MS);
  }

  /** For a look at the page before it is read: so many characters, and a share of the time that is left. */
  part(chars: number, share: number): Budget {
    const part = new Budget(chars);
    part.until = part.turn + (this.until - part.turn) * share;
    return part;
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

  /** To be asked once a node: whether it is time to end, or to let the page have a turn. */
  check(): 'go' | 'pause' | 'end' {
    if (!this.cut && (++this.steps & 127) === 0) {
      const now = performance.now();
      if (now > this.until) this.cut = true;
      else if (now > this.turn + TURN_MS) return 'pause';
    }
    return this.cut ? 'end' : 'go';
  }

  /** Gives the page a turn; timers would be held back for a second in a background tab. */
  async pause(): Promise<void> {
    await new Promise<void>((resume) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { port1.close(); resume(); };
      port2.postMessage(null);
    });
    this.turn = performance.now();
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

/** Visits all that can be seen of an element, itself included; lets the page have a turn now and then. */
export async function walk(root: Element, visitor: Visitor, budget: Budget): Promise<void> {
  for (const _ of steps(root, visitor, budget)) await budget.pause();
}

/** The same in one go, for small parts. */
export function walkAtOnce(root: Element, visitor: Visitor, budget: Budget): void {
  for (const _ of steps(root, visitor, budget));
}

/** Yields where a pause is due. */
function* steps(root: Element, visitor: Visitor, budget: Budget): Generator<void> {
  const stack: Level[] = [];
  let at = view();

  const open = (el: Element, above: Clip): void => {
    if (NEVER.has(native(el).localName)) return;
    const style = getComputedStyle(el);
    const clip = enter(el, style, above);
    if (!clip) return;
    const leave = visitor.element(el, style, () => isBoxSeen(el, style, clip, at));
    if (leave === 'skip') return;
    stack.push({ children: skipsContent(style) ? [] : renderedChildren(el), at: 0, style, clip, leave });
  };

  open(root, clipAbove(root));
  while (stack.length) {
    const level = stack[stack.length - 1]!;
    const next = budget.check();
    if (next === 'pause') {
      yield;
      at = view();
    }
    if (next === 'end' || level.at >= level.children.length) {
      stack.pop();
      level.leave?.();
      continue;
    }
    const child = level.children[level.at++]!;
    if (native(child).nodeType === Node.ELEMENT_NODE) open(child as Element, level.clip);
    else if (native(child).nodeType === Node.TEXT_NODE && isTextSeen(child as Text, level.style, level.clip, at)) visitor.text(child as Text, level.style);
  }
}

/** A root that was asked for by name is read even if it lies in a box that clips it; its own ancestors' fixing still counts. */
function clipAbove(root: Element): Clip {
  for (let up: Element | null = native(root).parentElement; up; up = native(up).parentElement) {
    if (getComputedStyle(up).position === 'fixed') return { ...UNCLIPPED, pinned: true };
  }
  return UNCLIPPED;
}
