// The popup's switch "Group the tabs an agent works in": while an agent holds a tab, the tab stands in a group with the agent's name. Off by
// default, and then nothing is done; docs/why.md says what speaks against it. No tab that is in anybody's group or session is touched.
import { groupingInTurn, HELD_PREFIX, heldTabs, saveHeld, type InGroup } from '../tabs/held-groups';
import { leftOf, putBack } from '../tabs/place';
import { COLORS, sessionOf } from '../tabs/sessions';
import { calledAs, onNames } from './names';
import { heldNow, onHeld } from './held';

const KEY = 'group_held_tabs';
/** While the person drags a tab, Chrome lets no tab be moved. */
const AGAIN_MS = 500;
/** What fails for another reason is tried so many times more, each time after twice as long; then with the next change. */
const FAILURES_MAX = 4;
/** A call that opens a tab may put it into its session, and then there is nothing to do. */
const SOON_MS = 100;
const NONE = -1;

/** Off until the switch is known. */
let on = false;
let running = false;
let again = false;
let failures = 0;
let soon: ReturnType<typeof setTimeout> | undefined;
let later: ReturnType<typeof setTimeout> | undefined;
/** What the groups were last called by this worker: one that the person names is left to them. */
const titles = new Map<number, string>();

export const groupsHeld = (): boolean => on;

/** The popup's switch. */
export async function setGroupsHeld(wanted: boolean): Promise<void> {
  await chrome.storage.local.set({ [KEY]: wanted });
  take(wanted);
}

function take(wanted: boolean): void {
  on = wanted;
  settle();
}

/** To be called at the top level of the worker. */
export function watchGrouping(): void {
  if (!(chrome.tabs.group as typeof chrome.tabs.group | undefined)) return;
  void chrome.storage.local.get<Record<string, unknown>>(KEY).then((all) => take(all[KEY] === true));
  chrome.storage.local.onChanged.addListener((changes) => { if (changes[KEY]) take(changes[KEY].newValue === true); });
  onHeld(() => { if (on) soon ??= setTimeout(settle, SOON_MS); });
  onNames(() => { if (on) settle(); });
  chrome.tabs.onCreated.addListener(({ id, groupId }) => void cameWith(id, (record) => record.groupId === groupId));
  chrome.webNavigation.onCreatedNavigationTarget.addListener(({ tabId, sourceTabId }) => void cameWith(tabId, (_, id) => id === sourceTabId));
  chrome.tabs.onRemoved.addListener((tabId) => void heldTabs().then((tabs) => { if (tabs.delete(tabId)) settle(true); }));
  chrome.tabs.onReplaced.addListener((added, removed) => void heldTabs().then((tabs) => {
    const record = tabs.get(removed);
    if (!record) return;
    tabs.delete(removed);
    tabs.set(added, record);
    return saveHeld();
  }));
}

/** What a page of a group opens, Chrome puts into the group; so with a tab that the person opens beside or out of one. */
async function cameWith(tabId: number | undefined, from: (record: InGroup, tabId: number) => boolean): Promise<void> {
  const tabs = await heldTabs();
  const [, source] = [...tabs].find(([id, record]) => from(record, id)) ?? [];
  if (tabId === undefined || source?.groupId === undefined || tabs.has(tabId)) return;
  const { owner, windowId, groupId } = source;
  tabs.set(tabId, { owner, windowId, groupId, left: [], opened: true });
  await saveHeld();
}

/** Makes the groups as they should be; what changes meanwhile is seen by another round. */
function settle(changed = false): void {
  again = true;
  clearTimeout(soon);
  soon = undefined;
  if (running) return;
  running = true;
  clearTimeout(later);
  void (async () => {
    let done = true;
    try {
      if (changed) await saveHeld();
      while (again) {
        again = false;
        done = await round();
      }
      failures = 0;
    } catch {
      done = ++failures > FAILURES_MAX;
    }
    running = false;
    if (!done) later = setTimeout(settle, AGAIN_MS * 2 ** failures);
  })();
}

