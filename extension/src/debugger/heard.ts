// Keys go to whatever has the focus when they come, and so would go on into the next page when theirs is left. Here they stop at that, and it is known
// which of them the page has heard: an answer to an input event says no more than that the browser took it.
import { type Call } from '../call';
import { BridgeError, PageLeft } from '../errors';
import type { HearArgs } from '../page/act/hear';
import { findDocument, liveTab, type Doc } from '../tabs/document';
import { callPage } from '../tabs/page';
import { untilDialog } from './input';
import { dialogOpen, type Dialog } from './dialogs';

/** The page's word may still be under way when the news comes that it is gone. */
const UNDER_WAY_MS = 250;

interface Listener { key(): void; left(): void }
const listeners = new Map<string, Listener>();

export class Hearing {
  private heard = 0;
  private sent = 0;
  private done = 0;
  private gone = false;
  private over = false;
  private wake = () => {};
  private readonly token = crypto.randomUUID();
  private readonly leave: Promise<void>;
  private readonly onCommitted: (d: { tabId: number; frameId: number; documentId?: string; documentLifecycle: string }) => void;
  private readonly onRemoved: (tabId: number) => void;

  /** `all`: how many keys, or characters, there are to be. */
  private constructor(private readonly call: Call, private readonly doc: Doc, private readonly all: number) {
    let left!: () => void;
    this.leave = new Promise<void>((resolve) => { left = () => { this.gone = true; this.wake(); resolve(); }; });
    this.onCommitted = ({ tabId, frameId, documentId, documentLifecycle }) => {
      if (tabId === doc.tabId && documentLifecycle === 'active' && (frameId === 0 || frameId === doc.frameId) && documentId !== doc.documentId) left();
    };
    this.onRemoved = (tabId) => { if (tabId === doc.tabId) left(); };
    chrome.webNavigation.onCommitted.addListener(this.onCommitted);
    chrome.tabs.onRemoved.addListener(this.onRemoved);
    listeners.set(this.token, { key: () => { this.heard++; this.wake(); }, left });
  }

  /** Runs `work`, which sends that many keys to the document or where the focus goes from there; ends early at a dialog, which is told. */
  static async during(call: Call, doc: Doc, all: number, work: (hearing: Hearing) => Promise<unknown>): Promise<Dialog | undefined> {
    const hearing = new Hearing(call, doc, all);
    try {
      await callPage<null>(call, doc.tabId, 'hear_keys', { token: hearing.token, until: call.deadline } satisfies HearArgs, { documentId: doc.documentId });
      const sending = work(hearing).catch((e: unknown) => {
        // The debugger's news of it may be the first.
        if (!hearing.over && !(e instanceof PageLeft) && !(e instanceof BridgeError && e.code === 'TAB_NOT_FOUND')) throw e;
        hearing.gone = true;
      });
      sending.catch(() => {});
      const dialog = await untilDialog(doc.tabId, () => Promise.race([sending, hearing.leave]));
      if (dialog) {
        if (hearing.done < all) throw new BridgeError('DIALOG_OPEN', `${dialogOpen(doc.tabId, dialog).message}; ${hearing.count()} by then`, { maybe_executed: true });
        return dialog;
      }
      await hearing.judge();
      return undefined;
    } finally {
      hearing.stop();
      // What the person types from here on is nobody's concern; the answer need not wait for that.
      void callPage<null>(call, doc.tabId, 'hear_keys', { token: hearing.token, until: 0 } satisfies HearArgs, { documentId: doc.documentId }).catch(() => {});
    }
  }

  /** To be asked before each key or character: throws where it would reach another page, or come when its caller has been answered. */
  next(): void {
    if (this.gone || this.over || this.call.signal.aborted) throw new BridgeError('CANCELLED', 'cancelled');
    this.done++;
  }

  /** An event is sent of which the page hears. */
  sends(): void { this.sent++; }

  private async judge(): Promise<void> {
    const all = () => this.done >= this.all && this.heard >= this.sent;
    if (all()) return;
    // Not every page tells: another script may keep the event from us. One that is there still has had it all the same.
    if (!this.gone) await findDocument(this.call, this.doc.tabId, { documentId: this.doc.documentId }).catch(() => { this.gone = true; });
    if (!this.gone) return;
    for (const end = Date.now() + UNDER_WAY_MS; !all() && Date.now() < end;) {
      await new Promise<void>((resolve) => { this.wake = resolve; setTimeout(resolve, end - Date.now()); });
    }
    if (all()) return;
    await liveTab(this.doc.tabId);
    throw new PageLeft(`the ${this.doc.frameId === 0 ? 'page' : 'frame'} that had the focus in tab ${this.doc.tabId} was left while keys were sent: ${this.count()}, and the page is known to have heard ${this.heard} of the ${this.sent} events of these`, this.sent ? { maybe_executed: true } : {});
  }

  private count(): string { return `${this.done} of ${this.all} had been sent`; }

  private stop(): void {
    this.over = true;
    listeners.delete(this.token);
    chrome.webNavigation.onCommitted.removeListener(this.onCommitted);
    chrome.tabs.onRemoved.removeListener(this.onRemoved);
  }
}

/** To be called at the top level of the worker. */
export function watchHeard(): void {
  chrome.runtime.onMessage.addListener((message: unknown, sender) => {
    const m = message as { type?: unknown; token?: unknown; what?: unknown } | null;
    if (m?.type !== 'keys' || typeof m.token !== 'string' || sender.id !== chrome.runtime.id) return;
    listeners.get(m.token)?.[m.what === 'left' ? 'left' : 'key']();
  });
}
