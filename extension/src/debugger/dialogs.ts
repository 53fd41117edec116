// The JavaScript dialogs that stand open, as far as the debugger was there when they opened: nobody else in an extension sees them.
import { BridgeError } from '../errors';
import { sites } from '../policy/policy';
import { remember } from './memory';

export interface Dialog {
  type: 'alert' | 'confirm' | 'prompt' | 'beforeunload';
  message: string;
  url: string;
  /** What a prompt offers. */
  default?: string;
}

const open = new Map<number, Dialog>();
type Watcher = (dialog: Dialog) => void;
const watchers = new Map<number, Set<Watcher>>();
const closings = new Map<number, Set<() => void>>();

export const dialogOf = (tabId: number): Dialog | undefined => open.get(tabId);

/** Calls back when a dialog opens in the tab, until the given function is called. */
export function onDialog(tabId: number, watcher: Watcher): () => void {
  return add(watchers, tabId, watcher);
}

/** Resolves when no dialog is open in the tab any more, or after the time. */
export async function dialogClosed(tabId: number, ms: number): Promise<void> {
  if (!open.has(tabId)) return;
  await new Promise<void>((resolve) => {
    const stop = add(closings, tabId, () => done());
    const done = () => { clearTimeout(timer); stop(); resolve(); };
    const timer = setTimeout(done, ms);
  });
}

/** What a dialog says, unless it is a denied site's that stands in another's page. */
export const messageOf = ({ message, url }: Dialog): string => (sites.refusal(url) === undefined ? message : '');

/** The error of a call that a dialog keeps from its page. */
export function dialogOpen(tabId: number, dialog: Dialog): BridgeError {
  const { type } = dialog;
  const message = messageOf(dialog);
  const shown = message.length > 1000 ? `${message.slice(0, 1000)}…` : message;
  const asks = type === 'beforeunload' ? 'asks whether the page may be left (beforeunload)' : `shows ${type === 'alert' ? 'an alert' : `a ${type}`}: ${JSON.stringify(shown)}`;
  return new BridgeError('DIALOG_OPEN', `tab ${tabId} ${asks}; handle_dialog answers it`);
}

/** Tabs that are being left on purpose: their question is answered where that is done, and is nobody else's business. */
const leaving = new Map<number, number>();

export function leavingTab(tabId: number): () => void {
  leaving.set(tabId, (leaving.get(tabId) ?? 0) + 1);
  return () => {
    const left = (leaving.get(tabId) ?? 1) - 1;
    if (left) leaving.set(tabId, left); else leaving.delete(tabId);
  };
}

export function onDialogEvent(tabId: number, method: string, params: Record<string, unknown>): void {
  if (method === 'Page.javascriptDialogOpening') {
    if (params.type === 'beforeunload' && leaving.has(tabId)) return;
    const { type, message, url, defaultPrompt } = params as { type: Dialog['type']; message?: string; url?: string; defaultPrompt?: string };
    const dialog: Dialog = { type, message: message ?? '', url: url ?? '', ...(type === 'prompt' ? { default: defaultPrompt ?? '' } : {}) };
    open.set(tabId, dialog);
    store();
    for (const watcher of [...(watchers.get(tabId) ?? [])]) watcher(dialog);
  } else if (method === 'Page.javascriptDialogClosed') clearDialog(tabId);
}

export function clearDialog(tabId: number): void {
  if (!open.delete(tabId)) return;
  store();
  for (const told of [...(closings.get(tabId) ?? [])]) told();
}

/** After a restart of the worker. */
export function restoreDialogs(stored: Record<number, Dialog>): void {
  for (const [tabId, dialog] of Object.entries(stored)) if (!open.has(Number(tabId))) open.set(Number(tabId), dialog);
}

const store = () => void remember({ dialogs: Object.fromEntries(open) });

function add<T>(map: Map<number, Set<T>>, tabId: number, item: T): () => void {
  const of = map.get(tabId) ?? new Set<T>();
  map.set(tabId, of.add(item));
  return () => {
    of.delete(item);
    if (!of.size && map.get(tabId) === of) map.delete(tabId);
  };
}
