// A page may ask whether it may really be left (beforeunload). Only a debugger that was attached before can answer, so it is attached
// where the question can come at all: Chrome lets it only if the page has been touched by a person or by trusted input.
import { onDebuggerEvent, withDebugger } from './attach';
import { leavingTab } from './dialogs';

/** Runs `work` while questions of the tab whether it may be left are answered with yes. Without a debugger, just runs it. */
export async function lettingGo<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  let begun: Promise<T> | undefined;
  try {
    return await withDebugger(tabId, async (send) => {
      const stopped = leavingTab(tabId);
      const stop = onDebuggerEvent(tabId, (method, { type }) => {
        if (method === 'Page.javascriptDialogOpening' && type === 'beforeunload') void send('Page.handleJavaScriptDialog', { accept: true }).catch(() => {});
      });
      try {
        return await (begun = work());
      } finally {
        stop();
        stopped();
      }
    });
  } catch (e) {
    if (begun) throw e;
    return work();
  }
}
