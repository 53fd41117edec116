// Where links and pictures point, as absolute addresses.
import { native } from '../native';

/** Where a link leads; null for what is no address (scripts, nothing at all). */
export function linkAddress(el: Element): string | null {
  const raw = native(el).getAttribute('href') ?? native(el).getAttribute('xlink:href');
  if (raw === null || /^\s*(?:javascript|vbscript|data|blob|about):/i.test(raw)) return null;
  return absolute(raw);
}

export function absolute(address: string): string | null {
  try {
    return new URL(address.trim(), document.baseURI).href;
  } catch {
    return null;
  }
}

const LAZY = ['data-src', 'data-original', 'data-lazy-src', 'data-lazy', 'data-url', 'data-hi-res-src', 'data-full-src'];
const LAZY_SETS = ['data-srcset', 'data-lazy-srcset', 'srcset'];
const PLACEHOLDER = /^(?:data|blob|about):|(?:^|[/_.-])(?:blank|spacer|placeholder|transparent|lazy|loading|pixel|1x1|grey|gray)[\w-]*\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|$)/i;

/** A picture's bytes in place of its address. */
const WRITTEN_OUT = /^(?:data|blob|about):/i;

/** The picture that is shown or would be once it is scrolled to; null if there is none worth an address. */
export function imageAddress(img: HTMLImageElement): string | null {
  const shown = img.currentSrc || img.getAttribute('src') || '';
  if (shown && !PLACEHOLDER.test(shown)) return absolute(shown);
  for (const name of LAZY) {
    const value = img.getAttribute(name);
    if (value && !WRITTEN_OUT.test(value) && /[./]/.test(value)) return absolute(value);
  }
  const sources = [img, ...(img.parentElement && native(img.parentElement).localName === 'picture' ? native(img.parentElement).querySelectorAll('source') : [])];
  for (const el of sources) {
    for (const name of LAZY_SETS) {
      const best = largest(el.getAttribute(name) ?? '');
      if (best && !WRITTEN_OUT.test(best)) return absolute(best);
    }
  }
  // An address that only looks like a placeholder's is still better than none, if the picture says what it shows; one written out in full is not.
  return shown && img.alt.trim() && !WRITTEN_OUT.test(shown) ? absolute(shown) : null;
}

/** The last and largest of a srcset's candidates. */
function largest(srcset: string): string | null {
  let best: string | null = null, size = -1;
  for (const [, address, number] of srcset.matchAll(/([^\s,]\S*[^\s,])(?:\s+([\d.]+)[wx])?\s*(?:,|$)/g)) {
    const n = Number(number ?? 1);
    if (n > size) { size = n; best = address!; }
  }
  return best;
}

/** A picture of one pixel counts visits; it shows nothing. */
export function isTracker(img: HTMLImageElement): boolean {
  const sides = [img.getAttribute('width'), img.getAttribute('height')].map((side) => (side === null ? NaN : parseFloat(side)));
  return sides.some((side) => side <= 1) || (img.complete && img.naturalWidth === 1 && img.naturalHeight === 1);
}
