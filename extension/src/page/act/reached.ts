// Tells the worker that input has reached what it was meant for (debugger/reached.ts), while the page is still there to say so.
import type { Step } from '../../debugger/reached';

export function sayReached(token: string | undefined, step: Step): void {
  if (token === undefined) return;
  // The worker may be gone or the extension reloaded; the page's own handling must not fail on that.
  try { chrome.runtime.sendMessage({ type: 'reached', token, step }).catch(() => {}); } catch { /* orphaned */ }
}
