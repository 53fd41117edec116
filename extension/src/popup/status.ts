// What the popup and the worker say to each other.
import type { LinkState } from '../connection/link';

export type Ask =
  | { type: 'status' }
  | { type: 'again' }
  | { type: 'pause'; on: boolean }
  | { type: 'evaluate'; on: boolean }
  | { type: 'pair'; key: string };

export interface Status {
  state: LinkState;
  detail?: string | undefined;
  address?: string | undefined;
  browserId?: string | undefined;
  server?: string | undefined;
  roundTrip?: { at: number; ms: number } | undefined;
  paused: boolean;
  /** Undefined while code may not run in pages. */
  evaluateUntil?: number | undefined;
  userScripts: boolean;
  version: string;
}

export type Reply = Status | { problem: string };
