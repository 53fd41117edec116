// Ends recordings whose tab or debugger is gone.
import { messages } from './messages';
import { requests } from './requests';

/** To be called at the top level of the worker. */
export function watchRecords(): void {
  chrome.tabs.onRemoved.addListener((tabId) => { for (const recorder of [requests, messages]) recorder.forget(tabId); });
  chrome.debugger?.onDetach.addListener(({ tabId }, reason) => {
    if (tabId === undefined) return;
    const why = String(reason) === 'canceled_by_user' ? 'the user pressed Cancel in Chrome\'s bar about debugging' : `the debugger was taken off (${String(reason)})`;
    for (const recorder of [requests, messages]) recorder.stop(tabId, why);
  });
}
