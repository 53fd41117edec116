// Code blocks: their text as it is laid out, without the line numbers, and the language that highlighters leave in the markup.
import { BLOCK } from '../read/text';
import { walkAtOnce, type Budget } from '../read/walk';
import { native } from '../native';

const GUTTER = /(?:^|[\s_-])(?:linenos?|linenumbers?|line-?numbers?(?:-rows)?|gutter|blob-num|hljs-ln-numbers?|lnt?|rouge-gutter|CodeMirror-linenumber)(?:$|\s)/i;
const NUMBERS = /^[\s\d]*$/;

export function isGutter(el: Element): boolean {
  return GUTTER.test(native(el).getAttribute('class') ?? '') && NUMBERS.test(native(el).textContent ?? '');
}

/** The text of a code block. */
export function codeText(pre: Element, budget: Budget): string {
  const parts: string[] = [];
  let ended = true, asked = false;
  const put = (text: string) => {
    if (!text) return;
    // A line that is a block of its own may or may not bring its line end along.
    if (asked && !ended) parts.push('\n');
    asked = false;
    parts.push(text);
    ended = text.endsWith('\n');
  };
  walkAtOnce(pre, {
    element(el, style) {
      if (native(el).localName === 'br') { put('\n'); return 'skip'; }
      if (/^(?:button|select|input|textarea|svg|img)$/.test(native(el).localName) || isGutter(el)) return 'skip';
      if (el === pre || !BLOCK.test(style.display)) return undefined;
      asked = true;
      return () => { asked = true; };
    },
    text(node) { put(budget.take(node.data)); },
  }, budget);
  return parts.join('');
}

/** A table that a highlighter makes to put numbers beside its lines: its cell of code, or all of it if each line is a row; null for any other table. */
export function codeTableCell(table: Element): Element | null {
  const pres = native(table).querySelectorAll('pre');
  if (!pres.length) return isCodeByRows(table) ? table : null;
  if (pres.length > 2) return null;
  const cells = native(table).querySelectorAll('td, th');
  if (cells.length > 3) return null;
  const code = Array.from(pres).filter((pre) => !NUMBERS.test(pre.textContent ?? ''));
  const [only] = code;
  if (code.length !== 1 || !only?.closest('td, th')) return null;
  const rest = (native(table).textContent ?? '').replace(only.textContent ?? '', '');
  return NUMBERS.test(rest) ? only : null;
}

function isCodeByRows(table: Element): boolean {
  const rows = table instanceof HTMLTableElement ? Array.from(table.rows) : [];
  return rows.length > 0 && rows.every((row) => {
    const code = Array.from(row.cells).filter((cell) => !isGutter(cell));
    return code.length === 1 && row.cells.length > 1 && /^(?:preserve|pre|pre-wrap|break-spaces)$/.test(getComputedStyle(code[0]!).whiteSpaceCollapse ?? '');
  });
}

const CLASS = /(?:^|\s)(?:language|lang|highlight-source|highlight|sourceCode|source|src|code|brush|hljs|prettyprint lang)[-:]\s*([\w+#.-]+)/i;
const NONE = /^(?:none|no-?highlight|default|plain|text|txt|auto|switcher|toggle|name|label|block|wrapper|container|snippet|example|box|area|body|inner|lines?|toolbar|pre|rouge|table|source)$/i;

/** Languages that a class of nothing but the name marks; words with another meaning for a stylesheet are not among them. */
const BARE = new Set((
  'asm awk bash c clojure cmake coffeescript cpp csharp css dart diff dockerfile elixir elm erlang fortran fsharp go golang graphql groovy haskell hcl html ' +
  'http ini java javascript js json json5 jsonc jsx julia kotlin latex less lisp lua makefile markdown mathematica matlab mermaid nginx nim nix objc ' +
  'objective-c ocaml perl php powershell prolog proto protobuf python py r ruby rust sass scala scheme scss sh shell solidity sql svelte swift tex toml ' +
  'ts tsx typescript vb verilog vhdl vim vue wasm xml yaml yml zig zsh').split(' '));

/** The language of a code block, from the block, the code in it, or what is wrapped around it. */
export function codeLanguage(pre: Element): string {
  const inside = native(pre).localName === 'pre' ? Array.from(native(pre).querySelectorAll('code, samp')).slice(0, 1) : [];
  const near = [...inside, pre];
  let up = native(pre).parentElement;
  for (let i = 0; i < 6 && up && up !== document.body; i++, up = native(up).parentElement) {
    // A wrapper of several blocks says nothing about one of them.
    if (native(up).getElementsByTagName('pre').item(codeTableCell(up) ? 2 : 1)) break;
    near.push(up);
  }
  for (const el of near) {
    const lang = languageOf(el, el === pre || inside.includes(el));
    if (lang) return lang;
  }
  return '';
}

function languageOf(el: Element, own: boolean): string {
  for (const name of ['data-language', 'data-lang', 'data-code-lang', 'data-code-language', 'data-enlighter-language', 'syntax', 'lang']) {
    // On a wrapper, and as a rule on the code as well, `lang` is a human language.
    if (name === 'lang' && !(own && native(el).localName === 'pre')) continue;
    const value = native(el).getAttribute(name)?.trim();
    if (value && /^[\w+#.-]{1,30}$/.test(value) && !NONE.test(value) && !(name === 'lang' && isHuman(value))) return value.toLowerCase();
  }
  const names = native(el).getAttribute('class') ?? '';
  const brush = /(?:^|\s|;)brush:\s*([\w+#.-]+)/i.exec(names)?.[1];
  if (brush) return clean(brush);
  const found = CLASS.exec(names)?.[1];
  if (found) return clean(found.replace(/^source-/, ''));
  // The older ways of highlighters: the bare name beside a class of theirs.
  const beside = own || native(el).localName === 'figure' ? /(?:^|\s)(?:hljs|sourceCode|prettyprint|highlight|codehilite|shiki)\s+(?!language-|lang-)([a-z][\w+#]{0,20})(?:\s|$)/i.exec(names)?.[1] : undefined;
  if (beside) return clean(beside);
  // The name alone, as some writers put it: only one that means nothing else.
  return own ? names.split(/\s+/).find((name) => BARE.has(name.toLowerCase()))?.toLowerCase() ?? '' : '';
}

/** Whether a `lang` attribute means a language that people speak, as it should. */
function isHuman(lang: string): boolean {
  return /^[a-z]{2}(?:-\w+)?$/i.test(lang) && !/^(?:js|ts|go|rs|py|rb|cs|kt|md|vb)$/i.test(lang);
}

function clean(name: string): string {
  const lang = name.toLowerCase().replace(/[.-]+$/, '');
  return NONE.test(lang) || lang.length > 30 ? '' : lang;
}
