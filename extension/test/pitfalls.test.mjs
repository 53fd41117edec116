// What went wrong in OpenBridge while it was built (seed 2, section 4), each as a test that it does not go wrong here.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/': `<!doctype html><title>One</title><script>window.hits = []; for (const t of ['click', 'auxclick', 'contextmenu']) addEventListener(t, (e) => { if (e.isTrusted) hits.push([t, e.button, e.target.textContent].join(' ')); }, true);</script>
    <div><p>Some text</p><i>and</i><button>Alpha</button><span>between</span><button>Beta</button></div><div><div><b>deep</b></div><ul><li>text <button>Gamma</button></li></ul></div>`,
  '/two': '<!doctype html><title>Two</title>',
};
let b;
before(async () => { b = await start({ daemon: 'real', pages, routes: { '/api': { body: '{}', type: 'application/json' } } }); });
after(() => b?.stop());
const worker = async (expression) => JSON.parse(await b.chromium.inWorker(`(async () => JSON.stringify((await (${expression})) ?? null))()`));
const browser = async () => (await b.ok('list_browsers')).browsers;

test('pitfall 4.1, ws-client state: the first frames after the socket opened are sent, each time it opens', async () => {
  for (let i = 0; i < 3; i++) {
    await b.daemon.restart();
    // Answered only if the extension's own first frames, hello and proof, got through.
    await b.ready();
    assert.equal((await b.ok('list_tabs')).tabs.length > 0, true);
    assert.equal((await browser()).length, 1);
  }
});

test('pitfall 4.2, names of the pairing frames: both sides read the challenge that the other sent', async () => {
  const [one] = await browser();
  // Proven means: the daemon showed that it knows the key for our challenge, and we for its.
  assert.deepEqual([one.protocol, one.proven], [2, true]);
});

test('pitfall 4.3, no empty group: the first tab makes its group in one step, and so does the next first one', async () => {
  for (let round = 0; round < 2; round++) {
    const made = await b.ok('new_tab', { url: `${b.base}/`, session_id: 'pit', group_title: 'Pit' });
    const groups = await worker('chrome.tabGroups.query({})');
    assert.deepEqual(groups.map((g) => g.title), ['Pit']);
    assert.deepEqual(await worker(`chrome.tabs.query({ groupId: ${groups[0].id} }).then((all) => all.map((t) => t.id))`), [made.tab_id]);
    assert.deepEqual((await b.ok('close_session', { session_id: 'pit' })).closed, [made.tab_id]);
    assert.deepEqual(await worker('chrome.tabGroups.query({})'), []);
  }
  // With nothing left there is no session either, and nobody asks Chrome to group nothing.
  assert.equal((await b.fails('close_session', { session_id: 'pit' })).code, 'INVALID_PARAMS');
});

test('pitfall 4.4, mouse buttons: left, right and middle, as the browser knows them, and no other names', async () => {
  const tab = await b.open('/?buttons');
  const { nodes } = await b.ok('snapshot', { tab_id: tab });
  const { x, y, width, height } = nodes.find((n) => n.name === 'Alpha').bounds;
  for (const button of ['left', 'right', 'middle']) await b.ok('mouse_click', { tab_id: tab, x: x + width / 2, y: y + height / 2, button });
  assert.deepEqual(await b.inPage('?buttons', 'hits.filter((h) => !h.startsWith("auxclick 2"))'), ['click 0 Alpha', 'contextmenu 2 Alpha', 'auxclick 1 Alpha']);
  for (const button of ['mouseLeft', 'Left', 'primary', '']) assert.equal((await b.fails('mouse_click', { tab_id: tab, x, y, button })).code, 'INVALID_PARAMS');
  assert.equal(await b.inPage('?buttons', 'hits.filter((h) => !h.startsWith("auxclick 2")).length'), 3);
});

test('pitfall 4.5, doctor: looking does not reset the pairing, and the browser stays connected', async () => {
  const [before] = await browser();
  const paired = await worker('chrome.storage.local.get(null)');
  for (let i = 0; i < 2; i++) {
    try { b.daemon.run('doctor', '--json'); } catch (e) { assert.ok(e.stdout, e.message); }
  }
  assert.deepEqual(await browser(), [before]);
  assert.deepEqual(await worker('chrome.storage.local.get(null)'), paired);
  assert.equal((await b.call('list_tabs')).success, true);
  // Still good for the next connection, too.
  await b.daemon.restart();
  await b.ready();
  assert.equal((await browser())[0].proven, true);
});

test('pitfall 4.6, refs: what a compact snapshot leaves out does not shift the refs of the rest', async () => {
  const tab = await b.open('/?refs');
  const compact = (await b.ok('snapshot', { tab_id: tab })).nodes;
  const full = (await b.ok('snapshot', { tab_id: tab, mode: 'full' })).nodes;
  assert.ok(full.length > compact.length);
  for (const trusted of [false, true]) {
    for (const from of [compact, full]) {
      for (const name of ['Gamma', 'Alpha', 'Beta']) {
        await b.inPage('?refs', 'void (hits = [], addEventListener("click", (e) => { hits.push(e.target.textContent); }, { once: true, capture: true }))');
        await b.ok('click', { tab_id: tab, target: { ref: from.find((n) => n.role === 'button' && n.name === name).ref }, trusted });
        assert.equal(await b.inPage('?refs', 'hits.at(-1)'), name);
      }
    }
  }
});

test('pitfall 4.7, navigate: a page that is there at once is not waited for in vain', async () => {
  const tab = await b.open('/?fast');
  for (let i = 0; i < 20; i++) {
    const path = i % 4 === 3 ? `/two#${i}` : i % 2 ? `/two?${i}` : `/?fast${i}`;
    const from = Date.now();
    const done = await b.ok('navigate', { tab_id: tab, url: b.base + path, wait_until: i % 3 ? 'load' : 'domcontentloaded' });
    assert.equal(done.url, b.base + path);
    assert.ok(Date.now() - from < 8000);
    assert.equal(await b.page(tab, 'document.readyState !== "loading" && location.href'), b.base + path);
  }
});

test('pitfall 4.8, network listeners: after many starts one request is one entry, and after the last stop none', async () => {
  const tab = await b.open('/?net');
  const network = (action, more) => b.ok('network', { tab_id: tab, action, ...more });
  for (let i = 0; i < 60; i++) await network(i % 3 === 2 ? 'stop' : 'start');
  await network('start');
  await b.page(tab, 'fetch("/api?one").then((r) => r.text())');
  const end = Date.now() + 5000;
  let events = [];
  while (Date.now() < end && !events.length) ({ events } = await network('get', { filter: '/api?one' }));
  assert.equal(events.length, 1);
  await network('stop');
  await network('clear');
  await b.page(tab, 'fetch("/api?after").then((r) => r.text())');
  assert.deepEqual([(await network('get')).events, (await network('get')).status], [[], 'off']);
});
