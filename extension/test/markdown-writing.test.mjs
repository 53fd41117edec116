// Writing the model as Markdown, without a browser. What is written is read back by a GFM parser of somebody else's, so that "escaped
// where needed" means: the parser sees the text and the marks that the page had, whatever characters the page is made of.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { load } from './harness/bundle.mjs';

let renderMarkdown;
before(async () => { ({ renderMarkdown } = await load('page/markdown/render.ts')); });

const write = (blocks) => renderMarkdown(blocks, 1e6).markdown;
const html = (markdown) => micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });
const text = (s) => ({ t: 'text', text: s });
const mark = (kind, ...inner) => ({ t: 'mark', kind, ...(kind === 'link' ? { href: 'https://x.test/' } : {}), inner: inner.map((n) => (typeof n === 'string' ? text(n) : n)) });
const p = (...inner) => ({ t: 'p', inner: inner.map((n) => (typeof n === 'string' ? text(n) : n)) });
const cell = (...blocks) => ({ blocks: blocks.map((b) => (typeof b === 'string' ? p(b) : b)), header: false, colspan: 1, rowspan: 1, align: '' });
const th = (...blocks) => ({ ...cell(...blocks), header: true });
const row = (...cells) => ({ section: 'body', cells: cells.map((c) => (typeof c === 'string' ? cell(c) : c)) });
const table = (...rows) => ({ t: 'table', caption: [], rows });

/** Every character that can be seen with the marks on it; white space counts once and carries no mark. */
function seen(pieces) {
  let out = '';
  for (const { c, marks } of pieces) {
    if (/\s/.test(c)) { if (!out.endsWith(' ')) out += ' '; } else out += c + (marks.size ? `{${[...marks].sort().join()}}` : '');
  }
  return out.trim();
}

function modelSeen(nodes) {
  const pieces = [];
  const visit = (list, marks) => {
    for (const node of list) {
      if (node.t === 'text') for (const c of node.text.replaceAll('\u00ad', '')) pieces.push({ c, marks });
      if (node.t === 'br') pieces.push({ c: ' ', marks });
      if (node.t === 'mark') visit(node.inner, new Set([...marks, node.kind]));
    }
  };
  visit(nodes, new Set());
  return seen(pieces);
}

const TAGS = { strong: 'strong', em: 'em', del: 'del', a: 'link', code: 'code', sub: 'sub', sup: 'sup', kbd: 'kbd' };
const ENTITIES = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"' };

/** The same of HTML; only the tags that a paragraph may come to are allowed, anything else is a misreading. */
function htmlSeen(source) {
  const pieces = [];
  const open = [];
  // GFM makes links of bare addresses; the text stays what it is.
  for (const [token] of source.replace(/<a href="(?!https:\/\/x\.test\/")[^>]*>(.*?)<\/a>/g, '$1').matchAll(/<[^>]*>|&(?:lt|gt|amp|quot);|[\s\S]/gu)) {
    const tag = /^<(\/?)(\w+)[^>]*>$/.exec(token);
    if (!tag) pieces.push({ c: ENTITIES[token] ?? token, marks: new Set(open) });
    else if (tag[2] === 'br' || tag[2] === 'p') pieces.push({ c: ' ', marks: new Set() });
    else if (!TAGS[tag[2]]) return `misread as <${tag[2]}>: ${source}`;
    else if (tag[1]) open.splice(open.lastIndexOf(TAGS[tag[2]]), 1);
    else open.push(TAGS[tag[2]]);
  }
  return seen(pieces);
}

/** A small generator of the same numbers every time. */
function numbers(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const BITS = ['*', '**', '_', '__', '`', '``', '~', '~~', '[', ']', '](', '(', ')', '!', '![', '<', '<b>', '</b>', '<!--', '>', '&', '&amp;', '&#35;', '\\', '\\*', '#', '# ', '## x', '-', '- ', '---', '+ ', '1.', '1. ', '23) ',
  '=', '===', '|', ':', '"', "'", '.', ',', '（', '）', '。', '“', '”', '中文', '한', 'é', '👩‍💻', 'a', 'b', 'word', 'snake_case', 'x*y', ' ', ' ', ' ', '\n', '~~~', '```', '[ ] ', '[x]: y', '***', '* * *', '4', '€', '$', '@', '/', 'C:\\dir', '|---|---|', ':-:', '\u00ad'];
const KINDS = ['strong', 'em', 'del', 'link', 'sub', 'kbd'];

function randomInline(pick, depth = 0) {
  return Array.from({ length: 1 + pick(4) }, () => {
    if (depth < 3 && pick(3) === 0) return mark(KINDS[pick(KINDS.length)], ...randomInline(pick, depth + 1));
    if (depth === 0 && pick(12) === 0) return { t: 'br' };
    if (pick(12) === 0) return mark('code', BITS[pick(BITS.length)], BITS[pick(BITS.length)]);
    return text(Array.from({ length: 1 + pick(5) }, () => BITS[pick(BITS.length)]).join(''));
  });
}

test('any text with any marks is read back as it was', () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const inner = randomInline(numbers(seed));
    const markdown = write([{ t: 'p', inner }]);
    assert.equal(htmlSeen(html(markdown)), modelSeen(inner), `seed ${seed}: ${JSON.stringify(inner)}\n${markdown}`);
  }
});

