// What the popup and the worker say to each other.
import type { LinkState } from '../connection/link';
import type { Grant } from '../policy/grants';
import type { UserTabs } from '../policy/policy';
import type { OverlayWish } from '../overlay/settings';

export type Ask =
  | { type: 'status' }
  | { type: 'again' }
  | { type: 'pause'; on: boolean }
  | { type: 'evaluate'; on: boolean }
  | { type: 'overlay'; what: keyof OverlayWish; on: boolean }
  | { type: 'group'; on: boolean }
  | { type: 'stop' }
  | { type: 'unshare'; owner: string; place: string }
  | { type: 'pair'; key: string };

/** One client in one tab. Name and title are others' words, made harmless: to be shown as text. */
export interface Actor {
  name: string;
  agent: boolean;
  tabId: number;
  title: string;
  method: string;
  since: number;
  last: number;
  running: boolean;
  /** Whether the tab counts as this client's at the moment. */
  held: boolean;
}

export interface Status {
  state: LinkState;
  detail?: string | undefined;
  address?: string | undefined;
  browserId?: string | undefined;
  server?: string | undefined;
  roundTrip?: { at: number; ms: number } | undefined;
  /** Since when a sign of life has been waited for in vain. */
  silentSince?: number | undefined;
  paused: boolean;
  /** Undefined while code may not run in pages. */
  evaluateUntil?: number | undefined;
  userScripts: boolean;
  version: string;
  acting: Actor[];
  /** How many clients in how many tabs there are beyond those. */
  more: number;
  overlay: OverlayWish;
  /** Whether tabs that agents hold are put into groups. */
  group: boolean;
  /** What the user said of sites and of their own tabs; the lists are as they were written. */
  limits: { userTabs: UserTabs; allow: string[]; deny: string[] };
  shared: Grant[];
  /** How many calls the user has just stopped. */
  stopped?: number;
}

export type Reply = Status | { problem: string };
