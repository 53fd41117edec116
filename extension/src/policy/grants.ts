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
/** Nor who let a question go that the user had not answered, or whose question nobody answered. */
const UNANSWERED_MS = 60_000;

let grants: Grant[] = [];
const refused = new Map<string, { answer: 'no' | 'none'; until: number }>();
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

export function refuse(owner: string, place: string, answer: 'no' | 'none'): void {
  refused.set(`${owner}\n${place}`, { answer, until: Date.now() + (answer === 'no' ? REFUSED_MS : UNANSWERED_MS) });
  for (const key of refused.keys()) if (refused.size > MOST) refused.delete(key);
}

/** What came of the last question about it, as long as it is not asked again. */
export function refusedBy(owner: string, place: string): 'no' | 'none' | undefined {
  const last = refused.get(`${owner}\n${place}`);
  return last && Date.now() < last.until ? last.answer : undefined;
}

export function onGrants(watcher: () => void): void {
  watchers.add(watcher);
}
