// upload: files into a page. The daemon reads them beneath the folders that the user allows and sends names and bytes; the page's
// side of it is page/act/upload.ts.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { UploadParams, UploadResult } from '../generated/methods';
import type { Uploaded } from '../page/act/upload';
import type { Doc } from '../tabs/document';
import { onElement, staleIfLeft } from '../tabs/element';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

/** One message to a page holds at most so many characters of base64; a multiple of four, so that each piece stands alone. */
const PIECE = 4 * 1024 * 1024;
let counter = 0;

export const handler: Handler<UploadParams, UploadResult> = async ({ files, target, timeout, ...params }, call) => {
  if (!files?.length) {
    throw params.paths
      ? new BridgeError('UNSUPPORTED', 'this hub passes paths on, but only the daemon can read files: give their content in files')
      : new BridgeError('INVALID_PARAMS', 'invalid params: paths says which files');
  }
  for (const [i, { name, data }] of files.entries()) {
    if (/[/\\\0]/.test(name)) throw new BridgeError('INVALID_PARAMS', `invalid params: files[${i}].name must be a plain name`);
    if (data.length % 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) throw new BridgeError('INVALID_PARAMS', `invalid params: files[${i}].data is not base64`);
  }
  const { id } = await resolveTab(params, call);
  const where = { target, timeout };
  const count = files.length;
  let doc: Doc | undefined;
  const { input } = await onElement<{ input: boolean }>(call, id, 'upload_place', where, { count }, (worked) => { doc = worked; });
  const token = `${call.id}.${++counter}`;
  for (const [index, { name, data, mime }] of files.entries()) {
    for (let at = 0; at === 0 || at < data.length; at += PIECE) {
      const part = { token, name, index, mime: mime ?? typeOf(name), data: data.slice(at, at + PIECE) };
      await callPage(call, id, 'upload_part', part, { documentId: doc!.documentId }).catch((e: unknown) => { throw staleIfLeft(call, where, e); });
    }
  }
  if (!input) await chrome.scripting.executeScript({ target: { tabId: id, documentIds: [doc!.documentId] }, world: 'MAIN', injectImmediately: true, func: showAsking, args: [ASKING_MS] }).catch(() => {});
  return { ...(await onElement<Uploaded>(call, id, 'upload', where, { token, count })), tab_id: id };
};

const ASKING_MS = 5000;

/**
 * Runs in the page's own world: for a short time a file input that the page made and clicks without ever putting it into the document is
 * in the document while it is clicked, so that it can be seen which one it is.
 */
function showAsking(ms: number): void {
  interface Hook { (this: EventTarget, ...args: unknown[]): unknown; until?: number }
  const places: [object, string][] = [[HTMLElement.prototype, 'click'], [HTMLInputElement.prototype, 'showPicker'], [EventTarget.prototype, 'dispatchEvent']];
  for (const [place, name] of places) {
    const methods = place as Record<string, Hook>;
    const own = methods[name]!;
    if (own.until !== undefined) { own.until = Date.now() + ms; continue; }
    const hook: Hook = function hook(...args) {
      const asks = Date.now() < hook.until! && this instanceof HTMLInputElement && this.type === 'file' && (name !== 'dispatchEvent' || (args[0] as Event | undefined)?.type === 'click');
      if (!asks) return own.apply(this, args);
      const apart = !this.parentNode;
      if (apart) document.documentElement.append(this);
      // A picker would be refused for want of a person's gesture, before anybody hears that it was asked for.
      try { return name === 'showPicker' ? this.click() : own.apply(this, args); } finally { if (apart) this.remove(); }
    };
    hook.until = Date.now() + ms;
    // One that is beneath something else by then does nothing, and is taken off later if that goes soon.
    let tries = 12;
    const end = () => {
      if (Date.now() < hook.until!) setTimeout(end, ms);
      else if (methods[name] === hook) methods[name] = own;
      else if (--tries) setTimeout(end, ms);
    };
    methods[name] = hook;
    setTimeout(end, ms);
  }
}

const TYPES: Record<string, string> = {
  avif: 'image/avif', bmp: 'image/bmp', csv: 'text/csv', css: 'text/css', doc: 'application/msword', docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif', gz: 'application/gzip', htm: 'text/html', html: 'text/html', ico: 'image/x-icon', jpeg: 'image/jpeg', jpg: 'image/jpeg', js: 'text/javascript', json: 'application/json',
  md: 'text/markdown', mov: 'video/quicktime', mp3: 'audio/mpeg', mp4: 'video/mp4', ods: 'application/vnd.oasis.opendocument.spreadsheet', odt: 'application/vnd.oasis.opendocument.text',
  ogg: 'audio/ogg', pdf: 'application/pdf', png: 'image/png', ppt: 'application/vnd.ms-powerpoint', pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml', tar: 'application/x-tar', tif: 'image/tiff', tiff: 'image/tiff', txt: 'text/plain', wav: 'audio/wav', webm: 'video/webm', webp: 'image/webp',
  xls: 'application/vnd.ms-excel', xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', xml: 'text/xml', zip: 'application/zip',
};

/** What a browser would say of a file with this name; nothing if it does not know. */
const typeOf = (name: string): string => TYPES[/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''] ?? '';
