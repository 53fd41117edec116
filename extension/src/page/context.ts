// What a page operation gets besides its arguments.

/** A page whose last word from the worker was sent longer ago than this may have been held up. */
export const FRESH_MS = 80;

export interface PageContext {
  /** The worker's name for this run; unique. */
  readonly run: string;
  /** Date.now() milliseconds after which the worker no longer waits. */
  readonly deadline: number;
  /** Aborted when the client cancels, the deadline passes or the document is being left. */
  readonly signal: AbortSignal;
  /**
   * To be called right before the act (the event dispatch, the value being set): tells the worker that the page may change from
   * now on, and what was hit. If the act takes the page away, this report is what the client gets as the result; so it has the
   * form of the operation's result. Throws (and the act must not follow) if the caller has been answered meanwhile.
   */
  acted(report: unknown): void;
  /**
   * To be asked right before the act. Nothing where the worker has been heard of just now; else the page was held up, by a dialog say, and
   * its caller may have been answered since: then a promise that rejects if that is so.
   */
  wanted(): Promise<void> | null;
}

export type PageOp = (args: never, ctx: PageContext) => unknown;
