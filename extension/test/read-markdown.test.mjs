// get_page_markdown: what is drawn, as GFM; the main content of a page, or all of it, or one element.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from './harness/start.mjs';

const dir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'pages/read');
const page = (body, title = 'Page') => `<!doctype html><html lang=en><meta charset=utf-8><title>${title}</title><body>${body}</body>`;
const story = (n) => Array.from({ length: n }, (_, i) => `<p>Paragraph ${i} of the story goes on for a while, with commas, with <b>weight</b>, and with enough words that nobody could take it for a menu.</p>`).join('');
const pages = {
  '/short': page(`<div class="top"><a href="/">NOISE home</a> <a href="/a">NOISE about</a></div><div id="content"><h1>Short story</h1>${story(3)}<ul><li>one</li><li>two</li></ul></div>
    <div class="sidebar"><h3>NOISE popular</h3><ul><li><a href="/1">NOISE one</a></li></ul></div><div class="footer">NOISE 2026 <a href="/i">NOISE imprint</a></div>`, 'Short story - Site'),
  '/remarks': page(`<nav>NOISE</nav><main><article><h1>Remarks</h1>${story(3)}<aside class="note"><strong>Note:</strong> Mind the gap.</aside>${story(1)}<aside aria-label="Tip" class="starlight-aside starlight-aside--tip"><p>Starlight says so.</p></aside>
    <aside class="quote"><div class="title">bob:</div><blockquote>as he said</blockquote></aside><p>And on it goes, with some more words, so that the article has an end, as all articles should have.</p><aside class="related">NOISE <a href="/r">NOISE</a></aside></article><aside><h3>NOISE</h3><a href="/x">NOISE</a></aside></main>`),
  '/little': page('<nav><a href="/">Menu</a></nav><main><p>Tiny.</p></main><footer>Foot</footer>'),
  '/parts': page(`<nav>NOISE</nav>${story(1)}<div><h3>Feature</h3><p>Short.</p></div><div><h2>Prices</h2><table><tr><th>Plan</th><th>Price</th></tr><tr><td>Free</td><td>0</td></tr></table></div><div><h2>Questions</h2><p>What is it? It is a thing.</p><p>Is it? It is.</p><p>Was it ever something else, and if so, for how long, and why did it change, and who decided that it had to change?</p></div>`),
  '/twins': page('<p>price <span><span style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)">$12.99</span><span aria-hidden="true"><span>$</span>12.99</span></span> <span aria-hidden="true">HID</span></p>'),
  '/app': page('<div id="app"></div><script>setTimeout(() => { app.innerHTML = "<h1>Drawn</h1><p>by a script</p>" }, 0)</script>'),
  '/ticks': page(`<ul><li><span role="checkbox" aria-checked="true" tabindex="0"></span> bought</li><li><label><span role="checkbox" aria-checked="false"></span>to buy</label></li>
    <li role="checkbox" aria-checked="true">sent</li><li role="menuitemcheckbox" aria-checked="false">to send</li><li><button role="switch" aria-checked="true">Sw</button> on</li>
    <li>text <span role="checkbox" aria-checked="true"></span></li></ul>`),
  '/formula': page('<p>Euler: <span class="katex"><span class="katex-mathml"><math><semantics><mi>e</mi><annotation encoding="application/x-tex">e^{i\\pi}+1=0</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">eiπ+1=0</span></span>.</p><math><mi>y</mi><mo>=</mo><mn>1</mn></math><p><math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac><mo>+</mo><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup><mo>+</mo><msqrt><mi>y</mi></msqrt></math></p>'),
  '/nodes': page(Array.from({ length: 6000 }, (_, i) => `<section><h2>S${i}</h2><p>text <b>${i}</b> <a href="/${i}">link</a></p><ul><li>a</li><li>b</li></ul></section>`).join('')),
  '/deep': page('<script>let p = document.body; for (let i = 0; i < 600; i++) { const d = document.createElement(["blockquote", "div", "ul", "b"][i % 4]); p.append(d); p = d } p.textContent = "bottom"</script>'),
  // Elements in any order, as no parser would leave them but a script may: the same ones for the same number.
  '/any': page(`<script>
    let state = Number(new URLSearchParams(location.search).get('seed')), words = 0;
    const pick = (n) => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return Math.floor(state / 2 ** 32 * n); };
    const tags = 'div p span b i a ul ol li table thead tbody tr td th caption blockquote pre code h2 dl dt dd details summary figure figcaption section br em del sup label fieldset legend ruby rt kbd mark'.split(' ');
    const styles = ['', '', '', 'display:inline', 'display:block', 'display:flex', 'display:inline-block', 'display:table-cell', 'display:grid', 'float:left', 'position:relative', 'white-space:pre', 'display:contents'];
    const make = (depth) => {
      const el = document.createElement(tags[pick(tags.length)]);
      if (el.localName === 'br') return el;
      if (el.localName === 'a') el.href = '/x';
      if (el.localName === 'details') el.open = true;
      if (el.localName === 'td') { el.colSpan = 1 + pick(3); el.rowSpan = 1 + pick(3); }
      el.style.cssText = styles[pick(styles.length)];
      for (let i = pick(5); i > 0; i--) el.append(pick(2) || depth > 7 ? ' word' + words++ + ' ' : make(depth + 1));
      return el;
    };
    for (let i = 0; i < 60; i++) document.body.append(make(0));
  </script>`),
  get '/languages'() { return page(marked.join('')); },
  '/chrome': page(`<section><article><h1>Art</h1><p>${'words, and more of them. '.repeat(30)}</p></article></section><nav><a href="/x">NOISE</a></nav><div role="search">NOISE</div><footer>NOISE</footer>`),
  '/roles': page('<div role="table"><div role="rowgroup"><div role="row"><span role="columnheader">A</span><span role="columnheader" aria-colspan="2">B</span></div></div><div role="rowgroup"><div role="row"><span role="cell">1</span><span role="cell">2 | 3</span><span role="cell">4</span></div></div></div><div role="row"><div role="cell">stray</div></div><div role="grid"><table role="presentation"><tr role="row"><td role="gridcell">lay</td><td>out</td></tr></table></div>'),
  '/folded': page('<table border="1"><tr><th>A</th><th style="display:none">HID</th></tr><tr><td>1</td><td style="display:none">HID</td></tr><tr style="visibility:collapse"><td>HID</td><td>HID</td></tr></table>'),
  '/rows': page('<table class="highlight tab-size"><tr><td class="blob-num" data-line-number="1"></td><td class="blob-code" style="white-space:pre">if x:</td></tr><tr><td class="blob-num" data-line-number="2"></td><td class="blob-code" style="white-space:pre">\n</td></tr><tr><td class="blob-num" data-line-number="3"></td><td class="blob-code" style="white-space:pre">    y | z</td></tr></table>'),
  '/layout': page('<table><tr><td><table><tr><th>in</th><th>ner</th></tr><tr><td>1</td><td>2</td></tr></table></td><td>beside</td></tr></table><table role="presentation"><tr><td>lay</td><td>out</td></tr></table>'),
};

