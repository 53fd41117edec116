// Small operations that the worker itself needs: what the page is, whether it reacts, how large it is.
import type { PageOp } from './context';

/** What this document is: address, title, readiness, and the HTTP status it came with (0 if unknown). */
function info() {
  const [entry] = performance.getEntriesByType('navigation') as (PerformanceNavigationTiming & { responseStatus?: number })[];
  return { url: location.href, title: document.title, ready: document.readyState, status: entry?.responseStatus ?? 0 };
}

/** The viewport in CSS pixels, and whether nobody can see it. */
function viewport() {
  return { width: innerWidth, height: innerHeight, dpr: devicePixelRatio, hidden: document.visibilityState === 'hidden' };
}

/** Whether the page was ever touched by a person or trusted input: only then may it ask whether it may be left. */
function activated() {
  return navigator.userActivation.hasBeenActive;
}

/** Steps through the tab's history; the step itself begins only after this has been answered. */
function traverse({ delta }: { delta: number }) {
  history.go(delta);
}

/** Waits until the document's own HTML has been parsed, at most `timeout` ms. */
export function parsed(timeout: number, signal: AbortSignal): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((done) => {
    const timer = setTimeout(finish, Math.max(0, timeout));
    function finish() {
      clearTimeout(timer);
      document.removeEventListener('DOMContentLoaded', finish);
      done();
    }
    document.addEventListener('DOMContentLoaded', finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

export const commonOps: Record<string, PageOp> = { info, viewport, activated, history: traverse };