test('any text in a table cell stays in its cell', () => {
  for (let seed = 1; seed <= 1200; seed++) {
    const pick = numbers(seed);
    const [a, b] = [randomInline(pick), randomInline(pick)];
    const markdown = write([table(row(th('one'), th('two')), row(cell({ t: 'p', inner: a }), cell({ t: 'p', inner: b })))]);
    const cells = Array.from(html(markdown).matchAll(/<td>([\s\S]*?)<\/td>/g), (m) => htmlSeen(m[1]));
    const wanted = [modelSeen(a), modelSeen(b)];
    if (wanted.some(Boolean)) assert.deepEqual(cells, wanted, `seed ${seed}: ${JSON.stringify([a, b])}\n${markdown}`);
  }
});

test('plain text that means nothing to Markdown is left alone', () => {
  for (const plain of ['snake_case and file_name_v2', 'a * b', '2 * 3 = 6', 'AT&T', 'a < b && c > d', 'C:\\dir\\file', '[1] and (2)', 'wait! [x]', '~5 min', '100 % # of it', 'one*', '#hashtag', 'e.g. 1. 2.']) {
    assert.equal(write([p(plain)]), plain);
  }
});

test('text that would begin a block is escaped at the start of its line only', () => {
  const starts = { '# x': '\\# x', '- x': '\\- x', '+ x': '\\+ x', '1. x': '1\\. x', '12) x': '12\\) x', '> x': '\\> x', '---': '\\---' };
  for (const [plain, escaped] of Object.entries(starts)) {
    assert.equal(write([p(plain)]), escaped);
    assert.equal(write([p('a ' + plain)]), 'a ' + plain);
    assert.equal(write([p('a', { t: 'br' }, plain)]), `a  \n${escaped}`);
  }
});

test('a line that would make a table of the one before is none', () => {
  for (const [a, b] of [['| a | b |', '|---|---|'], ['a', ':-:'], ['a|b', '--|--'], ['| a', '|-']]) assert.equal(htmlSeen(html(write([p(a, { t: 'br' }, b)]))), seen([...`${a} ${b}`].map((c) => ({ c, marks: new Set() }))));
});

test('an address with marks in it is read back whole', () => {
  for (const address of ['https://y.test/_next/_x_', 'http://y.test/~a/~b', 'https://y.test/*a*?b=[1]&copy;=2', 'https://y.test/a_b']) {
    for (const around of [['', ''], ['see ', ' there'], ['(not: ', ').'], ['* ', ' *']]) {
      const text = around.join(address);
      assert.ok(html(write([p(text)])).replaceAll('&amp;', '&').includes(`>${address}</a>`), write([p(text)]));
    }
  }
  assert.equal(write([p('at https://y.test/a_b?c=1, or')]), 'at https://y.test/a_b?c=1, or');
});

test('where a word may be broken is nothing', () => {
  assert.equal(write([p('get\u200bElement\ufeffBy\u00adId')]), 'getElementById');
  assert.equal(write([p('a', mark('strong', '\u00ad'), 'b')]), 'ab');
});

test('emphasis: spaces move out, empty marks vanish, neighbours melt, the unwritable becomes HTML', () => {
  assert.equal(write([p('a', mark('strong', ' b '), 'c')]), 'a **b** c');
  assert.equal(write([p('a', mark('strong'), mark('em', ' '), 'b')]), 'a b');
  assert.equal(write([p(mark('strong', 'a'), mark('strong', 'b'))]), '**ab**');
  assert.equal(write([p(mark('del', 'a'), ' ', mark('del', 'b'))]), '~~a~~ ~~b~~', 'what stands between words is not struck out with them');
  assert.equal(write([p(mark('strong', mark('strong', 'a')))]), '**a**');
  assert.equal(write([p('中文', mark('strong', '（注）'), '后')]), '中文<strong>（注）</strong>后');
  assert.equal(write([p(mark('strong', 'a', { t: 'br' }, { t: 'br' }, 'b'))]), '**a**\n\n**b**');
});

test('code: fences and backticks are longer than any inside', () => {
  assert.equal(write([{ t: 'code', lang: 'md', text: '```js\nx\n```' }]), '````md\n```js\nx\n```\n````');
  assert.equal(write([p(mark('code', 'a`b'))]), '``a`b``');
  assert.equal(write([p(mark('code', '`'))]), '`` ` ``');
  assert.equal(write([p(mark('code', 'a'), mark('code', '`b '), 'c', mark('code', 'd'), ' ', mark('code', 'e'))]), '``a`b`` c`d` `e`', 'code behind code is one run');
  assert.equal(write([p(mark('code', mark('link', 'x')))]), '[`x`](https://x.test/)');
  assert.equal(write([{ t: 'code', lang: '', text: '\n  indented\n\n  more  \n\n' }]), '```\n  indented\n\n  more\n```');
});

