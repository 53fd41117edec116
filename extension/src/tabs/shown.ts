// Work on what a tab shows as a whole, such as a picture: it is of one page, or it is an error that says that the page was left.
import { BridgeError, PageLeft } from '../errors';

/** The browser's own word that something failed may come before the news that its page is gone. */
const NEWS_MS = 150;

export async function whileShown<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  let stop!: () => void;
  const gone = new Promise<never>((_, reject) => {
    const onCommitted = (d: { tabId: number; frameId: number; documentLifecycle?: string }) => {
      if (d.tabId === tabId && d.frameId === 0 && d.documentLifecycle === 'active') reject(new PageLeft(`the page in tab ${tabId} was left while the command was under way`));
    };
    const onRemoved = (id: number) => { if (id === tabId) reject(new BridgeError('TAB_NOT_FOUND', `tab ${tabId} was closed while the command was under way`)); };
    chrome.webNavigation.onCommitted.addListener(onCommitted);
    chrome.tabs.onRemoved.addListener(onRemoved);
    stop = () => {
      chrome.webNavigation.onCommitted.removeListener(onCommitted);
      chrome.tabs.onRemoved.removeListener(onRemoved);
    };
  });
  gone.catch(() => {});
  try {
    return await Promise.race([work(), gone]);
  } catch (e) {
    await Promise.race([gone, new Promise((r) => setTimeout(r, NEWS_MS))]);
    throw e;
  } finally {
    stop();
  }
}

/** So often a page that is being replaced gives way to the next: reading has nothing to repeat. */
const TRIES = 3;

/** As whileShown, and once more in the page that came. */
export async function whateverIsShown<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await whileShown(tabId, work);
    } catch (e) {
      if (!(e instanceof PageLeft) || tries >= TRIES) throw e;
    }
  }
}
