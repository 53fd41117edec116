// Rich-text and code editors, the real ones from npm: typing, Enter, undo and shortcuts arrive in their models, not just in their DOM.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';
import { start } from './harness/start.mjs';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), 'pages/editors');
const EDITORS = { prosemirror: '.ProseMirror', lexical: '#editor', slate: '#slate', codemirror: '.cm-content' };

let b;
before(async () => {
  const pages = {};
  const routes = {};
  for (const name of Object.keys(EDITORS)) {
    const { outputFiles } = await esbuild.build({ entryPoints: [path.join(folder, `${name}.js`)], bundle: true, write: false, format: 'iife', define: { 'process.env.NODE_ENV': '"production"' }, logLevel: 'error' });
    pages[`/${name}`] = `<!doctype html><meta charset="utf-8"><title>${name}</title><style>.ProseMirror { white-space: pre-wrap }</style><div id="editor"></div><script src="/${name}.js"></script>`;
    routes[`/${name}.js`] = { body: outputFiles[0].text };
  }
  b = await start({ pages, routes });
});
after(() => b?.stop());

/** The model's text, once it is as expected or a while has passed. */
async function text(name, expected) {
  let now;
  for (let i = 0; i < 40; i++) {
    now = await b.inPage(`/${name}`, 'text()');
    if (now === expected) break;
    await new Promise((r) => setTimeout(r, 50));
  }
  return now;
}

for (const [name, selector] of Object.entries(EDITORS)) {
  test(`${name}: text, Enter, other scripts, undo, select all, also in the background`, async () => {
    const tab = await b.open(`/${name}`);
    const typed = await b.ok('type_text', { tab_id: tab, target: { value: selector }, text: 'Hello world' });
    assert.equal(typed.value.trim(), 'Hello world');
    assert.equal(await text(name, 'Hello world'), 'Hello world');
    await b.ok('send_keys', { tab_id: tab, keys: 'Enter' });
    await b.ok('type_text', { tab_id: tab, text: 'Zweite Zeile' });
    const two = 'Hello world\nZweite Zeile';
    assert.equal(await text(name, two), two);
    await b.ok('insert_text', { tab_id: tab, text: '，你好' });
    assert.equal(await text(name, `${two}，你好`), `${two}，你好`);
    // Editors gather what is typed within half a second into one step.
    await new Promise((r) => setTimeout(r, 600));
    await b.ok('send_keys', { tab_id: tab, keys: 'x' });
    assert.equal(await text(name, `${two}，你好x`), `${two}，你好x`);
    await b.ok('send_keys', { tab_id: tab, keys: 'Mod+Z' });
    for (let i = 0; i < 10 && (await b.inPage(`/${name}`, 'text()')).endsWith('x'); i++) await new Promise((r) => setTimeout(r, 50));
    const undone = await b.inPage(`/${name}`, 'text()');
    assert.ok(`${two}，你好`.startsWith(undone), undone);
    await b.open('/prosemirror?front');
    await b.ok('send_keys', { tab_id: tab, keys: 'Mod+A, Backspace' });
    assert.equal(await text(name, ''), '');
    await b.ok('type_text', { tab_id: tab, text: 'one\ntwo' });
    assert.equal(await text(name, 'one\ntwo'), 'one\ntwo');
  });
}
