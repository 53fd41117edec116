// A failure inside a page. Arrives in the worker as a BridgeError with the same code and text.

export type PageErrorCode =
  | 'ELEMENT_NOT_FOUND' | 'ELEMENT_NOT_ACTIONABLE' | 'STALE_REF' | 'INVALID_PARAMS' | 'SCRIPT_ERROR' | 'UNSUPPORTED'
  | 'TIMEOUT' | 'CANCELLED' | 'NAVIGATION_FAILED' | 'INTERNAL_ERROR';

export class PageError extends Error {
  readonly code: PageErrorCode;
  /** What callPage puts on the BridgeError as well, e.g. `{maybe_executed: true}`. */
  readonly extra: { maybe_executed?: boolean };

  constructor(code: PageErrorCode, message: string, extra: { maybe_executed?: boolean } = {}) {
    super(message);
    this.name = 'PageError';
    this.code = code;
    this.extra = extra;
  }
}

/** By name: each bundle has a class of its own. */
export function isPageError(e: unknown): e is PageError {
  return e instanceof Error && e.name === 'PageError';
}
