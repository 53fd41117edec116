// One document's part in wait_for: how a condition stands here, told again whenever that changes.
import { Attempt, stateOf } from './actionable';
import type { PageContext } from './context';
import { isVisible, shadowRoots } from './dom';
import { PageError } from './error';
import { find, findIn } from './locate/find';
import type { Target } from './locate/target';
import { elementOf } from './snapshot/refs';
import { change, hasSettled, observeStillness, watching } from './wait';

export type ElementState = 'visible' | 'hidden' | 'attached' | 'detached' | 'enabled';
/** How a stale ref's error says that its element has left the page. */
const GONE = 'the element is gone';

export type Condition = { target: Target; state: ElementState } | { text: string };

export interface Standing {
  /** Whether what the condition is about is in this document at all. */
  found: boolean;
  /** Whether the condition holds, as far as this document goes. */
  holds: boolean;
  /** Whether the page has come to rest: before, nobody looks beyond the top document's own tree. */
  settled: boolean;
  /** Why it does not hold, where there is more to say than that nothing was found. */
  reason?: string;
}

interface Args {
  condition: Condition;
  from: number;
  until: number;
  timeout: number;
  /** What was told last; the next answer differs from it, or comes when the time is over. */
  known?: Standing;
}

export function standingOp({ condition, from, until, timeout, known }: Args, ctx: PageContext): Promise<Standing> {
  observeStillness();
  return watching(async () => {
    for (;;) {
      const before = performance.now();
      const now = look(condition, hasSettled(from, timeout));
      if (!known || now.holds !== known.holds || now.found !== known.found || now.settled !== known.settled || Date.now() >= until) return now;
      // At most a fifth of the time is spent on looking.
      await change(ctx.signal, Math.min(Math.max(5, (performance.now() - before) * 4), Math.max(5, until - Date.now())));
    }
  });
}

function look(condition: Condition, settled: boolean): Standing {
  if ('text' in condition) {
    const target: Target = { by: 'text', value: condition.text, index: 0 };
    const holds = [document, ...shadowRoots(document)].some((root) => findIn(root, target, false).elements.length > 0);
    return { found: holds, holds, settled };
  }
  const { target, state } = condition;
  if (target.by === 'ref') return lookAt(target.value, state);
  const gone = state === 'hidden' || state === 'detached';
  // What shall be gone is gone only if it is nowhere.
  const { elements } = find(target, settled || gone);
  const el = elements[target.index];
  if (!el) return { found: false, holds: gone, settled };
  // Without an index, nothing that matches may be seen any more.
  const hidden = target.index ? !isVisible(el) : !elements.some(isVisible);
  return { found: true, settled, ...standingOf(el, state, hidden) };
}

/** The one element that a ref means: where it has left the page, it is hidden and detached; another in its place is not it. */
function lookAt(ref: string, state: ElementState): Standing {
  try {
    const el = elementOf(ref);
    return { found: true, settled: true, ...standingOf(el, state, !isVisible(el)) };
  } catch (e) {
    const left = e instanceof PageError && e.code === 'STALE_REF' && e.message.includes(GONE);
    if (left && (state === 'hidden' || state === 'detached')) return { found: true, holds: true, settled: true };
    throw e;
  }
}

function standingOf(el: Element, state: ElementState, hidden: boolean): Pick<Standing, 'holds' | 'reason'> {
  switch (state) {
    case 'attached': return { holds: true };
    case 'detached': return { holds: false, reason: 'it is still in the page' };
    case 'hidden': return hidden ? { holds: true } : { holds: false, reason: 'it can still be seen' };
    case 'visible':
    case 'enabled': {
      const is = stateOf(el, { enabled: state === 'enabled' }, new Attempt());
      return is.is === 'ready' ? { holds: true } : { holds: false, reason: is.reason };
    }
  }
}
