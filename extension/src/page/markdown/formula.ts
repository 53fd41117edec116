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

/** The symbols that are drawn: not what is noted beside them, and not what only keeps a place free. */
function symbols(math: Element): string {
  const texts = document.createTreeWalker(math, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
    (node instanceof Element && /^(?:annotation|annotation-xml|mphantom)$/.test(native(node).localName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  const parts: string[] = [];
  while (texts.nextNode()) if (texts.currentNode instanceof Text) parts.push(texts.currentNode.data);
  return parts.join('').replace(/\s+/g, ' ').trim();
}