// How the tools that write pages mark a block's language; the block says what is to be read.
const marked = ['<pre class="language-js"><code>js</code></pre>', '<pre><code class="language-ts">ts</code></pre>', '<pre><code class="lang-py">py</code></pre>', '<div class="highlight-source-rust"><pre>rust</pre></div>',
  '<div class="highlight highlight-go"><pre>go</pre></div>', '<pre data-lang="sql"><code>sql</code></pre>', '<pre><code data-lang="yaml">yaml</code></pre>', '<pre data-language="toml">toml</pre>', '<div class="snippet" data-lang="php"><pre>php</pre></div>',
  '<pre class="brush: java">java</pre>', '<pre><code class="hljs cpp">cpp</code></pre>', '<pre class="sourceCode haskell"><code>haskell</code></pre>', '<div class="highlight-python3 notranslate"><div class="highlight"><pre>python3</pre></div></div>',
  '<pre class="prettyprint lang-kotlin">kotlin</pre>', '<figure class="highlight ruby"><table><tr><td class="gutter"><pre>1</pre></td><td class="code"><pre>ruby</pre></td></tr></table></figure>', '<pre class="swift"><code>swift</code></pre>',
  '<pre><code class="javascript">javascript</code></pre>', '<pre class="EnlighterJSRAW" data-enlighter-language="dart">dart</pre>', '<pre class="src src-elisp">elisp</pre>', '<pre class="code wide plain">without</pre>'];

let b;
before(async () => { b = await start({ dir, pages }); });
after(() => b?.stop());
const read = async (where, params = {}) => { const tab = await b.open(where); return (await b.ok('get_page_markdown', { tab_id: tab, ...params })).markdown; };
const has = (markdown, ...lines) => { for (const line of lines) assert.ok(markdown.includes(line), `${JSON.stringify(line)} in\n${markdown}`); };

