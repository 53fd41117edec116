// The debugger's sessions within a tab: frames of other sites and workers run in processes of their own, each heard by a session of
// its own, and so do the frames and workers within those. All recordings of a tab share them; the last one that ends lets go of them.
import { onDebuggerEvent, type Send } from '../debugger/attach';

/** Tells a session what to report; the commands are sent before it returns. */
type Enable = (session: string) => Promise<unknown>;

interface Tree { sessions: Set<string>; listeners: Set<Enable>; enabling: Set<Promise<unknown>>; ready: Promise<void>; unhear: () => void }
const trees = new Map<number, Tree>();

/** A frame or worker that answers nothing must not hold up the recording of the others. */
const ENABLE_MS = 1000;
/** More sessions than this are not followed; what is in them is not recorded. */
const SESSIONS_MOST = 500;

const AUTO = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };

export async function toSession<T>(tabId: number, sessionId: string, method: string, params: object = {}): Promise<T> {
  return (await chrome.debugger.sendCommand({ tabId, sessionId }, method, params as Record<string, unknown>)) as T;
}

/** Has `enable` called for every session there is and for each that comes, until the given function is called. */
export async function followSessions(tabId: number, send: Send, enable: Enable): Promise<() => void> {
  let tree = trees.get(tabId);
  if (tree) for (const session of tree.sessions) track(tree, enable(session));
  else tree = plant(tabId, send);
  tree.listeners.add(enable);
  const mine = tree;
  const leave = () => {
    mine.listeners.delete(enable);
    if (mine.listeners.size || trees.get(tabId) !== mine) return;
    trees.delete(tabId);
    mine.unhear();
    send('Target.setAutoAttach', { autoAttach: false, waitForDebuggerOnStart: false, flatten: true }).catch(() => {});
  };
  await mine.ready;
  await Promise.race([Promise.all(mine.enabling), new Promise((r) => setTimeout(r, ENABLE_MS))]);
  return leave;
}

function plant(tabId: number, send: Send): Tree {
  const tree: Tree = { sessions: new Set(), listeners: new Set(), enabling: new Set(), ready: Promise.resolve(), unhear: () => {} };
  trees.set(tabId, tree);
  tree.unhear = onDebuggerEvent(tabId, (method, params) => {
    if (method === 'Target.detachedFromTarget') tree.sessions.delete(String(params.sessionId));
    if (method !== 'Target.attachedToTarget') return;
    const session = String(params.sessionId);
    const known = tree.sessions.size < SESSIONS_MOST;
    if (known) {
      tree.sessions.add(session);
      for (const enable of tree.listeners) track(tree, enable(session));
      track(tree, toSession(tabId, session, 'Target.setAutoAttach', AUTO));
    }
    // It stood still until now, so that nothing of it is missed: all of this is sent at once, and Chrome takes it in order.
    track(tree, toSession(tabId, session, 'Runtime.runIfWaitingForDebugger'));
  });
  // What a worker before this one had attached is not known here, and is told only when it is attached anew.
  tree.ready = send('Target.setAutoAttach', { ...AUTO, autoAttach: false, waitForDebuggerOnStart: false }).then(() => send('Target.setAutoAttach', AUTO)).then(() => {}, () => {});
  return tree;
}

/** Not every kind of target knows every command. */
function track(tree: Tree, work: Promise<unknown>): void {
  const quiet = work.catch(() => {}).finally(() => tree.enabling.delete(quiet));
  tree.enabling.add(quiet);
}

/** The debugger is off the tab, and its sessions with it. */
export function forgetSessions(tabId: number): void {
  trees.get(tabId)?.unhear();
  trees.delete(tabId);
}
