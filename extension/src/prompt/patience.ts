// How often the user may be asked while they share nothing. An agent's id is its own word: one that is refused can come back as another, so
// that what counts is how many questions in a row came to nothing, whoever's they were.

/** So many may come to nothing one right after the other: several agents may begin at once. */
const FREE = 3;
/** Then the next one waits for this long, and twice as long with each. */
const FIRST_MS = 30_000;
const LONGEST_MS = 5 * 60_000;
/** What was so long ago bothers nobody any more. */
const FORGOTTEN_MS = 15 * 60_000;

let inVain = 0;
let last = 0;

export function questionEnded(shared: boolean): void {
  const now = Date.now();
  inVain = shared ? 0 : now - last > FORGOTTEN_MS ? 1 : inVain + 1;
  last = now;
}

/** How long nobody is asked anything, in milliseconds. */
export function quietFor(): number {
  if (inVain < FREE) return 0;
  return Math.max(0, last + Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(inVain - FREE, 10)) - Date.now());
}
