// check: a box is as it is asked to be, whatever it was; what the page made of it is read back.
import type { PageContext } from '../context';
import { mark } from '../aftermath';
import { describe, outline, type ElementInfo } from '../describe';
import { onElement, type Around, type Beyond, type ElementArgs, type Hit } from '../element';
import { PageError } from '../error';
import { change, queued } from '../wait';
import { settle, type Later, type Settled } from './kept';
import { click, moveOnto, NO_MODIFIERS, pressAndRelease } from './pointer';
import { controlOf } from './resolve';
import { native } from '../native';

export interface Checked extends Settled { element: ElementInfo; checked: boolean; shadow?: true }

const BOX = 'input[type=checkbox], input[type=radio], [role=checkbox], [role=radio], [role=switch], [role=menuitemcheckbox], [role=menuitemradio], [aria-checked], button[aria-pressed]';

export function checkOp(args: ElementArgs & Later & { checked: boolean }, ctx: PageContext): Promise<Checked | Beyond | Around> {
  const { checked } = args;
  return onElement<Checked>(args, ctx, {
    needs: { hit: true },
    resolve: (el) => controlOf(el, BOX),
    unfit(el) {
      if (!native(el).matches(BOX)) throw new PageError('INVALID_PARAMS', `check is for check boxes, radio buttons and switches; this is ${outline(el)}`);
      if (!checked && isRadio(el) && stateOf(el) === true) throw new PageError('INVALID_PARAMS', `a radio button cannot be unticked: choose another one of its group instead of ${outline(el)}`);
      return null;
    },
    act: (hit) => setChecked(hit, checked, ctx, args),
  });
}

async function setChecked({ el, point, dress, again }: Hit, wanted: boolean, ctx: PageContext, later: Later): Promise<Checked> {
  const element = describe(el);
  if (stateOf(el) === wanted) return { element, checked: wanted };
  ctx.acted(dress({ element, checked: wanted }));
  const before = mark();
  let box = el;
  // A box that is in between (indeterminate) may take two clicks to one of its sides; never more than that, and never one too many.
  for (let clicks = stateOf(el) === null ? 2 : 1; clicks > 0 && stateOf(box) !== wanted; clicks--) {
    moveOnto(box, point);
    const press = { button: 0, detail: 1, modifiers: NO_MODIFIERS };
    pressAndRelease(box, point, press);
    if (native(box).isConnected) click(box, point, press);
    box = await settled(box, wanted, again, ctx);
  }
  const wrong = () => {
    const now = stateOf(box);
    return now === wanted ? null : new PageError('ELEMENT_NOT_ACTIONABLE', `the page did not keep it: ${outline(el)} was clicked to be ${wanted ? 'ticked' : 'unticked'}, but it is ${now === null ? 'in between' : now ? 'ticked' : 'unticked'}`, { maybe_executed: true });
  };
  const kept = await settle(before, ctx, later, () => (native(box).isConnected ? wrong() : null));
  return { element, checked: wanted, ...kept };
}

/** Ticked, not ticked, or (null) in between. */
export function stateOf(el: Element): boolean | null {
  if (el instanceof HTMLInputElement) return el.indeterminate ? null : el.checked;
  const said = native(el).getAttribute(native(el).hasAttribute('aria-checked') || !native(el).hasAttribute('aria-pressed') ? 'aria-checked' : 'aria-pressed')?.toLowerCase();
  return said === 'true' ? true : said === 'mixed' ? null : false;
}

const isRadio = (el: Element) => (el instanceof HTMLInputElement ? el.type === 'radio' : /^(?:radio|menuitemradio)$/.test(native(el).getAttribute('role') ?? ''));

/** A box that the page draws itself may follow a moment later, perhaps as a new element. */
async function settled(box: Element, wanted: boolean, again: Hit['again'], ctx: PageContext): Promise<Element> {
  const until = Math.min(Date.now() + (box instanceof HTMLInputElement ? 0 : 1000), ctx.deadline);
  for (;;) {
    await queued(2);
    if (!native(box).isConnected) box = again() ?? box;
    if (stateOf(box) === wanted || Date.now() >= until) return box;
    await change(ctx.signal, 5);
  }
}
