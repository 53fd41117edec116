// Who a tab belongs to, and which window is whose: the state that close_auto_tabs, agent windows and tab isolation rest on.
// Kept in chrome.storage.session, so that it survives a restart of the worker and ends with the browser.

export interface TabRecord {
  /** The client that created the tab, as the hub stamped it. */
  owner: string;
}

interface State {
  tabs: Record<number, TabRecord>;
  /** Owner to the window that was opened for it. */
  windows: Record<string, number>;
}

const KEY = 'owners';
let state: State | undefined;
let loading: Promise<State> | undefined;
let saving: Promise<void> | undefined;

async function load(): Promise<State> {
  if (state) return state;
  loading ??= (async () => {
    const stored = (await chrome.storage.session.get(KEY))[KEY] as State | undefined;
    const fresh: State = { tabs: { ...stored?.tabs }, windows: Object.assign(Object.create(null) as Record<string, number>, stored?.windows) };
    // What was closed while no worker ran is forgotten now.
    const [tabs, windows] = await Promise.all([chrome.tabs.query({}), chrome.windows.getAll()]);
    const live = new Set(tabs.map((t) => t.id));
    const open = new Set(windows.map((w) => w.id));
    for (const id of Object.keys(fresh.tabs)) if (!live.has(Number(id))) delete fresh.tabs[Number(id)];
    for (const [owner, id] of Object.entries(fresh.windows)) if (!open.has(id)) delete fresh.windows[owner];
    state = fresh;
    return fresh;
  })();
  return loading;
}

/** Writes the state; changes made while a write runs are gathered into the next one. Resolves when all of it is stored. */
function save(): Promise<void> {
  saving ??= (async () => {
    await Promise.resolve();
    saving = undefined;
    await chrome.storage.session.set({ [KEY]: state });
  })();
  return saving;
}

/** Records that a client created a tab. Stored before this resolves, so that an answer never promises what a restart forgets. */
export async function own(tabId: number, owner: string): Promise<void> {
  const s = await load();
  s.tabs[tabId] = { ...s.tabs[tabId], owner };
  await save();
}

export async function ownerOf(tabId: number): Promise<string | undefined> {
  return (await load()).tabs[tabId]?.owner;
}

/** The tabs that clients created: all of them, or one client's. */
export async function ownedTabs(owner?: string): Promise<number[]> {
  const s = await load();
  return Object.entries(s.tabs).filter(([, r]) => owner === undefined || r.owner === owner).map(([id]) => Number(id));
}

export async function windowOf(owner: string): Promise<number | undefined> {
  return (await load()).windows[owner];
}

export async function setWindow(owner: string, windowId: number): Promise<void> {
  const s = await load();
  s.windows[owner] = windowId;
  await save();
}

/** The windows that belong to agents; a person's default tab is never looked for there. */
export async function agentWindows(): Promise<Set<number>> {
  return new Set(Object.values((await load()).windows));
}

/** Forgets tabs at once, before Chrome's own event arrives. */
export async function forgetTabs(ids: number[]): Promise<void> {
  const s = await load();
  for (const id of ids) delete s.tabs[id];
  await save();
}

export function watchOwners(): void {
  chrome.tabs.onRemoved.addListener((tabId) => void load().then((s) => {
    if (!(tabId in s.tabs)) return;
    delete s.tabs[tabId];
    return save();
  }));
  chrome.tabs.onReplaced.addListener((added, removed) => void load().then((s) => {
    const record = s.tabs[removed];
    if (!record) return;
    delete s.tabs[removed];
    s.tabs[added] = record;
    return save();
  }));
  chrome.windows.onRemoved.addListener((windowId) => void load().then((s) => {
    for (const [owner, id] of Object.entries(s.windows)) {
      if (id === windowId) {
        delete s.windows[owner];
        void save();
      }
    }
  }));
}
