// Targets by visible text. An element that says exactly this comes first, the innermost one of several nested in each other;
// only if there is none, one that contains it, the deepest first.
import { ancestry, isPerceivable, isVisible } from '../dom';
import { isButtonInput } from '../describe';
import { fold, normalise, ownText, visibleText } from '../text';
import { firstOf, LENIENT, NOTHING, type Matches, type Root } from './find';
import { native } from '../native';

/** Elements with more text than this are looked into, but not taken for a match as a whole. */
const LARGE = 20_000;
const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'head', 'title', 'metadata', 'textarea', 'select', 'iframe']);

/** Characters that `fold` takes out or puts together. */
const ODD = /\u00ad|\p{M}|[\u1100-\u11ff\u202a-\u202e\u2060-\u2069\ufeff]|[\u200b-\u200f]/u;

interface Said { el: Element; text: string; own: string }

export function byText(root: Root, value: string, lenient: boolean): Matches {
  const wanted = fold(value);
  if (!wanted) return NOTHING;
  const said = candidates(root, wanted);
  if (!said.length) return NOTHING;
  const visible = new Map<Element, boolean>();
  const seen = (s: Said) => {
    let is = visible.get(s.el);
    if (is === undefined) visible.set(s.el, is = isVisible(s.el));
    return is;
  };
  const pick = (holds: (s: Said) => boolean) => innermost(said.filter((s) => holds(s) && seen(s)).map((s) => s.el));
  const low = wanted.toLocaleLowerCase();
  const equal = (s: Said) => s.text === wanted;
  const own = (s: Said) => s.own === wanted;
  const contains = (s: Said) => s.text.includes(wanted);
  const strict = [
    { rank: 0, of: () => pick(equal).filter(isPerceivable) },
    { rank: 1, of: () => pick(equal) },
    { rank: 2, of: () => pick(own).filter(isPerceivable) },
    { rank: 3, of: () => deepestFirst(pick(contains).filter(isPerceivable)) },
    { rank: 4, of: () => deepestFirst(pick(contains)) },
  ];
  if (!lenient) return firstOf(...strict);
  return firstOf(
    { rank: LENIENT, of: () => pick((s) => s.text.toLocaleLowerCase() === low).filter(isPerceivable) },
    { rank: LENIENT + 1, of: () => deepestFirst(pick((s) => s.text.toLocaleLowerCase().includes(low)).filter(isPerceivable)) },
  );
}

/** How many elements say this but cannot be seen: what a failed search tells. */
export function hiddenByText(root: Root, value: string): number {
  const wanted = fold(value);
  const low = squeeze(wanted);
  let count = 0;
  for (const el of root.querySelectorAll('*')) {
    if (count >= 100) break;
    if (native(el).childElementCount > 0 || SKIPPED.has(native(el).localName)) continue;
    const text = native(el).textContent ?? '';
    if (text.length >= low.length && text.length < 3 * value.length + 100 && squeeze(text) === low && !isVisible(el)) count++;
  }
  return count;
}

/** The elements whose text may hold what is wanted, found by going down only where its words are. */
function candidates(root: Root, wanted: string): Said[] {
  const words = wanted.split(' ').map(squeeze).filter(Boolean);
  const found: Said[] = [];
  const known = new Map<Element, string>();
  const mayHold = (el: Element) => {
    const text = native(el).textContent ?? '';
    const low = text.toLocaleLowerCase();
    if (words.every((w) => low.includes(w))) return true;
    // What is put into a slot is no part of this tree.
    if (root !== document && native(el).querySelector('slot')) return true;
    // Composed letters, soft hyphens and the like hide a word from a plain look; few texts have any.
    if (!ODD.test(text)) return false;
    const plain = squeeze(text);
    return words.every((w) => plain.includes(w));
  };
  const visit = (el: Element): void => {
    if (SKIPPED.has(native(el).localName) || !mayHold(el)) return;
    for (const child of native(el).children) visit(child);
    if ((native(el).textContent?.length ?? 0) > LARGE) {
      const own = fold(ownText(el));
      if (own.includes(wanted)) found.push({ el, text: own, own });
      return;
    }
    const text = el instanceof HTMLOptionElement ? fold(el.text) : fold(visibleText(el, known));
    const own = fold(ownText(el));
    // Written "Save" and shown as "SAVE": either way of asking for it is right.
    const plain = text !== wanted && text.toLocaleLowerCase() === wanted.toLocaleLowerCase() && fold(native(el).textContent ?? '') === wanted;
    found.push({ el, text: plain ? wanted : text, own });
  };
  // Of a document what is in its body; a drawing or plain XML has none.
  for (const el of (root instanceof Document ? native(root.body ?? root.documentElement)?.children : root.children) ?? []) visit(el);
  // Text that is no child of another element than the body itself.
  if (root instanceof Document && root.body && fold(ownText(root.body)).includes(wanted)) found.push({ el: root.body, text: fold(ownText(root.body)), own: '' });
  for (const el of root.querySelectorAll('input')) {
    const text = fold(buttonText(el));
    if (text) found.push({ el, text, own: text });
  }
  return inDocumentOrder(found);
}

function buttonText(el: HTMLInputElement): string {
  if (el.type === 'image') return normalise(el.alt);
  if (!isButtonInput(el)) return '';
  return normalise(el.hasAttribute('value') ? el.value : el.type === 'submit' ? 'Submit' : el.type === 'reset' ? 'Reset' : '');
}

function inDocumentOrder(found: Said[]): Said[] {
  return found.sort((a, b) => (a.el === b.el ? 0 : native(a.el).compareDocumentPosition(b.el) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
}

/** Without those that hold another one of the list. The list is in document order. */
function innermost(list: Element[]): Element[] {
  const outer = new Set<Element>();
  const all = new Set(list);
  for (const el of list) for (let up = native(el).parentElement; up; up = native(up).parentElement) if (all.has(up)) outer.add(up);
  return list.filter((el) => !outer.has(el));
}

function deepestFirst(list: Element[]): Element[] {
  const depth = new Map(list.map((el) => [el, [...ancestry(el)].length]));
  return list.sort((a, b) => depth.get(b)! - depth.get(a)!);
}

/** Letters only as far as a first, generous comparison needs them: no spaces, no case. */
const squeeze = (text: string) => fold(text).replace(/ /g, '').toLocaleLowerCase();

