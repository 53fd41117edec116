// What is put in the place of a page's own functions for the moment of an act: pages that hinder it are clicked all the same, and none of it stays.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const opener = (code, more = '') => `<!doctype html><title>Opener</title><script src="/__page.js"></script><script>${code}</script><button id="go" onclick="say('opened', !!window.open('/two'))">x</button>${more}`;

/** Tells every now and then which of these functions are those from before. */
const same = (key) => `const ours = () => [fetch, XMLHttpRequest.prototype.send, setTimeout, open, HTMLElement.prototype.click, EventTarget.prototype.dispatchEvent];
  const before = ours(); setInterval(() => say('${key}', ours().map((f, i) => f === before[i])), 100);`;

let b;
before(async () => {
  b = await start({
    pages: {
      '/two': '<title>Two</title><h1>Two</h1>',
      '/others': opener(`for (const name of ['Event', 'CustomEvent', 'MessageEvent', 'MouseEvent']) window[name] = class {};`),
      '/unsendable': opener(`EventTarget.prototype.dispatchEvent = () => { throw new Error('not here'); };`,
        `<button id="fetch" onclick="fetch('/two').then(() => say('fetched', 'yes'), (e) => say('fetched', String(e)))">x</button>`),
      '/bound': opener('const app = { showModal(url) { say("modal", url); return {}; } }; window.open = app.showModal.bind(app);'),
      '/proxied': opener('window.open = new Proxy(window.open, { apply(...[, , [url]]) { say("modal", url); return {}; } });'),
      // Its timer puts the end of a click's moment off, and its request that of the field's watch.
      '/layers': opener(same('layers'), '<button id="later" onclick="setTimeout(() => {}, 300)">x</button><input id="field" oninput="fetch(\'/slow\')">'),
      // A page that has written itself anew, and whose clock then goes on by a minute.
      '/anew': opener(`let more = 0; const was = performance.now.bind(performance); performance.now = () => was() + more; ${same('anew')}
        function anew() { document.open(); document.write('<p>anew'); document.close(); setTimeout(() => { say('put', fetch !== before[0]); more = 60000; }); }`,
        '<button id="write" onclick="anew()">x</button>'),
      '/deaf': opener('EventTarget.prototype.addEventListener = () => {};'),
    },
    routes: { '/slow': { delay: 1800, body: 'late', type: 'text/plain' } },
  });
});
after(() => b?.stop());

const click = (tab, id = 'go') => b.ok('click', { tab_id: tab, target: { value: `#${id}` } });

test('a page whose own world does not hear is clicked as if nothing were put there', async () => {
  const tab = await b.open('/deaf');
  for (let n = 0; n < 2; n++) {
    delete b.said.opened;
    assert.equal((await click(tab)).opened, undefined);
    assert.equal(await b.heard('opened'), false);
  }
});

test('what a page has in the place of events and their constructors is not met', async () => {
  const { opened } = await click(await b.open('/others'));
  assert.equal(opened?.length, 1);
  assert.equal(await b.heard('opened'), true);
  const tab = await b.open('/unsendable');
  await click(tab, 'fetch');
  assert.equal(await b.heard('fetched'), 'yes');
  await b.ok('close_auto_tabs');
});

test('a bound function and a Proxy in the place of window.open are the page\'s own', async () => {
  for (const where of ['/bound', '/proxied']) {
    for (const what of ['opened', 'modal']) delete b.said[what];
    const { opened, note } = await click(await b.open(where));
    assert.deepEqual([await b.heard('opened'), b.said.modal, opened, note], [true, '/two', undefined, undefined], where);
  }
});

test('what two acts have put in the same place is gone when both are over, in whichever order they end', async () => {
  const tab = await b.open('/layers');
  // Once before, so that both are there at once from here on.
  for (let n = 0; n < 2; n++) {
    await click(tab, 'later');
    await b.ok('set_value', { tab_id: tab, target: { value: '#field' }, value: `v${n}` });
  }
  delete b.said.layers;
  await b.heard('layers', (all) => all?.every((one) => one));
});

test('a page that writes itself anew in the moment of a click has its functions back when that would be over', async () => {
  await click(await b.open('/anew'), 'write');
  assert.equal(await b.heard('put'), true);
  await b.heard('anew', (all) => all?.every((one) => one));
});
