// The list of who acts where. Rows keep their elements from one second to the next, so that the focus stays where it is; what others
// wrote (names, titles) goes in as text, each in a box of its own direction.
import { el, put, set, text } from './page';
import type { Actor, Status } from './status';

interface Row { item: HTMLLIElement; name: HTMLElement; kind: HTMLElement; doing: HTMLElement; tab: HTMLButtonElement; time: HTMLElement; tabId: number }
const rows = new Map<string, Row>();

export function showActors({ acting, more }: Status): void {
  const list = el('acting');
  const seen = new Set<string>();
  acting.forEach((actor, at) => {
    // Two clients of one name in one tab are two rows.
    let key = `${actor.tabId} ${actor.name}`;
    while (seen.has(key)) key += ' ';
    seen.add(key);
    const row = rows.get(key) ?? made(key);
    if (list.children[at] !== row.item) list.insertBefore(row.item, list.children[at] ?? null);
    fill(row, actor);
  });
  for (const [key, row] of rows) {
    if (seen.has(key)) continue;
    row.item.remove();
    rows.delete(key);
  }
  el('acting-more').hidden = more === 0;
  set('acting-more', text('popup_more', String(more)));
  // Read out when somebody comes or goes, not with every call.
  const working = acting.filter((a) => a.held);
  const names = [...new Set(working.map((a) => a.name))];
  set('acting-state', names.length ? text('popup_acting_now', names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '')) : text('popup_acting_none'));
  el('acting-state').classList.toggle('unseen', names.length > 0);
}

function made(key: string): Row {
  const item = document.createElement('li');
  const add = <K extends keyof HTMLElementTagNameMap>(tag: K, name: string) => {
    const node = document.createElement(tag);
    node.className = name;
    item.append(node);
    return node;
  };
  const row: Row = { item, name: add('bdi', 'name'), kind: add('span', 'kind'), doing: add('code', 'doing'), tab: add('button', 'tab link'), time: add('span', 'time'), tabId: 0 };
  row.tab.dir = 'auto';
  row.tab.addEventListener('click', () => void goTo(row.tabId));
  rows.set(key, row);
  return row;
}

function fill(row: Row, { name, agent, tabId, title, method, since, last, running }: Actor): void {
  row.tabId = tabId;
  row.item.classList.toggle('running', running);
  put(row.name, name);
  put(row.kind, text(agent ? 'popup_agent' : 'popup_person'));
  put(row.doing, method);
  put(row.tab, title);
  row.tab.title = text('popup_go_to', title);
  const ago = (at: number) => {
    const s = Math.max(0, Math.round((Date.now() - at) / 1000));
    return s < 60 ? text('popup_seconds', String(s)) : text('popup_minutes', String(Math.round(s / 60)));
  };
  put(row.time, running ? text('popup_since', ago(since)) : text('popup_last', ago(last)));
}

async function goTo(tabId: number): Promise<void> {
  const tab = await chrome.tabs.update(tabId, { active: true }).catch(() => undefined);
  if (tab) await chrome.windows.update(tab.windowId, { focused: true }).catch(() => {});
}
