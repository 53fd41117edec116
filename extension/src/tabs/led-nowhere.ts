// Why a navigation led to no page, in words.
import { BridgeError } from '../errors';
import type { Download } from '../generated/methods';
import { admitAddress } from './admission';

/** The server had not answered when the time was up. The navigation goes on in the tab. */
export class StillWaiting extends BridgeError {
  constructor(message: string) {
    super('NAVIGATION_FAILED', message);
  }
}

/** Chrome did not even begin. */
export function refused(thrown: unknown, tabId: number): BridgeError {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (/No tab with id/i.test(text)) return new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`);
  return new BridgeError('NAVIGATION_FAILED', `navigation refused: ${text}`);
}

/** An address in a sentence. */
export const shown = (url: string | undefined) => (url === undefined ? 'the page' : (url.split(/[?#]/, 1)[0] ?? '').slice(0, 200));

/** Why the tab is where it was. */
export async function stayedWhere(tabId: number, wanted: string | undefined, begun: boolean, download: Download | undefined): Promise<BridgeError> {
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  if (!tab) return new BridgeError('TAB_NOT_FOUND', `tab ${tabId} was closed while it was loading`);
  const at = tab.url ? `the tab is still at ${shown(tab.url)}` : 'the tab shows no page';
  if (!begun) return new BridgeError('PAGE_BLOCKED', `the page in tab ${tabId} does not let go: it asks whether it may be left (beforeunload), shows a dialog, or a script in it runs on; ${at}`);
  admitDownload(download);
  if (download !== undefined) return new BridgeError('NAVIGATION_FAILED', `${shown(wanted)} is a download, not a page (${stateOf(download)}); ${at}`);
  if (/^\s*data:/i.test(wanted ?? '')) return new BridgeError('NAVIGATION_FAILED', `Chrome leads no tab from a page to a data: address; a new tab can be opened at it (new_tab); ${at}`);
  return new BridgeError('NAVIGATION_FAILED', `${shown(wanted)} led to no page (the server sent no content, or the navigation was stopped); ${at}`);
}

/** Of a file from a denied site, by a redirect, not even the name is told. */
export function admitDownload(download: Download | undefined): void {
  if (download?.origin !== undefined) admitAddress(download.origin);
}

/** As a person would say it: where the file is, or why there is none. */
export function stateOf({ state, path, bytes, error }: Download): string {
  if (state === 'interrupted') return `interrupted: ${error ?? 'unknown'}`;
  return `${state === 'complete' ? 'complete' : 'under way'}: ${path ?? 'no name yet'}, ${bytes ?? 0} bytes`;
}
