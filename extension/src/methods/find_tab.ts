// find_tab: the open tabs that match, best first; shows the best one if asked to.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { FindTabParams, FindTabResult } from '../generated/methods';
import { judge } from '../policy/policy';
import { listTabs } from '../tabs/listing';
import { admitted } from '../tabs/resolve';
import { show } from '../tabs/show';

export const handler: Handler<FindTabParams, FindTabResult> = async ({ query, url_contains, title_contains, session_id, activate }, call) => {
  if ([query, url_contains, title_contains, session_id].every((v) => v === undefined)) {
    throw new BridgeError('INVALID_PARAMS', 'invalid params: one of query, url_contains, title_contains or session_id says which tab');
  }
  if (activate) judge('activate_tab', 'write', {});
  const has = (text: string, part: string | undefined) => part === undefined || fold(text).includes(fold(part));
  const words = query === undefined ? [] : fold(query).split(/\s+/).filter(Boolean);
  const found = (await listTabs(call)).filter(({ shown }) =>
    has(address(shown.url), url_contains) && has(shown.title, title_contains)
    && (session_id === undefined || shown.session_id === session_id)
    && words.every((word) => has(shown.title, word) || has(address(shown.url), word)));
  // The whole query in one place before its words in several; then what was used last.
  const whole = (of: (typeof found)[number]) => Number(query !== undefined && (has(of.shown.title, query) || has(address(of.shown.url), query)));
  found.sort((a, b) => whole(b) - whole(a) || (b.tab.lastAccessed ?? 0) - (a.tab.lastAccessed ?? 0));
  const [best] = found;
  if (activate && best) {
    await admitted(call, { ...best.tab, id: best.shown.tab_id });
    call.acted();
    await show(best.shown.tab_id, best.tab.windowId);
    for (const { shown } of found) if (shown.window_id === best.shown.window_id) shown.active = shown === best.shown;
  }
  return { tabs: found.map(({ shown }) => shown), count: found.length };
};

const fold = (text: string) => text.normalize('NFC').toLocaleLowerCase();

/** Both as it is written on the wire and as a person reads it. */
function address(url: string): string {
  try { return `${url}\n${decodeURI(url)}`; } catch { return url; }
}
