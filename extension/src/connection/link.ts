// What is known about the connection, for the badge and the popup.

export type LinkState =
  | 'down'      // nobody listens
  | 'dialing'
  | 'up'        // proven both ways
  | 'unpaired'  // no key, or the daemon does not know ours
  | 'refused'   // the daemon turned us away
  | 'replaced'  // a newer connection of the same browser took over
  | 'foreign';  // something else answers on the daemon's port

/** The daemon's hello_ack. */
export interface Acknowledged {
  protocol: number;
  client_id?: string;
  browser_id?: string;
  limits?: Record<string, unknown>;
  policy?: Record<string, unknown>;
  server?: { name?: string; version?: string };
}

export interface Link {
  state: LinkState;
  detail?: string | undefined;
  address?: string | undefined;
  browserId?: string | undefined;
  since?: number;
  ack?: Acknowledged;
  /** The last ping that came back. */
  roundTrip?: { at: number; ms: number };
}

export let link: Link = { state: 'down' };
const watchers = new Set<(link: Link) => void>();

export const isUp = () => link.state === 'up';

export function setLink(change: Partial<Link>): void {
  link = { ...link, ...change };
  for (const watcher of watchers) watcher(link);
}

export function onLink(watcher: (link: Link) => void): void {
  watchers.add(watcher);
  watcher(link);
}
