// The sites that the user has shared with an agent: their answers to the prompt. Kept in chrome.storage.session, so that they outlive the
// worker and end with the browser.

export interface Grant {
  owner: string;
  /** What the agent called itself when the user said yes. */
  name: string;
  place: string;
  at: number;
}

const KEY = 'grants';
/** The oldest of very many is asked for again. */
const MOST = 500;
/** Whom the user has just refused is not asked about again for so long. */
const REFUSED_MS = 5 * 60_000;

let grants: Grant[] = [];
const refused = new Map<string, number>();
const watchers = new Set<() => void>();

/** To be awaited before any look. */
export const grantsReady: Promise<void> = chrome.storage.session.get<{ grants?: Grant[] }>(KEY).then((stored) => { grants = stored[KEY] ?? []; }, () => {});

const save = () => chrome.storage.session.set({ [KEY]: grants });
const of = (owner: string, place: string) => (g: Grant) => g.owner === owner && g.place === place;

export const isGranted = (owner: string, place: string): boolean => grants.some(of(owner, place));

/** Stored before this resolves: what was acted on must not be forgotten by a restart. */
export async function grant(owner: string, name: string, place: string): Promise<void> {
  refused.delete(`${owner}\n${place}`);
  grants = [...grants.filter((g) => !of(owner, place)(g)), { owner, name, place, at: Date.now() }].slice(-MOST);
  await save();
  for (const watcher of watchers) watcher();
}

/** Takes back what was shared; the next call there asks again. */
export async function revoke(owner: string, place: string): Promise<void> {
  await grantsReady;
  grants = grants.filter((g) => !of(owner, place)(g));
  await save();
  for (const watcher of watchers) watcher();
}

/** The latest first. */
export const allGrants = (): Grant[] => [...grants].reverse();

export function refuse(owner: string, place: string): void {
  refused.set(`${owner}\n${place}`, Date.now());
  for (const key of refused.keys()) if (refused.size > MOST) refused.delete(key);
}

export function isRefused(owner: string, place: string): boolean {
  const at = refused.get(`${owner}\n${place}`);
  return at !== undefined && Date.now() - at < REFUSED_MS;
}

export function onGrants(watcher: () => void): void {
  watchers.add(watcher);
}
