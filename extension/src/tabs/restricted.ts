// Pages that Chrome lets no extension touch, and the sentence that says so.
import { BridgeError } from '../errors';
import { isOwnAddress } from '../policy/policy';

const CLOSED_SCHEMES = new Set(['chrome:', 'chrome-untrusted:', 'chrome-error:', 'chrome-search:', 'chrome-extension:', 'devtools:', 'view-source:', 'edge:', 'brave:', 'about:', 'data:', 'javascript:', 'blob:null']);

const OWN = 'it is the bridge\'s own address';

/** Why a page cannot be worked on, or undefined if nothing about its address forbids it. */
export function restriction(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return url === '' ? 'it has no page yet' : undefined;
  }
  if (parsed.protocol === 'chrome-error:') return 'it shows an error page of the browser';
  if (isOwnAddress(parsed.href)) return OWN;
  if (parsed.href === 'about:blank') return 'it is an empty page';
  if (CLOSED_SCHEMES.has(parsed.protocol)) return `${parsed.protocol} pages are closed to extensions`;
  if (parsed.hostname === 'chromewebstore.google.com' || (parsed.hostname === 'chrome.google.com' && parsed.pathname.startsWith('/webstore'))) {
    return 'the Chrome Web Store is closed to extensions';
  }
  return undefined;
}

export function restricted(tabId: number, url: string, reason: string): BridgeError {
  // The address without query and fragment is enough to recognise the page by.
  const shown = url.split(/[?#]/, 1)[0]?.slice(0, 200) ?? '';
  if (reason === OWN) return new BridgeError('PERMISSION_DENIED', `forbidden: url: tab ${tabId} shows the bridge's own address; navigate leads it to another page`);
  return new BridgeError('RESTRICTED_PAGE', `tab ${tabId}${shown ? ` (${shown})` : ''} cannot be worked on: ${reason}; navigate leads it to another page`);
}
