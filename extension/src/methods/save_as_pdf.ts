// save_as_pdf: the page as a PDF, as its print styles have it.
import type { Handler } from '../call';
import { debugging } from '../debugger/attach';
import { BridgeError } from '../errors';
import type { SaveAsPdfParams, SaveAsPdfResult } from '../generated/methods';
import { admitPicture } from '../tabs/denied-frames';
import { withCamera } from '../tabs/lock';
import { resolveTab } from '../tabs/resolve';
import { whateverIsShown } from '../tabs/shown';

/** In inches. */
const PAPERS: Record<NonNullable<SaveAsPdfParams['paper']>, [width: number, height: number]> = {
  a3: [297 / 25.4, 420 / 25.4], a4: [210 / 25.4, 297 / 25.4], a5: [148 / 25.4, 210 / 25.4], letter: [8.5, 11], legal: [8.5, 14], tabloid: [11, 17],
};
/** Pieces whose base64 can be put together as it is. */
const PIECE_BYTES = 3 * 256 * 1024;
/** What an answer may carry. */
const MOST_CHARS = 58 * 1024 * 1024;

export const handler: Handler<SaveAsPdfParams, SaveAsPdfResult> = async ({ print_background = true, landscape = false, scale = 1, paper, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const size = paper ? { paperWidth: PAPERS[paper][0], paperHeight: PAPERS[paper][1] } : { preferCSSPageSize: true };
  const base64 = await debugging(call, id, async (send) => {
    const how = { printBackground: print_background, landscape, scale, ...size, transferMode: 'ReturnAsStream' };
    const { stream } = await withCamera(call, id, () => whateverIsShown(id, async () => {
      await admitPicture(call, id);
      return send<{ stream: string }>('Page.printToPDF', how);
    }));
    const pieces: string[] = [];
    let length = 0;
    for (let eof = false; !eof;) {
      const piece = await send<{ data: string; eof: boolean; base64Encoded?: boolean }>('IO.read', { handle: stream, size: PIECE_BYTES });
      const data = piece.base64Encoded ? piece.data : btoa(piece.data);
      length += data.length;
      if (length > MOST_CHARS) throw new BridgeError('TOO_LARGE', 'the PDF is too large for an answer');
      pieces.push(data);
      eof = piece.eof;
    }
    void send('IO.close', { handle: stream }).catch(() => {});
    return pieces.join('');
  });
  const { url = '', title = '' } = await chrome.tabs.get(id);
  return { tab_id: id, url, title, mime: 'application/pdf', size: Math.floor((base64.length * 3) / 4) - (/=*$/.exec(base64)?.[0].length ?? 0), data: `data:application/pdf;base64,${base64}` };
};
