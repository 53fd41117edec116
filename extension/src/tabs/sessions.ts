// Sessions: a client's tabs under one name, shown to the person as a tab group. Which tab is in which session is kept here and not read
// off the groups, because people drag tabs in and out of groups, and a session's end must close its own tabs and no others.
import type { Call } from '../call';
import { BridgeError } from '../errors';
import { groupingInTurn, heldGroups, heldTabs, HELD_PREFIX } from './held-groups';
import { ownerOf } from './owners';
import type { LiveTab } from './resolve';

export interface SessionParams { session_id?: string; group_title?: string; group_color?: Color }

export interface Grouped {
  session_id?: string;
  group_id?: number;
  group_title?: string;
  group_color?: string;
}

export const COLORS = ['blue', 'red', 'yellow', 'green', 'cyan', 'orange', 'pink', 'purple', 'grey'] as const;
type Color = (typeof COLORS)[number];

interface Session {
  /** Who named it first. Unknown where it was found again by its group after the extension had been loaded anew. */
  owner?: string;
  title: string;
  color: Color;
  groupId?: number;
}

interface State {
  sessions: Record<string, Session>;
  tabs: Record<number, string>;
  /** How many sessions there have been: the colours take turns. */
  made: number;
}

const KEY = 'sessions';
const PREFIX = 'agent:';
/** Sessions that have no tab left are remembered up to this many, for their owner and colour. */
const KEEP = 300;

let state: Promise<State> | undefined;

function load(): Promise<State> {
  state ??= (async () => {
    const [stored, tabs, groups] = await Promise.all([chrome.storage.session.get(KEY), chrome.tabs.query({}), allGroups()]);
    const found = stored[KEY] as State | undefined;
    const s: State = { sessions: Object.assign(Object.create(null) as State['sessions'], found?.sessions), tabs: { ...found?.tabs }, made: found?.made ?? 0 };
    const live = new Set(tabs.map((t) => t.id));
    for (const id of Object.keys(s.tabs)) if (!live.has(Number(id))) delete s.tabs[Number(id)];
    if (!found) rebuild(s, tabs, groups);
    return s;
  })();
  return state;
}

/** The extension was loaded anew, or the browser brought its tabs back: the groups are still there and say what they were. */
function rebuild(s: State, tabs: chrome.tabs.Tab[], groups: Map<number, chrome.tabGroups.TabGroup>): void {
  for (const group of groups.values()) {
    const id = group.title?.startsWith(PREFIX) ? group.title.slice(PREFIX.length) : '';
    // One that says that an agent was at work.
    if (!id || id in s.sessions || group.title?.startsWith(HELD_PREFIX)) continue;
    s.sessions[id] = { title: group.title ?? '', color: group.color, groupId: group.id };
    s.made++;
    for (const tab of tabs) if (tab.groupId === group.id && tab.id !== undefined) s.tabs[tab.id] = id;
  }
}

async function save(): Promise<void> {
  const s = await load();
  const used = new Set(Object.values(s.tabs));
  const idle = Object.keys(s.sessions).filter((id) => !used.has(id));
  for (const id of idle.slice(0, Math.max(0, idle.length - KEEP))) delete s.sessions[id];
  await chrome.storage.session.set({ [KEY]: s });
}

/** The session that a tab is in, wherever the person has dragged it. */
export const sessionOf = async (tabId: number): Promise<string | undefined> => (await load()).tabs[tabId];

/** The groups of all windows. Not every browser has groups. */
export async function allGroups(): Promise<Map<number, chrome.tabGroups.TabGroup>> {
  const groups = await (chrome.tabGroups as typeof chrome.tabGroups | undefined)?.query({}).catch(() => []);
  return new Map((groups ?? []).map((g) => [g.id, g]));
}

/** Whether the call may use the session; to be asked before anything is done. */
export async function admit(call: Call, { session_id, group_title, group_color }: SessionParams): Promise<void> {
  if (session_id === undefined) {
    if (group_title !== undefined || group_color !== undefined) throw new BridgeError('INVALID_PARAMS', 'invalid params: group_title and group_color go with session_id');
    return;
  }
  const session = (await load()).sessions[session_id];
  if (session) refuseOthers(call, session_id, session);
}

/** A command line is a new client at every call and acts for the person, to whom all tabs are open. */
const isCommandLine = (call: Call) => call.class === 'person' && /^c\d+-/.test(call.owner);

function refuseOthers(call: Call, id: string, { owner }: Session): void {
  if (owner === undefined || owner === call.owner || isCommandLine(call)) return;
  throw new BridgeError('PERMISSION_DENIED', `forbidden: the session ${JSON.stringify(id.slice(0, 100))} belongs to another client`);
}

/** One session's changes one after the other: two tabs that come at the same time must end up in one group. */
const queues = new Map<string, Promise<unknown>>();

function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
  const done = (queues.get(id) ?? Promise.resolve()).then(work, work);
  const tail = done.catch(() => {});
  queues.set(id, tail);
  void tail.then(() => { if (queues.get(id) === tail) queues.delete(id); });
  return done;
}

/** Puts a tab into the session that the call names, and says which group that is. Without a session in the call, nothing. */
export async function join(call: Call, tabId: number, params: SessionParams): Promise<Grouped> {
  const { session_id: id, group_title, group_color } = params;
  if (id === undefined) return {};
  await admit(call, params);
  return inTurn(id, async () => {
    const s = await load();
    let session = s.sessions[id];
    if (!session) {
      session = { owner: call.owner, title: onOneLine(group_title ?? PREFIX + id), color: group_color ?? COLORS[s.made % COLORS.length]! };
      s.sessions[id] = session;
      s.made++;
    }
    // Taken over by whoever names it first after it was found again.
    session.owner ??= call.owner;
    if (group_title !== undefined) session.title = onOneLine(group_title);
    if (group_color !== undefined) session.color = group_color;
    s.tabs[tabId] = id;
    await save();
    await group(session, tabId);
    await save();
    return { session_id: id, ...(session.groupId === undefined ? {} : { group_id: session.groupId }), group_title: session.title, group_color: session.color };
  });
}