test('hidden text of every kind is left out, shadow trees and slots are in', async () => {
  const markdown = await read('/hidden.html', { full: true });
  assert.equal(markdown.match(/HID[^\n]*|AH visible/g), null);
  has(markdown, 'SEEN revis', 'SEEN cvauto', 'SEEN cvtable', 'SEEN fixedinside', 'SEEN slide1', 'SEEN slide3', 'SEEN scrolled out', 'SEEN below in scroller', 'SEEN shadow SEEN slotted', 'SEEN closed', 'SEEN fadein', '**SEEN summary**', '| SEEN c1 | SEEN c2 |');
  assert.equal(markdown.match(/SEEN b1|SEEN submit|SEEN o2/g), null, 'controls are no content');
});

test('headings, marks, lists, code, links, pictures of one page', async () => {
  const markdown = await read('/markdown.html', { selector: '#a' });
  const at = b.base;
  has(markdown, '# Title\n\n## Two `code`', '**bold** and **more** *it*', 'H<sub>2</sub>O x<sup>2</sup> <kbd>Ctrl</kbd>+<kbd>C</kbd>', '~~gone~~ ~~sp~~', '“quote”',
    '- three\n\n  - n1\n    1. d1\n    7. d7', '9. nine\n\n10. ten\n\n    ```\n    code in li\n    ```\n\n11. x', '3) c\n2) b\n1) a', '- [x] done\n- [ ] todo\n- \\[ ] fake',
    '> q1\n>\n> > q2\n> >\n> > q3\n>\n> - ql', '````python\ndef f():\n    return "```"\n````', '```go\na\nb\n```',
    '[`linkcode`](' + at + '/c)', `[sp](${at}/p%20(1).html?q=a%20b) js vb [frag](${at}/markdown.html#frag)`, `[Icon link](${at}/icon)`, `[![img \\[x\\]](${at}/i.png)](${at}/i)`,
    `### [Card](${at}/card)\n\nCard text`, `![Lazy](${at}/lazy.jpg)`, '- **Term**\n\n  Def 1\n\n  Def 2\n\n  ```\n  x\n  ```', '**Sum**\n\nBody', '**Closed**', 'Caption **b**',
    `[One](${at}/1) [Two](${at}/2)`, 'price $12.99', '### Acc', 'pw1  \npw2\n\npw3', 'loose text\n\npara\n\ntail', '漢(kan)');
  assert.equal(markdown.match(/Hidden|Btn|track\.gif|grey-placeholder|ta\b|AH\b/g), null);
  for (const lang of ['js', 'shell', 'rust', 'ts', 'haskell', 'c++', 'javascript']) has(markdown, '```' + lang + '\n');
});

test('tick boxes that are made of something else make tasks too', async () => {
  assert.equal((await read('/ticks', { selector: 'ul' })).trim(), '- [x] bought\n- [ ] to buy\n- [x] sent\n- [ ] to send\n- [x] on\n- text');
});

