// A page may ask whether it may really be left (beforeunload). Only a debugger that was attached before can answer, so it is attached
// where the question can come at all: Chrome lets it only if the page has been touched by a person or by trusted input.
import { withDebugger } from './attach';

/** Runs `work` while questions of the tab whether it may be left are answered with yes. Without a debugger, just runs it. */
export async function lettingGo<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  let begun: Promise<T> | undefined;
  try {
    return await withDebugger(tabId, async (send) => {
      await send('Page.enable');
      const onEvent = (source: chrome.debugger.DebuggerSession, method: string, params?: object) => {
        if (source.tabId !== tabId || method !== 'Page.javascriptDialogOpening') return;
        if ((params as { type?: string } | undefined)?.type === 'beforeunload') void send('Page.handleJavaScriptDialog', { accept: true }).catch(() => {});
      };
      chrome.debugger.onEvent.addListener(onEvent);
      try {
        return await (begun = work());
      } finally {
        chrome.debugger.onEvent.removeListener(onEvent);
      }
    });
  } catch (e) {
    if (begun) throw e;
    return work();
  }
}
