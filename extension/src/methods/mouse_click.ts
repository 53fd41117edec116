// mouse_click: a trusted click at a point of the view, on whatever is there.
import type { Handler } from '../call';
import { checkPoint, clickAt, move, untilDialog } from '../debugger/input';
import { told, trusted, viewOf } from '../debugger/trusted';
import type { MouseClickParams, MouseClickResult } from '../generated/methods';
import { showPoint } from '../overlay/worker';
import { admitInput } from '../tabs/denied-frames';
import { watchEffects } from '../tabs/effects';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<MouseClickParams, MouseClickResult> = async ({ x, y, button = 'left', click_count = 1, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const effects = watchEffects(call, id);
  try {
    const dialog = await trusted(call, id, async (send) => {
      checkPoint({ x, y }, await viewOf(call, id));
      await admitInput(call, id, { point: { x, y } });
      call.acted();
      showPoint(call, id, { x, y });
      return untilDialog(id, async () => {
        await move(send, { x, y });
        await clickAt(send, { x, y }, { button, clickCount: click_count, modifiers: 0 });
      });
    });
    return { x, y, button, click_count, tab_id: id, ...told(dialog), ...(dialog ? {} : await effects.seen(false)) };
  } finally {
    effects.stop();
  }
};
