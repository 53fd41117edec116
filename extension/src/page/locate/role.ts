// Targets by ARIA role and accessible name, as assistive technology sees them: what is hidden from it is not found.
import { isHidden, nameOf } from '../a11y/names';
import { roleOf } from '../a11y/roles';
import { normalise } from '../text';
import { firstOf, LENIENT, type Matches, type Root } from './find';

const ALIAS: Record<string, string> = { image: 'img', presentation: 'none', directory: 'list' };

export function byRole(root: Root, value: string, name: string | undefined, lenient: boolean): Matches {
  const all = withRole(root, value);
  if (name === undefined) return { elements: lenient ? [] : all, rank: 0 };
  const wanted = normalise(name);
  const low = wanted.toLocaleLowerCase();
  const names = new Map(all.map((el) => [el, normalise(nameOf(el))]));
  const pick = (holds: (name: string) => boolean) => all.filter((el) => holds(names.get(el)!));
  if (!lenient) return { elements: pick((n) => n === wanted), rank: 0 };
  return firstOf(
    { rank: LENIENT, of: () => pick((n) => n.toLocaleLowerCase() === low) },
    { rank: LENIENT + 1, of: () => (low ? pick((n) => n.toLocaleLowerCase().includes(low)) : []) },
  );
}

export function withRole(root: Root, value: string): Element[] {
  const asked = value.trim().toLowerCase();
  const role = ALIAS[asked] ?? asked;
  const found: Element[] = [];
  for (const el of root.querySelectorAll('*')) if (el.localName !== 'link' && roleOf(el) === role && !isHidden(el)) found.push(el);
  return found;
}

/** The names of what has the role, for a search that found none with the name: `"Save", "Cancel", …`. */
export function namesWithRole(root: Root, value: string): string[] {
  return withRole(root, value).map((el) => normalise(nameOf(el)));
}
