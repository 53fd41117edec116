// Chrome lets an extension attach its debugger to a tab once: whoever needs it here shares one attachment, and the last one lets go.
import { BridgeError } from '../errors';

interface Attachment { users: number; ready: Promise<void> }
const attachments = new Map<number, Attachment>();

export type Send = <T = unknown>(method: string, params?: object) => Promise<T>;

/** Runs `work` with the debugger attached to the tab. */
export async function withDebugger<T>(tabId: number, work: (send: Send) => Promise<T>): Promise<T> {
  let attachment = attachments.get(tabId);
  if (!attachment) {
    attachment = { users: 0, ready: chrome.debugger.attach({ tabId }, '1.3') };
    attachments.set(tabId, attachment);
  }
  attachment.users++;
  try {
    await attachment.ready.catch((e: unknown) => { throw refused(tabId, e); });
    return await work(<R>(method: string, params?: object) => chrome.debugger.sendCommand({ tabId }, method, params as Record<string, unknown>) as Promise<R>);
  } finally {
    if (--attachment.users === 0) {
      if (attachments.get(tabId) === attachment) attachments.delete(tabId);
      chrome.debugger.detach({ tabId }).catch(() => {});
    }
  }
}

function refused(tabId: number, thrown: unknown): BridgeError {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (/No tab with/i.test(text)) return new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`);
  if (/Cannot access|Cannot attach/i.test(text)) return new BridgeError('RESTRICTED_PAGE', `tab ${tabId} cannot be worked on: ${text}`);
  return new BridgeError('UNSUPPORTED', `the debugger cannot be attached to tab ${tabId}: ${text}`);
}

/** To be called at the top level of the worker: what Chrome or the user detached is attached anew next time. */
export function watchDebugger(): void {
  chrome.debugger?.onDetach.addListener(({ tabId }) => { if (tabId !== undefined) attachments.delete(tabId); });
}
