// Ends recordings whose tab or debugger is gone.
import { onDebuggerLeft } from '../debugger/attach';
import { messages } from './messages';
import { requests } from './requests';
import { forgetSessions } from './targets';

/** To be called at the top level of the worker. */
export function watchRecords(): void {
  chrome.tabs.onRemoved.addListener((tabId) => { for (const recorder of [requests, messages]) recorder.forget(tabId); });
  onDebuggerLeft((tabId, reason) => {
    forgetSessions(tabId);
    const why = reason === 'canceled_by_user' ? 'the user pressed Cancel in Chrome\'s bar about debugging' : `the debugger was taken off (${reason})`;
    for (const recorder of [requests, messages]) recorder.stop(tabId, why);
  });
}
