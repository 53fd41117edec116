// Puts into a document's own world, once, what tells the page code what the page begins (page/begun.ts), for the operations that ask.
import { seeBegun } from '../page/begun';
import type { Doc } from './document';

const OPERATIONS = new Set(['set_value', 'check', 'select', 'still']);
export const asksBegun = (op: string): boolean => OPERATIONS.has(op);

/** The names that are listened to, by document. */
const names = new Map<string, string>();
const NAMES_MAX = 500;

/** The name that the document's own world listens to; nothing where it cannot be had, which costs no more than time. */
export async function seeingBegun({ tabId, documentId }: Doc): Promise<string | undefined> {
  const known = names.get(documentId);
  if (known !== undefined) return known;
  const name = crypto.randomUUID();
  try {
    await chrome.scripting.executeScript({ target: { tabId, documentIds: [documentId] }, world: 'MAIN', injectImmediately: true, func: seeBegun, args: [name] });
  } catch {
    return undefined;
  }
  if (names.size >= NAMES_MAX) names.clear();
  names.set(documentId, name);
  return name;
}
