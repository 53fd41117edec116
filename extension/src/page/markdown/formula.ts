// Mathematics: where a page carries the TeX of a formula, that is what is read; otherwise the formula's symbols as they stand.
import { native } from '../native';

/** The formula of an element that is one, '' if it has no text; null for any other element. */
export function formulaOf(el: Element): string | null {
  const name = native(el).localName;
  if (name === 'math') return texOf(el) ?? symbols(el);
  const classes = native(el).getAttribute('class') ?? '';
  if (name === 'mjx-container' || /(?:^|\s)(?:katex|mwe-math-element|MathJax(?:_SVG|_CHTML)?)(?:\s|$)/.test(classes)) {
    const math = native(el).querySelector('math');
    return math ? texOf(math) ?? symbols(math) : null;
  }
  return null;
}

function texOf(math: Element): string | null {
  const note = native(native(math).querySelector('annotation[encoding="application/x-tex"]'))?.textContent ?? native(math).getAttribute('alttext');
  const tex = note?.replace(/\s+/g, ' ').trim();
  if (!tex) return null;
  return native(math).getAttribute('display') === 'block' ? `$$${tex}$$` : `$${tex}$`;
}

/** Formulas are not nested deeper than this by people. */
const DEEPEST = 60;

/** The symbols that are drawn, in one line: not what is noted beside them, and not what only keeps a place free. */
function symbols(math: Element, depth = 0): string {
  const name = native(math).localName;
  if (/^(?:annotation|annotation-xml|mphantom)$/.test(name) || depth > DEEPEST) return '';
  const parts = Array.from(native(math).children, (child) => symbols(child, depth + 1));
  if (!parts.length) return (native(math).textContent ?? '').replace(/[\u2061-\u2064]/g, '').replace(/\s+/g, ' ').trim();
  const [base = '', first = '', second = ''] = parts.map(grouped);
  const below = first && `_${first}`, above = (script: string) => script && `^${script}`;
  // Two numbers above each other must not become one.
  switch (name) {
    case 'mfrac': return `${base}/${first}`;
    case 'msup': case 'mover': return base + above(first);
    case 'msub': case 'munder': return base + below;
    case 'msubsup': case 'munderover': return base + below + above(second);
    case 'msqrt': return `√${grouped(parts.join(''))}`;
    case 'mroot': return `${first}√${base}`;
    case 'mtr': return parts.join(', ');
    case 'mtable': return parts.join('; ');
    default: return parts.join('');
  }
}

/** A part of several symbols in brackets, unless it has some. */
function grouped(part: string): string {
  return /^(?:[\p{L}\p{N}.,]*|.|\([^()]*\))$/u.test(part) ? part : `(${part})`;
}
