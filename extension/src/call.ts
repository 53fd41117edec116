// A call: one request of a client on its way through the extension, with its deadline and its abort signal.

export interface Call {
  /** The hub's id of the request. */
  readonly id: string;
  /** Who asked, stamped by the hub; what the call creates belongs to it. */
  readonly owner: string;
  /** Agents get a window of their own and see only their tabs; persons (CLI, legacy clients) see all. */
  readonly class: 'agent' | 'person';
  readonly method: string;
  /** When the answer is due, in Date.now() milliseconds. Nothing may wait longer. */
  readonly deadline: number;
  /** Aborted when the client cancels or the deadline has passed. */
  readonly signal: AbortSignal;
  /** From now on the page may have been changed: errors carry maybe_executed. */
  acted(): void;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the router has validated the parameters against the catalogue
export type Handler<P = any, R extends object = object> = (params: P, call: Call) => Promise<R>;

/** Milliseconds that a call still has, never negative; with `cap`, at most that. */
export function remaining(call: Call, cap = Infinity): number {
  return Math.max(0, Math.min(cap, call.deadline - Date.now()));
}