/** The title stands in the person's tab strip: nothing in it may turn the direction of what stands beside it, or break the line. */
const onOneLine = (title: string) => title.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ');

/** So often grouping is tried while the person is dragging a tab. */
const TRIES = 5;

/** The tab goes into the session's group; the group is made if there is none (any more). A browser that cannot keeps the session all the same. */
async function group(session: Session, tabId: number): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    try {
      return await groupingInTurn(() => groupNow(session, tabId));
    } catch (e) {
      const text = e instanceof Error ? e.message : String(e);
      if (/No tab with id/i.test(text)) return;
      await new Promise((r) => setTimeout(r, 200));
    }
  }
}

async function groupNow(session: Session, tabId: number): Promise<void> {
  if (session.groupId !== undefined && !(await allGroups()).has(session.groupId)) session.groupId = undefined;
  if (session.groupId === undefined) {
    const { windowId } = await chrome.tabs.get(tabId);
    session.groupId = await chrome.tabs.group({ tabIds: [tabId], createProperties: { windowId } });
  } else if ((await chrome.tabs.get(tabId)).groupId !== session.groupId) await chrome.tabs.group({ tabIds: [tabId], groupId: session.groupId });
  const now = await chrome.tabGroups.get(session.groupId);
  if (now.title !== session.title || now.color !== session.color) await chrome.tabGroups.update(session.groupId, { title: session.title, color: session.color });
}

/** What list_tabs and find_tab say about a tab's session and group. */
export async function describer(): Promise<(tab: chrome.tabs.Tab) => Grouped> {
  const [{ tabs }, groups, held] = await Promise.all([load(), allGroups(), heldGroups()]);
  return (tab) => {
    const id = tab.id === undefined ? undefined : tabs[tab.id];
    // What says only that an agent is at work comes and goes by itself.
    const of = tab.groupId === undefined || held.has(tab.groupId) ? undefined : groups.get(tab.groupId);
    return { ...(id === undefined ? {} : { session_id: id }), ...(of ? { group_id: of.id, group_title: of.title ?? '', group_color: of.color } : {}) };
  };
}

/** The tab of a session that was used last. */
export async function lastTab(id: string): Promise<LiveTab | undefined> {
  const { tabs } = await load();
  const all = await chrome.tabs.query({});
  return all.filter((t): t is LiveTab => t.id !== undefined && tabs[t.id] === id).sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0))[0];
}

/** Ends a session. Gives the tabs to be closed, which are those that clients opened, and those that stay, taken out of the group. */
export async function dissolve(call: Call, id: string, close: boolean): Promise<{ closing: number[]; staying: number[] }> {
  return inTurn(id, async () => {
    const s = await load();
    const session = s.sessions[id];
    if (!session) throw new BridgeError('INVALID_PARAMS', `invalid params: there is no session ${JSON.stringify(id.slice(0, 100))}`);
    refuseOthers(call, id, session);
    const closing: number[] = [];
    const staying: number[] = [];
    for (const tab of await chrome.tabs.query({})) {
      if (tab.id === undefined) continue;
      const owner = await ownerOf(tab.id);
      const recorded = s.tabs[tab.id] === id;
      // A tab that a page of the session opened: Chrome puts it into the group, and it belongs to who acted.
      const opened = session.groupId !== undefined && tab.groupId === session.groupId && owner !== undefined && owner === session.owner && s.tabs[tab.id] === undefined;
      if (!recorded && !opened) continue;
      const found = session.owner === undefined;
      if (close && (owner !== undefined || found)) closing.push(tab.id);
      else staying.push(tab.id);
    }
    const all = [...closing, ...staying];
    for (const tabId of all) delete s.tabs[tabId];
    delete s.sessions[id];
    await save();
    // Those that close as well: see leaveGroup. Each by itself, as one that is gone by now would spoil the call for all.
    await Promise.all(all.map((tabId) => chrome.tabs.ungroup(tabId).catch(() => {})));
    return { closing, staying };
  });
}

/**
 * Takes a tab that is to be closed out of its session's group, or of that of its agent. A group whose last tab leaves it is gone; one that goes with its window
 * Chrome keeps as a saved one, with the addresses of its pages.
 */
export async function leaveGroup(tabId: number): Promise<void> {
  const { groupId } = await chrome.tabs.get(tabId).catch(() => ({ groupId: undefined }));
  if (groupId === undefined) return;
  const [{ sessions }, held] = await Promise.all([load(), heldTabs()]);
  if (held.get(tabId)?.groupId === groupId || Object.values(sessions).some((s) => s.groupId === groupId)) await chrome.tabs.ungroup(tabId).catch(() => {});
}

export function watchSessions(): void {
  chrome.tabs.onRemoved.addListener((tabId) => void load().then((s) => {
    if (!(tabId in s.tabs)) return;
    delete s.tabs[tabId];
    return save();
  }));
  chrome.tabs.onReplaced.addListener((added, removed) => void load().then((s) => {
    const id = s.tabs[removed];
    if (id === undefined) return;
    delete s.tabs[removed];
    s.tabs[added] = id;
    return save();
  }));
}
