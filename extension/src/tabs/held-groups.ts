// The groups that stand for an agent's hold on tabs: which tabs are in them and where those came from. Kept in chrome.storage.session, so
// that the next worker can take apart what this one leaves behind. Everybody else's groups, sessions' among them, are unknown here.

export interface InGroup {
  owner: string;
  windowId: number;
  /** Undefined from just before Chrome is asked for the group until it has said which. */
  groupId?: number | undefined;
  /** The tabs that stood to its left, the nearest first: where it goes back to. */
  left: number[];
  /** Chrome put it in, because a page of the group opened it; it stays where it is when it leaves. */
  opened?: true;
}

const KEY = 'held_groups';
/** What begins the name of such a group; a session's default name has no space there. */
export const HELD_PREFIX = 'agent: ';

let known: Promise<Map<number, InGroup>> | undefined;

export function heldTabs(): Promise<Map<number, InGroup>> {
  return (known ??= chrome.storage.session.get<Record<string, Record<string, InGroup>>>(KEY)
    .then((all) => new Map(Object.entries(all[KEY] ?? {}).map(([id, record]) => [Number(id), record]))));
}

export async function saveHeld(): Promise<void> {
  const tabs = await heldTabs();
  await (tabs.size ? chrome.storage.session.set({ [KEY]: Object.fromEntries(tabs) }) : chrome.storage.session.remove(KEY));
}

/** Whether a tab's group is one of those, and so says nothing about what the user or a client made. */
export async function heldGroups(): Promise<Set<number>> {
  const ids = [...(await heldTabs()).values()].map((record) => record.groupId);
  return new Set(ids.filter((id) => id !== undefined));
}

let last: Promise<unknown> = Promise.resolve();

/** Tabs are put into groups one at a time, whoever does it: between looking at a tab and grouping it nobody else may. */
export function groupingInTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work, work);
  last = done.catch(() => {});
  return done;
}
