// console: what a page wrote to its console; the first call begins to listen, and gets what the page wrote before as well.
import type { Handler } from '../call';
import type { ConsoleParams, ConsoleResult } from '../generated/methods';
import { atLeast, caughtUp, messages, shown } from '../record/messages';
import { lastOf } from '../record/recorder';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ConsoleParams, ConsoleResult> = async ({ action = 'get', limit = 100, level, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  await messages.resume(id);
  const ended = messages.of(id)?.ended;
  const recording = await messages.start(id);
  const gap = ended ?? recording.gap;
  await caughtUp(recording, id);
  if (action === 'clear') messages.clear(id);
  const found = lastOf(recording.entries, limit, atLeast(level)).map(shown);
  return { messages: found, count: found.length, ...(recording.dropped ? { dropped: recording.dropped } : {}), ...(gap === undefined ? {} : { gap }), tab_id: id };
};
