// scroll: the window or a container, by so much; and by how much it really went.
import { announceScroll } from '../actionable';
import type { PageContext } from '../context';
import { describe, outline, type ElementInfo } from '../describe';
import { elementAt, parentOf } from '../dom';
import { onElement, type Around, type Beyond, type ElementArgs } from '../element';
import { change, drawn } from '../wait';
import { native } from '../native';

export interface ScrollParams { dx: number; dy: number; smooth: boolean }
export interface Scrolled {
  /** As asked for. */
  scrolled: { dx: number; dy: number };
  /** As it came out: less at the end of what there is. */
  moved: { dx: number; dy: number };
  position: { x: number; y: number; max_x: number; max_y: number };
  element: ElementInfo;
  shadow?: true;
}

export function scrollElementOp(args: ElementArgs & ScrollParams, ctx: PageContext): Promise<Scrolled | Beyond | Around> {
  return onElement<Scrolled>(args, ctx, {
    needs: { enabled: false },
    unfit: (el) => (canScroll(scrollerFor(el), args) ? null : notAScroller(el)),
    act: ({ el, dress }) => scroll(scrollerFor(el), args, ctx, dress),
  });
}

export function scrollWindowOp(args: ScrollParams, ctx: PageContext): Promise<Scrolled> {
  return scroll(mainScroller(args), args, ctx, (r) => r);
}

async function scroll(el: Element, { dx, dy, smooth }: ScrollParams, ctx: PageContext, dress: (r: Scrolled) => Scrolled): Promise<Scrolled> {
  const from = { x: native(el).scrollLeft, y: native(el).scrollTop };
  const result = (): Scrolled => dress({
    scrolled: { dx, dy },
    moved: { dx: round(native(el).scrollLeft - from.x), dy: round(native(el).scrollTop - from.y) },
    position: { x: round(native(el).scrollLeft), y: round(native(el).scrollTop), max_x: native(el).scrollWidth - native(el).clientWidth, max_y: native(el).scrollHeight - native(el).clientHeight },
    element: describe(el),
  });
  ctx.acted(result());
  // A page that is not being drawn makes no progress with a smooth scroll, and hears of no scroll at all until it is shown.
  const smoothly = smooth && !document.hidden;
  native(el).scrollBy({ left: dx, top: dy, behavior: smoothly ? 'smooth' : 'instant' });
  if (smoothly) await arrived(el, ctx);
  else if (document.hidden && (native(el).scrollLeft !== from.x || native(el).scrollTop !== from.y)) announceScroll(el);
  return result();
}

const round = (n: number) => Math.round(n * 100) / 100;

async function arrived(el: Element, ctx: PageContext): Promise<void> {
  let ended = false;
  const end = () => { ended = true; };
  const on: EventTarget = el === document.scrollingElement ? document : el;
  native(on).addEventListener('scrollend', end, { once: true });
  const until = Math.min(Date.now() + 3000, ctx.deadline);
  let still = 0;
  for (let last = ''; !ended && still < 5 && Date.now() < until;) {
    await drawn(ctx.signal);
    await change(ctx.signal, 15);
    const now = `${native(el).scrollLeft} ${native(el).scrollTop}`;
    still = now === last ? still + 1 : 0;
    last = now;
  }
  native(on).removeEventListener('scrollend', end);
}

const pageScroller = () => document.scrollingElement ?? document.documentElement;
const scrollerFor = (el: Element) => (el === document.body || el === document.documentElement ? pageScroller() : el);

function canScroll(el: Element, { dx, dy }: ScrollParams): boolean {
  if (el === pageScroller()) return true;
  const style = getComputedStyle(el);
  const contains = (overflow: string) => overflow !== 'visible' && overflow !== 'clip';
  if (!contains(style.overflowY) && !contains(style.overflowX)) return false;
  // A list that is just full yet may become longer; asked for nothing, nothing has to give.
  return (dy === 0 || native(el).scrollHeight > native(el).clientHeight) && (dx === 0 || native(el).scrollWidth > native(el).clientWidth);
}

function notAScroller(el: Element): string {
  const style = getComputedStyle(el);
  if (style.overflowY !== 'visible' && style.overflowY !== 'clip') return 'all that is in it is in view already: it cannot be scrolled that way';
  for (let up = parentOf(el); up; up = parentOf(up)) {
    if (up !== document.body && up !== document.documentElement && canScroll(up, { dx: 0, dy: 1, smooth: false })) return `it does not scroll; it is in ${outline(up)}, which does`;
  }
  const inner = [...native(el).querySelectorAll('*')].find((e) => canScroll(e, { dx: 0, dy: 1, smooth: false }));
  return inner ? `it does not scroll; ${outline(inner)} in it does` : 'it does not scroll';
}

/** The window; in an application whose window stands still, the large scroller in the middle of it. */
function mainScroller(params: ScrollParams): Element {
  const page = pageScroller();
  if (native(page).scrollHeight > native(page).clientHeight || native(page).scrollWidth > native(page).clientWidth) return page;
  for (let up = elementAt(innerWidth / 2, innerHeight / 2); up; up = parentOf(up)) {
    const r = native(up).getBoundingClientRect();
    if (up !== document.body && up !== document.documentElement && canScroll(up, params) && r.width * r.height > innerWidth * innerHeight * 0.25) return up;
  }
  return page;
}
