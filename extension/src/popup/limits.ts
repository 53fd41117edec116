// What the user keeps to themselves, and what they shared: their site lists as the daemon has them, and the sites that agents may use their
// tabs of, each with the way to take it back. Rows keep their elements from one second to the next, so that the focus stays where it is.
import { el, put, set, text } from './page';
import type { Status } from './status';

/** More entries of a list than this are only counted. */
const SHOWN = 30;
const rows = new Map<string, HTMLLIElement>();

export function showLimits({ limits: { userTabs, allow, deny }, shared }: Status, unshare: (owner: string, place: string) => void): void {
  // Where nothing is limited there is nothing to say.
  el('user-tabs-line').hidden = userTabs === 'allow';
  if (userTabs !== 'allow') set('user-tabs', text(`popup_user_tabs_${userTabs}`));
  list('allow', allow);
  list('deny', deny);
  el('shared-section').hidden = shared.length === 0 && userTabs !== 'ask';
  set('shared-state', shared.length ? text('popup_shared_count', String(shared.length)) : text('popup_shared_none'));
  el('shared-state').classList.toggle('unseen', shared.length > 0);
  const seen = new Set<string>();
  shared.forEach(({ owner, name, place }, at) => {
    const key = `${owner}\n${place}`;
    seen.add(key);
    const row = rows.get(key) ?? made(key, place, name, () => {
      unshare(owner, place);
      // The button goes with its row; the focus stays with the list.
      el('shared-name').focus();
    });
    if (el('shared').children[at] !== row) el('shared').insertBefore(row, el('shared').children[at] ?? null);
  });
  for (const [key, row] of rows) {
    if (seen.has(key)) continue;
    row.remove();
    rows.delete(key);
  }
}

function list(id: 'allow' | 'deny', patterns: string[]): void {
  el(`${id}-line`).hidden = patterns.length === 0;
  const more = patterns.length - SHOWN;
  set(id, patterns.slice(0, SHOWN).join(', ') + (more > 0 ? ` ${text('popup_more', String(more))}` : ''));
}

function made(key: string, place: string, name: string, unshare: () => void): HTMLLIElement {
  const item = document.createElement('li');
  const site = document.createElement('code');
  const who = document.createElement('bdi');
  const button = document.createElement('button');
  site.className = 'site';
  who.className = 'with';
  site.dir = 'ltr';
  put(site, place);
  put(who, name);
  put(button, text('popup_unshare'));
  button.setAttribute('aria-label', text('popup_unshare_label', place, name));
  button.addEventListener('click', unshare);
  item.append(site, button, who);
  rows.set(key, item);
  return item;
}
