// Mathematics: where a page carries the TeX of a formula, that is what is read; otherwise the formula's symbols as they stand.
import { native } from '../native';

/** The formula of an element that is one, '' if it has no text; null for any other element. */
export function formulaOf(el: Element): string | null {
  const name = native(el).localName;
  if (name === 'math') return texOf(el) ?? symbols(native(el).textContent);
  const classes = native(el).getAttribute('class') ?? '';
  if (name === 'mjx-container' || /(?:^|\s)(?:katex|mwe-math-element|MathJax(?:_SVG|_CHTML)?)(?:\s|$)/.test(classes)) {
    const math = native(el).querySelector('math');
    return math ? texOf(math) ?? symbols(native(math).textContent) : null;
  }
  return null;
}

function texOf(math: Element): string | null {
  const note = native(native(math).querySelector('annotation[encoding="application/x-tex"]'))?.textContent ?? native(math).getAttribute('alttext');
  const tex = note?.replace(/\s+/g, ' ').trim();
  if (!tex) return null;
  return native(math).getAttribute('display') === 'block' ? `$$${tex}$$` : `$${tex}$`;
}

function symbols(text: string | null): string {
  return (text ?? '').replace(/\s+/g, ' ').trim();
}
