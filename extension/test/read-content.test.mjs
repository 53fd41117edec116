// get_page_content: what a person can see of a page, whole, once, and nothing else.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from './harness/start.mjs';

const dir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'pages/read');
const many = (script) => `<!doctype html><title>Large</title><body><script>${script}</script>`;
const pages = {
  '/scripts': '<!doctype html><title>标题 – 👍🏽</title><body><p>北京 مرحبا e\u0301 👩‍💻 𝒳</p><p>a &lt; b &amp;&amp; c &gt; d</p><p>only once</p><div>x<span>y</span><b>z</b> w</div>',
  '/layout': '<!doctype html><title>L</title><body><h1>One</h1><p>two<br>three</p><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table><pre>  keep\n    this</pre><ul><li>i</li><li>j</li></ul><p>  much\n   white   space </p>',
  '/dark': '<!doctype html><meta name="color-scheme" content="dark"><title>D</title><p>bright words</p>',
  '/either': '<!doctype html><meta name="color-scheme" content="light dark"><title>E</title><p>plain words</p><p style="color:#fff">HID</p>',
  '/layer': '<!doctype html><title>L</title><style>body{color:#fff}body::before{content:"";position:fixed;inset:0;background:#222;z-index:-1}</style><p>on a layer</p>',
  '/paragraphs': many('for (let i = 0; i < 2000; i++) { const p = document.createElement("p"); p.textContent = ("word " + i + " ").repeat(2000).slice(0, 10000); document.body.append(p) }'),
  '/astral': many('for (let i = 0; i < 1100; i++) { const p = document.createElement("p"); p.textContent = "x" + "😀".repeat(5000); document.body.append(p) }'),
  '/nodes': many('let h = ""; for (let i = 0; i < 12500; i++) h += "<div><p>text <b>" + i + "</b> <i>more</i></p></div>"; document.body.innerHTML = h'),
};

let b;
before(async () => { b = await start({ dir, pages }); });
after(() => b?.stop());
const read = async (where) => { const tab = await b.open(where); return b.ok('get_page_content', { tab_id: tab }); };

test('title, address and text in any script, every word once', async () => {
  const { title, url, text } = await read('/scripts');
  assert.equal(title, '标题 – 👍🏽');
  assert.equal(url, `${b.base}/scripts`);
  assert.equal(text, '北京 مرحبا e\u0301 👩‍💻 𝒳\n\na < b && c > d\n\nonly once\n\nxyz w');
});

test('lines, cells and preformatted text as they are laid out', async () => {
  const { text, truncated } = await read('/layout');
  assert.equal(text, 'One\n\ntwo\nthree\n\na\tb\nc\td\n  keep\n    this\ni\nj\n\nmuch white space');
  assert.equal(truncated, undefined);
});

test('hidden text of every kind is left out, text in shadow trees and slots is in', async () => {
  const { text } = await read('/hidden.html');
  assert.deepEqual(text.match(/HID[^\n]*/g), null);
  const marks = await b.inPage('/hidden.html', 'document.documentElement.innerHTML');
  const wanted = [...new Set(marks.match(/SEEN [\w]+/g))];
  assert.ok(wanted.length > 25);
  assert.deepEqual(wanted.filter((mark) => !text.includes(mark)), []);
  assert.deepEqual(wanted.filter((mark) => text.match(new RegExp(`${mark}\\b`, 'g')).length > 1), [], 'nothing twice');
  assert.match(text, /SEEN shadow SEEN slotted/);
  assert.match(text, /SEEN closed/, 'a closed shadow root is drawn like any other');
});

test('a page that is dark by the browser\'s own colours is read like any other', async () => {
  assert.equal((await read('/dark')).text, 'bright words');
  assert.equal((await read('/layer')).text, 'on a layer');
  assert.equal((await read('/either')).text, 'plain words');
  const [{ targetId }] = await b.chromium.targets((t) => t.type === 'page' && t.url.endsWith('/either'));
  const { cdp } = b.chromium;
  const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
  await cdp.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] }, sessionId);
  const { tabs } = await b.ok('list_tabs');
  const { text } = await b.ok('get_page_content', { tab_id: tabs.find((tab) => tab.url.endsWith('/either')).tab_id });
  assert.match(text, /^plain words/);
  await cdp.send('Target.detachFromTarget', { sessionId });
});

test('twenty megabytes of text are cut, and the answer says so', async () => {
  const { text, truncated } = await read('/paragraphs');
  assert.equal(truncated, true);
  assert.ok(text.length > 9_000_000 && text.length < 10_100_000, String(text.length));
});

test('a cut never halves a character', async () => {
  const { text, truncated } = await read('/astral');
  assert.equal(truncated, true);
  assert.ok(text.isWellFormed());
});

test('fifty thousand elements are read whole', async () => {
  const { text, truncated } = await read('/nodes');
  assert.equal(truncated, undefined);
  assert.equal(text.match(/^text \d+ more$/gm).length, 12500);
});
