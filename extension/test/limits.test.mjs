// Sizes: many tabs, many elements, much text, large results. Everything is answered, nothing is left behind, and what is cut says so.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const made = (title, script) => `<!doctype html><title>${title}</title><body><script>${script}</script>`;
const pages = {
  '/': '<title>Home</title>',
  '/elements': made('Elements', `let h = ''; for (let i = 0; i < 12500; i++) h += '<div><p>text <b>' + i + '</b> <i>more</i></p></div>';
    document.body.innerHTML = h + '<button id="go">The very last</button><input id="field" aria-label="Last field">'; window.n = 0; document.querySelector('#go').onclick = () => n++;`),
  '/text': made('Text', 'for (let i = 0; i < 2000; i++) { const p = document.createElement("p"); p.textContent = ("word " + i + " ").repeat(2000).slice(0, 10000); document.body.append(p) }'),
  '/main': made('Main', 'document.body.innerHTML = "<nav><p>" + "somewhere else ".repeat(50) + "</p></nav><main></main>"; for (let i = 0; i < 300; i++) { const p = document.createElement("p"); p.textContent = ("word " + i + " ").repeat(2000).slice(0, 10000); document.querySelector("main").append(p) }'),
};

let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());

test('two hundred tabs come and go, and nothing of them stays', async () => {
  const many = await b.client({ client_id: 'many' });
  const state = async () => [
    (await b.ok('list_tabs')).tabs.length,
    (await b.chromium.targets((t) => t.type === 'page')).length,
    await b.chromium.inWorker('chrome.windows.getAll().then((all) => all.length)'),
  ];
  const before = await state();
  for (let round = 0; round < 20; round++) {
    const ids = (await Promise.all(Array.from({ length: 10 }, () => many.ok('new_tab', { url: b.base })))).map((t) => t.tab_id);
    assert.equal(new Set(ids).size, 10);
    await Promise.all(ids.slice(0, 5).map((tab_id) => many.ok('close_tab', { tab_id })));
    assert.deepEqual((await many.ok('close_auto_tabs', { owner: 'many' })).closed.sort(), ids.slice(5).sort());
  }
  // Chrome takes a moment to take a page's process down.
  for (const end = Date.now() + 5000; Date.now() < end && String(await state()) !== String(before); await new Promise((r) => setTimeout(r, 100)));
  assert.deepEqual(await state(), before);
  const kept = await b.chromium.inWorker('chrome.storage.session.get("owners").then((s) => JSON.stringify(s.owners ?? {}))');
  assert.equal(kept.includes('"many"'), false, kept);
  many.close();
});

test('in a page of fifty thousand elements the last one is found and worked on in good time', async () => {
  const tab = await b.open('/elements');
  const from = Date.now();
  for (const target of [{ value: '#go' }, { by: 'text', value: 'The very last' }, { by: 'xpath', value: '//button[@id="go"]' }]) await b.ok('click', { tab_id: tab, target });
  await b.ok('set_value', { tab_id: tab, target: { value: '#field' }, value: 'in' });
  assert.ok(Date.now() - from < 20_000, `${Date.now() - from} ms`);
  assert.deepEqual(await b.inPage('/elements', '[n, document.querySelector("#field").value]'), [3, 'in']);
});

test('twenty megabytes of text as Markdown and as records: cut, and the answer says so', async () => {
  const tab = await b.open('/text');
  for (const [method, params] of [['get_page_markdown', {}], ['get_page_markdown', { full: true }], ['scrape', { item: 'p', fields: { text: '' } }]]) {
    const result = await b.ok(method, { tab_id: tab, ...params }, { timeout_ms: 60_000 });
    assert.equal(result.truncated, true, method);
    const length = result.markdown?.length ?? result.items.reduce((sum, { text }) => sum + text.length, 0);
    assert.ok(length > 5_000_000 && length < 10_100_000, `${method}: ${length}`);
  }
  assert.equal(await b.page(tab, 'document.title'), 'Text');
});

test('the main content of a page that is too long to be judged is what the page calls so', async () => {
  const tab = await b.open('/main');
  const { markdown } = await b.ok('get_page_markdown', { tab_id: tab }, { timeout_ms: 60_000 });
  assert.ok(markdown.length > 2_900_000, String(markdown.length));
  assert.ok(!markdown.includes('somewhere else'));
});

test('a result of ten megabytes arrives whole; a list that is too long says where it was cut', async () => {
  const tab = await b.open('/');
  const text = await b.page(tab, '"0123456789".repeat(1e6)');
  assert.equal(text.length, 1e7);
  assert.ok(text.endsWith('0123456789'));
  const list = await b.page(tab, 'Array.from({ length: 250000 }, () => ({}))');
  assert.deepEqual([list.length, list[0], list.at(-1)], [250_000, {}, '[Truncated]']);
});
