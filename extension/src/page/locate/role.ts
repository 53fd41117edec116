// Targets by ARIA role and accessible name, as assistive technology sees them: what is hidden from it is not found.
import { isHidden, nameOf } from '../a11y/names';
import { roleOf } from '../a11y/roles';
import { labelsOf } from '../labels';
import { fold } from '../text';
import { firstOf, LENIENT, type Matches, type Root } from './find';
import { native } from '../native';

const ALIAS: Record<string, string> = { image: 'img', presentation: 'none', directory: 'list' };

export function byRole(root: Root, value: string, name: string | undefined, lenient: boolean): Matches {
  const all = rolesIn(root, value);
  if (name === undefined) return { elements: lenient ? [] : all.filter((el) => !isHidden(el)), rank: 0 };
  const wanted = fold(name);
  const low = wanted.toLocaleLowerCase();
  const names = new Map<Element, string>();
  const nameIs = (el: Element) => {
    let known = names.get(el);
    if (known === undefined) names.set(el, known = fold(nameOf(el)));
    return known;
  };
  const pick = (list: Element[], holds: (name: string) => boolean) => list.filter((el) => holds(nameIs(el)) && !isHidden(el));
  // Names are costly. Most are made of the element's own text and attributes, so those are looked through first.
  const likely = all.filter((el) => mayBeNamed(el, low));
  if (!lenient) {
    const found = pick(likely, (n) => n === wanted);
    return { elements: found.length || likely.length === all.length ? found : pick(all, (n) => n === wanted), rank: 0 };
  }
  return firstOf(
    { rank: LENIENT, of: () => pick(all, (n) => n.toLocaleLowerCase() === low) },
    { rank: LENIENT + 1, of: () => (low ? pick(all, (n) => n.toLocaleLowerCase().includes(low)) : []) },
  );
}

/** Whether a name may hold the first word that is asked for; true where that takes more than a look. */
function mayBeNamed(el: Element, low: string): boolean {
  const word = low.split(' ', 1)[0]!;
  if (native(el).hasAttribute('aria-labelledby') || native(el).querySelector('[aria-labelledby], img, svg, input, [aria-label], [title]') || labelsOf(el).length) return true;
  const said = ['aria-label', 'title', 'alt', 'value', 'placeholder', 'label'].map((name) => native(el).getAttribute(name) ?? '').join(' ');
  const text = `${native(el).textContent ?? ''} ${said}`.toLocaleLowerCase();
  return text.includes(word) || /\u00ad|\p{M}|[\u200b-\u200f]/u.test(text);
}

function rolesIn(root: Root, value: string): Element[] {
  const asked = value.trim().toLowerCase();
  const role = ALIAS[asked] ?? asked;
  const found: Element[] = [];
  for (const el of root.querySelectorAll('*')) if (native(el).localName !== 'link' && roleOf(el) === role) found.push(el);
  return found;
}

/** The names of what has the role, for a search that found none with the name: `"Save", "Cancel", …`. */
export function namesWithRole(root: Root, value: string): string[] {
  return rolesIn(root, value).slice(0, 500).filter((el) => !isHidden(el)).map((el) => fold(nameOf(el)));
}