const li = (...blocks) => ({ number: null, task: null, blocks: blocks.map((b) => (typeof b === 'string' ? p(b) : b)) });
const ul = (...items) => ({ t: 'list', ordered: false, items: items.map((i) => (typeof i === 'string' ? li(i) : i)) });
const ol = (...items) => ({ t: 'list', ordered: true, items: items.map(([number, ...blocks]) => ({ ...li(...blocks), number })) });

test('lists: nested, numbered as shown, loose where an item has several blocks, apart where two meet', () => {
  assert.equal(write([ul(li('a', ul('b', li('c', ol([1, 'd'])))), 'e')]), '- a\n  - b\n  - c\n    1. d\n- e');
  assert.equal(write([ol([9, 'x'], [10, 'y', { t: 'code', lang: '', text: 'z' }])]), '9. x\n\n10. y\n\n    ```\n    z\n    ```');
  // A list that begins with another number than 1 is no list right behind a line of text.
  assert.equal(write([ul(li('a', ol([5, 'e'], [6, 'f'])))]), '- a\n\n  5. e\n  6. f');
  assert.equal(write([ul(li('a', p('b'), ol([5, 'e'])))]), '- a\n\n  b\n\n  5. e');
  assert.match(html(write([ul(li('a', ol([5, 'e'])))])), /<ol start="5">\s*<li>e<\/li>/);
  assert.match(html(write([ul(li({ t: 'hr' }), li({ t: 'hr' }, p('x')))])), /^<ul>\s*<li>\s*<hr \/>\s*<\/li>\s*<li>\s*<hr \/>\s*<p>x<\/p>\s*<\/li>\s*<\/ul>$/);
  assert.equal(write([ul('a'), ul('b')]), '- a\n\n* b');
  assert.equal(write([ul({ ...li('done'), task: true }, { ...li('open'), task: false }, '[ ] text')]), '- [x] done\n- [ ] open\n- \\[ ] text');
  assert.equal(write([{ t: 'quote', blocks: [p('q'), ul('i'), { t: 'quote', blocks: [p('in')] }] }]), '> q\n>\n> - i\n>\n> > in');
});

const rows = (markdown) => markdown.split('\n').map((line) => line.slice(2, -2).split(/ \| /).map((c) => c.trim()));

test('tables: spans are spread so that every row is as wide as the others', () => {
  const markdown = write([table(
    { section: 'head', cells: [{ ...th('Name'), rowspan: 2 }, { ...th('Size'), colspan: 2 }] },
    { section: 'head', cells: [th('min'), { ...th('max'), align: 'right' }] },
    row({ ...cell('x'), rowspan: 2 }, '1', '2'),
    row('3', '4'),
    row({ ...cell('all of them'), colspan: 100 }),
    row('only one'))]);
  assert.deepEqual(rows(markdown), [['Name', 'Size min', 'Size max'], ['---', '---', '---:'], ['x', '1', '2'], ['x', '3', '4'], ['all of them', '', ''], ['only one', '', '']]);
});

test('tables: a cell that says it is as wide as any table takes no place from the next', () => {
  assert.deepEqual(rows(write([table(row({ ...cell('all'), colspan: 1000 }, 'beside'), row('1', '2'))])).flat().filter((text) => /\w/.test(text)), ['all', 'beside', '1', '2']);
});

test('tables: no header row, or one that is only bold', () => {
  assert.deepEqual(rows(write([table(row('a', 'b'), row('c', 'd'))])), [['', ''], ['---', '---'], ['a', 'b'], ['c', 'd']]);
  assert.deepEqual(rows(write([table(row(cell(p(mark('strong', 'A'))), cell(p(mark('strong', 'B')))), row('c', 'd'))])), [['A', 'B'], ['---', '---'], ['c', 'd']]);
});

test('tables: header rows outside of a thead are one, as far as one above spans them', () => {
  const markdown = write([table(row({ ...th('Name'), rowspan: 2 }, { ...th('Size'), colspan: 2 }), row(th('min'), th('max')), row('x', '1', '2'))]);
  assert.deepEqual(rows(markdown), [['Name', 'Size min', 'Size max'], ['---', '---', '---'], ['x', '1', '2']]);
  assert.deepEqual(rows(write([table(row(th('A'), th('B')), row({ ...th('Part'), colspan: 2 }), row('1', '2'))])), [['A', 'B'], ['---', '---'], ['Part', ''], ['1', '2']]);
});

test('tables: blocks in a cell stay in it', () => {
  const markdown = write([table(row(th('a'), th('b|c')), row(cell('p1', 'p2'), cell(ul('x', 'y'))), row(cell({ t: 'code', lang: '', text: 'l1\nl2' }), cell(p('a', { t: 'br' }, 'b'))))]);
  assert.equal(markdown, '| a | b\\|c |\n| --- | --- |\n| p1<br>p2 | - x<br>- y |\n| `l1`<br>`l2` | a<br>b |');
});

test('what is too long is cut at a line, and says so', () => {
  const { markdown, cut } = renderMarkdown(Array.from({ length: 100 }, (_, i) => p(`line ${i}`)), 100);
  assert.equal(cut, true);
  assert.ok(markdown.length <= 100 && markdown.startsWith('line 0\n\nline 1'));
});