/** Whether all is as it should be. */
async function round(): Promise<boolean> {
  const tabs = await heldTabs();
  const held = on ? heldNow() : new Map<number, { owner: string }>();
  if (!tabs.size && !held.size) return true;
  for (const [tabId, record] of tabs) if (held.has(tabId)) delete record.opened;
  const kept = new Set([...tabs].filter(([tabId, record]) => held.has(tabId) && !record.opened).map(([, record]) => record.groupId));
  let done = true;
  // The last one first: each finds its neighbours where they were when it was taken away from them.
  for (const [tabId, record] of [...tabs].reverse()) {
    if (held.has(tabId) || (record.opened && kept.has(record.groupId))) continue;
    done = (await groupingInTurn(() => letGo(tabId, record))) && done;
  }
  for (const [tabId, { owner }] of held) if (!tabs.has(tabId)) done = (await groupingInTurn(() => takeIn(tabId, owner))) && done;
  await rename(tabs);
  return done;
}

async function takeIn(tabId: number, owner: string): Promise<boolean> {
  const [tab, tabs, session] = await Promise.all([chrome.tabs.get(tabId).catch(() => undefined), heldTabs(), sessionOf(tabId)]);
  if (!tab || tab.pinned || tab.groupId !== NONE || session !== undefined) return true;
  const { windowId } = tab;
  const record: InGroup = { owner, windowId, left: await leftOf(tab) };
  const beside = [...tabs.values()].find((r) => r.owner === owner && r.windowId === windowId && r.groupId !== undefined)?.groupId;
  // Before the act: a worker that ends now leaves word of it.
  tabs.set(tabId, record);
  await saveHeld();
  try {
    record.groupId = await intoGroup(tabId, windowId, owner, beside);
  } catch (e) {
    tabs.delete(tabId);
    await saveHeld();
    return !isDragging(e);
  }
  await saveHeld();
  return true;
}

async function intoGroup(tabId: number, windowId: number, owner: string, beside: number | undefined): Promise<number> {
  if (beside !== undefined && (await chrome.tabGroups.get(beside).catch(() => undefined))?.windowId === windowId) {
    return chrome.tabs.group({ tabIds: [tabId], groupId: beside });
  }
  const groupId = await chrome.tabs.group({ tabIds: [tabId], createProperties: { windowId } });
  const title = titleOf(owner);
  titles.set(groupId, title);
  await chrome.tabGroups.update(groupId, { title, color: colorOf(owner) });
  return groupId;
}

const titleOf = (owner: string) => HELD_PREFIX + calledAs(owner);

/** The same agent has the same colour each time. */
const colorOf = (owner: string) => COLORS[[...owner].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 65_521, 0) % COLORS.length]!;

/** Whether the tab is out of its group or has left it by another's hand. */
async function letGo(tabId: number, { groupId, windowId, left, opened }: InGroup): Promise<boolean> {
  const tabs = await heldTabs();
  try {
    const tab = await chrome.tabs.get(tabId).catch(() => undefined);
    if (tab && tab.groupId !== NONE && (groupId === undefined ? await isNamedSo(tab.groupId) : tab.groupId === groupId)) {
      await chrome.tabs.ungroup(tabId);
      if (!opened && tab.windowId === windowId) await putBack(tabId, windowId, left);
    }
  } catch (e) {
    if (isDragging(e)) return false;
  }
  tabs.delete(tabId);
  await saveHeld();
  return true;
}

const isNamedSo = async (groupId: number) => (await chrome.tabGroups.get(groupId).catch(() => undefined))?.title?.startsWith(HELD_PREFIX) ?? false;
const isDragging = (e: unknown) => /cannot be edited right now/i.test(e instanceof Error ? e.message : String(e));

/** A name is known a little later than its owner. */
async function rename(tabs: Map<number, InGroup>): Promise<void> {
  const owners = new Map([...tabs.values()].map(({ groupId, owner }) => [groupId, owner]));
  for (const [groupId, old] of titles) {
    const owner = owners.get(groupId);
    if (owner === undefined) { titles.delete(groupId); continue; }
    const title = titleOf(owner);
    if (title === old) continue;
    titles.set(groupId, title);
    const group = await chrome.tabGroups.get(groupId).catch(() => undefined);
    if (group?.title === old) await chrome.tabGroups.update(groupId, { title }).catch(() => {});
  }
}
