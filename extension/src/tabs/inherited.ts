// Whose a document without an address of its own is (about:blank, srcdoc, a sandbox's blob:): it has the origin of the page that made it, and
// that page may have written into it.
import { placeOf } from '../policy/sites';

export type Which = { documentId: string } | { frameId: number };
interface Told { origin: string; href: string; written: boolean }

/** An empty page that no page opened, such as a new tab, is closed to extensions: that is how it is told. */
const NOBODYS: Told = { origin: 'null', href: '', written: false };

/** A page that does not say within this time whose it is counts as nobody's. */
const ASK_MS = 1000;

/** What such an address is judged by: the maker's origin, '' where there is none, undefined where it cannot be found out. */
export async function makerOf(tabId: number, which: Which): Promise<string | undefined> {
  const target = 'documentId' in which ? { tabId, documentIds: [which.documentId] } : { tabId, frameIds: [which.frameId] };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((r) => { timer = setTimeout(r, ASK_MS, undefined); });
  const asked = chrome.scripting.executeScript({
    target,
    injectImmediately: true,
    // The document's own words for it are out of the page's reach here.
    func: (): Told => ({ origin: self.origin, href: location.href, written: (document.body?.childNodes.length ?? 0) > 0 || document.title !== '' }),
  }).then(([injected]) => injected?.result, (e: unknown) => (/Cannot access contents/i.test(String(e)) ? NOBODYS : undefined));
  const told = await Promise.race([asked, late]);
  clearTimeout(timer);
  if (!told) return undefined;
  if (told.origin !== 'null') return told.origin;
  // A page that others write into takes over their address.
  if (/^(?:https?|blob):/i.test(told.href)) return placeOf(told.href);
  return told.written ? undefined : '';
}

/** What a question about a page, and its answer, are about; undefined where it cannot be found out whose the page is. */
export async function placeIn(tabId: number, which: Which, url: string): Promise<string | undefined> {
  if (hasOwnAddress(url)) return placeOf(url);
  const maker = await makerOf(tabId, which);
  return maker === '' ? placeOf('about:blank') : maker;
}

/** Whether the address says itself whose the page is. No page can lead a tab to a data: address. */
export const hasOwnAddress = (url: string): boolean => !/^(?:about:(?:blank|srcdoc)|blob:null|javascript:)/i.test(url) && url !== '';
