// The errors that reach a client: one code of the protocol's list, a text for people, and whether the command may have run.

export type ErrorCode =
  | 'INVALID_REQUEST' | 'INVALID_PARAMS' | 'UNKNOWN_METHOD' | 'TIMEOUT' | 'CANCELLED' | 'OVERLOADED' | 'TOO_LARGE' | 'PAUSED'
  | 'PERMISSION_DENIED' | 'DENIED_BY_USER' | 'SHUTTING_DOWN' | 'PAGE_BLOCKED' | 'TAB_NOT_FOUND' | 'ELEMENT_NOT_FOUND'
  | 'ELEMENT_NOT_ACTIONABLE' | 'STALE_REF' | 'NAVIGATION_FAILED' | 'DIALOG_OPEN' | 'RESTRICTED_PAGE' | 'SCRIPT_ERROR'
  | 'UNSUPPORTED' | 'INTERNAL_ERROR';

export interface ErrorExtra {
  /** The command may have reached the page: a client must not simply send it again. False says for certain that nothing came of it. */
  maybe_executed?: boolean;
}

export class BridgeError extends Error {
  readonly code: ErrorCode;
  readonly extra: ErrorExtra;

  constructor(code: ErrorCode, message: string, extra: ErrorExtra = {}) {
    super(message);
    this.name = 'BridgeError';
    this.code = code;
    this.extra = extra;
  }
}

/**
 * The page (document) in which a call was working is gone: navigated away, reloaded, closed frame. Thrown by callPage so that a
 * method that only waits can go on in the new document; unhandled it reads as NAVIGATION_FAILED.
 */
export class PageLeft extends BridgeError {
  constructor(message: string, extra: ErrorExtra = {}) {
    super('NAVIGATION_FAILED', message, extra);
    this.name = 'PageLeft';
  }
}

/** Whatever was thrown, as an error that can be answered with. Chrome's own texts are kept: they say more than we could. */
export function toBridgeError(thrown: unknown): BridgeError {
  if (thrown instanceof BridgeError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (/No (?:tab|window) with id|tab was closed|Invalid tab ID/i.test(text)) return new BridgeError('TAB_NOT_FOUND', text);
  return new BridgeError('INTERNAL_ERROR', text || 'unknown error');
}
