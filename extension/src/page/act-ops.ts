// The operations that find and change elements.
import { showPointOp } from '../overlay/draw';
import { aimedOp, aimOp, aimPointOp } from './act/aim';
import { boxOp } from './act/box';
import { checkOp } from './act/check';
import { clickAtOp, clickOp } from './act/click';
import { framePointOp, frameShutOp } from './act/frame';
import { hearKeysOp } from './act/hear';
import { stillOp } from './act/kept';
import { selectOp } from './act/options';
import { pressHereOp, pressOp } from './act/press';
import { readValueOp } from './act/read-value';
import { scrollElementOp, scrollWindowOp } from './act/scroll';
import { focusStateOp, focusTypingOp } from './act/typing';
import { valueOp } from './act/value';
import { answeringOp } from './act/answer';
import type { PageOp } from './context';
import { frameShownOp, pointFrameOp } from './frames-shown';
import { framePlaceOp, probeOp } from './locate/frames';
import { snapshotOp } from './snapshot/snapshot';
import { tick } from './wait';

export const actOps: Record<string, PageOp> = {
  aim: aimOp,
  aimed: aimedOp,
  aim_point: aimPointOp,
  frame_point: framePointOp,
  frame_shut: frameShutOp,
  frame_shown: frameShownOp,
  point_frame: pointFrameOp,
  focus_state: focusStateOp,
  hear_keys: hearKeysOp,
  focus_typing: focusTypingOp,
  box: boxOp,
  click: clickOp,
  click_at: clickAtOp,
  check: checkOp,
  press: pressOp,
  press_here: pressHereOp,
  scroll: scrollElementOp,
  scroll_window: scrollWindowOp,
  select: selectOp,
  show_point: showPointOp,
  set_value: valueOp,
  read_value: readValueOp,
  probe: probeOp,
  still: stillOp,
  answering: answeringOp,
  snapshot: snapshotOp,
  frame_place: framePlaceOp,
  tick,
};
