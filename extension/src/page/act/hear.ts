// Tells the worker of each key and text of the browser's own input that reaches this document, and when the document goes: a key that is on its
// way when that happens is heard by nobody.
import { later } from '../wait';

export interface HearArgs { token: string; /** Date.now() milliseconds; 0 ends the hearing that has this token. */ until: number }

let stop = () => {};
let current: string | undefined;

export function hearKeysOp({ token, until }: HearArgs): null {
  if (until === 0 && token !== current) return null;
  stop();
  if (until === 0) return null;
  current = token;
  const tell = (what: 'key' | 'left') => {
    // The worker may be gone or the extension reloaded; the page's own handling must not fail on that.
    try { chrome.runtime.sendMessage({ type: 'keys', token, what }).catch(() => {}); } catch { /* orphaned */ }
  };
  // A text without keys is told by what it does; what a key does to a text follows the key.
  let byKey = false;
  const hear = (e: Event) => {
    if (!e.isTrusted) return;
    if (e.type === 'keydown' || (e.type === 'beforeinput' && !byKey)) tell('key');
    byKey = e.type === 'keydown';
  };
  const left = () => tell('left');
  const types = ['keydown', 'keyup', 'beforeinput'];
  for (const type of types) addEventListener(type, hear, true);
  addEventListener('pagehide', left, true);
  const timer = later(() => stop(), Math.max(0, until - Date.now()));
  stop = () => {
    current = undefined;
    clearTimeout(timer);
    for (const type of types) removeEventListener(type, hear, true);
    removeEventListener('pagehide', left, true);
  };
  return null;
}
