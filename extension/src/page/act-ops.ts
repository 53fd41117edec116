// The operations that find and change elements.
import { checkOp } from './act/check';
import { clickAtOp, clickOp } from './act/click';
import { selectOp } from './act/options';
import { pressHereOp, pressOp } from './act/press';
import { readValueOp } from './act/read-value';
import { scrollElementOp, scrollWindowOp } from './act/scroll';
import { valueOp } from './act/value';
import type { PageOp } from './context';
import { framePlaceOp, probeOp } from './locate/frames';
import { tick } from './wait';

export const actOps: Record<string, PageOp> = {
  click: clickOp,
  click_at: clickAtOp,
  check: checkOp,
  press: pressOp,
  press_here: pressHereOp,
  scroll: scrollElementOp,
  scroll_window: scrollWindowOp,
  select: selectOp,
  set_value: valueOp,
  read_value: readValueOp,
  probe: probeOp,
  frame_place: framePlaceOp,
  tick,
};
