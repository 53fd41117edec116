// The place of an element in the view, for a picture of it.
import { describe, type ElementInfo } from '../describe';
import type { PageContext } from '../context';
import { boxesOf } from '../dom';
import { onElement, type Around, type Beyond, type ElementArgs } from '../element';
import { drawn } from '../wait';
import { native } from '../native';

export interface Box { box: { x: number; y: number; width: number; height: number }; element: ElementInfo; shadow?: true; frame?: string }

export function boxOp(args: ElementArgs, ctx: PageContext): Promise<Box | Beyond | Around> {
  return onElement<Box>(args, ctx, {
    needs: { enabled: false },
    async act({ el }) {
      native(el).scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
      // What is loaded or drawn only when it is in view gets its chance.
      await drawn(ctx.signal);
      const boxes = boxesOf(el);
      const left = Math.min(...boxes.map((r) => r.left));
      const top = Math.min(...boxes.map((r) => r.top));
      const box = { x: left, y: top, width: Math.max(...boxes.map((r) => r.right)) - left, height: Math.max(...boxes.map((r) => r.bottom)) - top };
      return { box, element: describe(el) };
    },
  });
}