test('an article without what stands around it, with all that is in it', async () => {
  const markdown = await read('/article.html');
  assert.match(markdown, /^# How bridges carry words\n/);
  assert.equal(markdown.match(/RELATED|COMMENTS|NAVSEC|FOOTER|COOKIES|SHARE|SKIPLINK/g), null);
  has(markdown, '## Part 5', '![A bridge](', 'The bridge at night', '| Year | Length |\n| --- | ---: |', "```js\nconst bridge = { words: 'carried' };\nbridge.run();\n```");
  assert.match(markdown, /\n- .*\n- .*\n {2}- /);
  assert.match(markdown, /\n> /);
});

test('a remark that belongs to the article stays in it, whatever its element says', async () => {
  const markdown = await read('/remarks');
  has(markdown, 'Mind the gap.', 'Starlight says so.', 'as he said', 'Paragraph 1 of');
  assert.equal(markdown.match(/NOISE/g), null);
});

test('a short article is found without any landmark', async () => {
  const markdown = await read('/short');
  assert.match(markdown, /^# Short story\n\nParagraph 0[\s\S]*- one\n- two$/);
  assert.equal(markdown.includes('NOISE'), false);
});

test('too little content, or too little of the page, is the whole page', async () => {
  has(await read('/little'), 'Menu', 'Tiny.', 'Foot');
  has(await read('/parts'), 'Paragraph 0', '### Feature', '| Free | 0 |', 'What is it?');
});

test('full is the whole page', async () => has(await read('/short', { full: true }), 'NOISE home', 'Short story', 'NOISE imprint'));

test('a selector is that element, whatever the page', async () => {
  assert.equal(await read('/article.html', { selector: 'figcaption' }), 'The bridge at night');
  assert.equal(await read('/short', { selector: '.sidebar', full: true }), `### NOISE popular\n\n- [NOISE one](${b.base}/1)`);
});

test('a selector without a match, and one that is none', async () => {
  const tab = await b.open('/little');
  assert.equal((await b.fails('get_page_markdown', { tab_id: tab, selector: '#nope' })).code, 'ELEMENT_NOT_FOUND');
  assert.equal((await b.fails('get_page_markdown', { tab_id: tab, selector: 'p[[' })).code, 'INVALID_PARAMS');
});

test('with url the tab goes there first', async () => {
  const tab = await b.open('/little');
  const result = await b.ok('get_page_markdown', { tab_id: tab, url: `${b.base}/short` });
  assert.equal(result.tab_id, tab);
  assert.equal(result.url, `${b.base}/short`);
  assert.equal(result.title, 'Short story - Site');
  has(result.markdown, '# Short story');
});

test('what a script draws is read', async () => {
  const tab = await b.open('/app');
  await b.ok('scrape', { tab_id: tab, item: '#app h1' });
  assert.equal((await b.ok('get_page_markdown', { tab_id: tab })).markdown, '# Drawn\n\nby a script');
});

test('of two twins, one for eyes and one for screen readers, the one that is seen is read, once', async () => {
  assert.equal(await read('/twins'), 'price $12.99');
});

test('a formula is its TeX, where the page has it', async () => {
  assert.equal(await read('/formula'), 'Euler: $e^{i\\pi}+1=0$.\n\ny=1\n\n(a+1)/2+x_i^2+√y');
});

test('the language of code is read wherever it is marked', async () => {
  const found = Array.from((await read('/languages', { full: true })).matchAll(/```(.*)\n(.*)\n```/g), ([, lang, code]) => [lang, code]);
  assert.equal(found.length, marked.length);
  assert.deepEqual(found.filter(([lang, code]) => lang !== (code === 'without' ? '' : code)), []);
});

test('a table whose rows are numbered lines of code is code', async () => {
  assert.equal(await read('/rows', { full: true }), '```\nif x:\n\n    y | z\n```');
});

test('tables that lay a page out are no tables', async () => {
  assert.equal(await read('/layout'), '| in | ner |\n| --- | --- |\n| 1 | 2 |\n\nbeside\n\nlay\n\nout');
});

test('a table of roles is a table', async () => {
  assert.equal(await read('/roles'), '| A | B | B |\n| --- | --- | --- |\n| 1 | 2 \\| 3 | 4 |\n\nstray\n\nlay\n\nout');
});

test('rows and cells that are not shown make no columns', async () => {
  assert.equal(await read('/folded'), '| A |\n| --- |\n| 1 |');
});

test('navigation beside the content stays out, also where the whole body is taken for the content', async () => {
  const markdown = await read('/chrome');
  has(markdown, '# Art', 'words, and more');
  assert.equal(markdown.includes('NOISE'), false);
});

test('the same page is the same Markdown', async () => {
  const tab = await b.open('/article.html');
  const [one, two] = [await b.ok('get_page_markdown', { tab_id: tab }), await b.ok('get_page_markdown', { tab_id: tab })];
  assert.equal(one.markdown, two.markdown);
});

test('fifty thousand elements are read whole, and a nest of six hundred is no trouble', async () => {
  const markdown = await read('/nodes');
  assert.equal(markdown.match(/^## S\d+$/gm).length, 6000);
  has(await read('/deep'), 'bottom');
});

test('whatever elements a page is made of, no word is lost', async () => {
  const tab = await b.open('/little');
  for (let seed = 1; seed <= 15; seed++) {
    await b.ok('navigate', { tab_id: tab, url: `${b.base}/any?seed=${seed}` });
    const shown = await b.page(tab, '[...new Set(document.body.innerText.match(/word\\d+/g))]');
    assert.ok(shown.length > 50);
    for (const [method, key] of [['get_page_content', 'text'], ['get_page_markdown', 'markdown']]) {
      const words = new Set((await b.ok(method, { tab_id: tab, full: true }))[key].match(/word\d+/g));
      assert.deepEqual(shown.filter((word) => !words.has(word)), [], `${method}, seed ${seed}`);
    }
    const { nodes } = await b.ok('get_a11y_tree', { tab_id: tab, max_nodes: 5000 });
    const targets = nodes.filter((n) => n.target).map((n) => n.target.value);
    assert.deepEqual(await b.page(tab, `${JSON.stringify(targets)}.filter((s) => document.querySelectorAll(s).length !== 1)`), []);
  }
});
