// snapshot: what is in it, what is left out, the budget, and what has changed since the last one.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from './harness/start.mjs';

const dir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'pages');
const pages = {
  '/': `<!doctype html><title>Shop</title><header><nav aria-label="Main"><a href="/a">Home</a><a href="/b" aria-current="page">Shop</a></nav></header>
    <main><h1>Fruit</h1><p>Much plain text that a compact snapshot leaves out.</p>
    <form aria-label="Find"><label>Search <input type="search" value="tea" required></label><label>Secret <input type="password" value="hunter2"></label>
      <input type="checkbox" id="c" checked><label for="c">In stock</label><select aria-label="Sort"><option>Price</option><option selected>Name</option></select><button disabled>Go</button></form>
    <ul><li>Apples <b>3.00</b> <button>Buy</button></li><li>Pears <b>2.00</b> <button>Buy</button></li></ul>
    <div id="card" style="cursor:pointer">A card to click <i>on</i></div><div onclick="1">Another</div><button aria-expanded="false"><img alt="Menu"></button>
    <textarea readonly aria-label="Terms">old</textarea><div contenteditable aria-label="Note">text</div>
    <button hidden>Hidden</button><button style="position:absolute;left:100px;top:700px;width:80px;height:30px">Placed</button><p role="status">Saved</p></main>`,
  '/entries': `<!doctype html><title>Entries</title><ul><li><a href="/1"><h2>Apples</h2></a> 3.00 <button>Buy</button></li><li><a href="/2"><h2>Pears</h2></a> 2.00 <button>Buy</button></li></ul>
    <div><div role="row"><span>Monday</span> <span>10:00</span> <button>Cancel</button></div><div role="row"><span>Tuesday</span> <span>11:00</span><span hidden>secret</span> <button>Cancel</button></div></div>
    <ul><li>Ada <button aria-label="Delete Ada">x</button></li><li>Kim <button aria-label="Delete Kim">x</button></li></ul><ul><li>Soap <b>2.00 €</b> <button>Remove</button></li></ul>
    <div class="card" style="cursor:pointer"><input type="checkbox" aria-label="Select"><div>Ada Lovelace</div><b>Lunch</b> on Thursday?</div>`,
  '/many': '<!doctype html><title>Many</title><script>for (let i = 0; i < 1000; i++) document.write("<button>b" + i + "</button>")</script>',
  '/frames': '<!doctype html><title>F</title><button>First</button><iframe srcdoc="<button>Inside</button>"></iframe><button>Between</button><iframe src="/many" style="display:none"></iframe><iframe src="{{cross}}/many"></iframe><button>Last</button>',
  '/live': '<!doctype html><title>Live</title><button id="a">One</button><button id="b">Two</button><p id="p">x</p><div style="height:3000px"></div><button id="z">Three</button>',
};
let b;
before(async () => { b = await start({ pages, dir }); });
after(() => b?.stop());
const snap = (tab, more = {}) => b.ok('snapshot', { tab_id: tab, ...more });

test('compact: what one can act on and the structure, with values, states and places', async () => {
  const tab = await b.open('/');
  const { url, title, nodes, truncated } = await snap(tab);
  assert.deepEqual([url, title, truncated], [`${b.base}/`, 'Shop', undefined]);
  const of = (name, role) => nodes.find((n) => n.name === name && (!role || n.role === role));
  assert.equal(of('Fruit').level, 1);
  assert.equal(of('Main').role, 'navigation');
  assert.deepEqual(of('Shop').states, ['current']);
  assert.deepEqual([of('Search').value, of('Search').editable, of('Search').states], ['tea', true, ['required']]);
  assert.equal(of('Secret').value, '•••••••');
  assert.deepEqual([of('In stock').role, of('In stock').states], ['checkbox', ['checked']]);
  assert.equal(of('Sort').value, 'Name');
  assert.deepEqual([of('Go').states, of('Go').clickable], [['disabled'], undefined]);
  assert.equal(of('A card to click on').clickable, true);
  assert.equal(of('Another').clickable, true);
  assert.deepEqual(of('Menu').states, ['collapsed']);
  assert.equal(of('Terms').editable, undefined);
  assert.equal(of('Note').editable, true);
  assert.equal(of('Saved').role, 'status');
  assert.deepEqual(of('Placed').bounds, { x: 100, y: 700, width: 80, height: 30 });
  assert.equal(of('Hidden'), undefined);
  assert.ok(!JSON.stringify(nodes).includes('plain text'));
  // What a button belongs to comes before it.
  const buys = nodes.map((n, i) => [n, nodes[i - 1]]).filter(([n]) => n.name === 'Buy');
  assert.deepEqual(buys.map(([, before]) => [before.role, before.name]), [['listitem', 'Apples 3.00'], ['listitem', 'Pears 2.00']]);
});

test('compact: an entry is told where what it holds does not say which one it is, and nothing is said twice', async () => {
  const tab = await b.open('/entries');
  const { nodes } = await snap(tab);
  assert.deepEqual(nodes.filter((n) => n.role !== 'list').map((n) => `${n.role} ${n.name}`), [
    'link Apples', 'button Buy', 'link Pears', 'button Buy',
    'row Monday 10:00', 'button Cancel', 'row Tuesday 11:00', 'button Cancel',
    'button Delete Ada', 'button Delete Kim',
    'listitem Soap 2.00 €', 'button Remove',
    'generic Ada Lovelace Lunch on Thursday?', 'checkbox Select',
  ]);
  const full = (await snap(tab, { mode: 'full' })).nodes;
  assert.ok(full.some((n) => n.role === 'heading' && n.name === 'Apples'));
  await b.inPage('/entries', 'void document.querySelector(".card").addEventListener("click", () => { window.opened = true; })');
  await b.ok('click', { tab_id: tab, target: { ref: nodes.find((n) => n.role === 'generic').ref } });
  assert.equal(await b.inPage('/entries', 'opened'), true);
});

test('compact is no larger than get_a11y_tree on pages of five kinds', async (t) => {
  const rows = [];
  for (const page of ['read/article', 'read/roles', 'snapshot/shop', 'snapshot/mail', 'snapshot/form']) {
    const tab = await b.open(`/${page}.html`);
    const [tree, compact, full] = [await b.ok('get_a11y_tree', { tab_id: tab, max_nodes: 5000 }), await snap(tab, { max_nodes: 5000 }), await snap(tab, { mode: 'full', max_nodes: 5000 })];
    await snap(tab, { max_nodes: 5000, diff: true });
    await b.inPage(`/${page}.html`, 'void document.body.append(Object.assign(document.createElement("button"), { textContent: "New" }))');
    const diff = await snap(tab, { max_nodes: 5000, diff: true });
    assert.deepEqual([diff.diff, diff.nodes.map((n) => n.name)], [true, ['New']], page);
    const bytes = [tree, compact, full, diff].map((v) => Buffer.byteLength(JSON.stringify(v)));
    rows.push([page, ...bytes].join(' '));
    assert.ok(bytes[1] <= bytes[0] && bytes[1] < bytes[2] && bytes[3] < 600, `${page}: ${bytes.join(' ')}`);
    // Smaller, but not by leaving out what one can act on.
    const targets = tree.nodes.filter((n) => n.target && n.role !== 'generic').map((n) => n.role).sort();
    const acts = compact.nodes.filter((n) => targets.includes(n.role)).map((n) => n.role).sort();
    for (const role of new Set(targets)) assert.ok(acts.filter((r) => r === role).length >= targets.filter((r) => r === role).length, `${page}: ${role}`);
    await b.ok('close_tab', { tab_id: tab });
  }
  t.diagnostic(`bytes of tree, compact, full, diff: ${rows.join('; ')}`);
});

test('full also has the texts; include_hidden what cannot be seen', async () => {
  const tab = await b.open('/');
  assert.ok((await snap(tab, { mode: 'full' })).nodes.some((n) => n.name.includes('Much plain text')));
  const hidden = (await snap(tab, { include_hidden: true })).nodes.find((n) => n.name === 'Hidden');
  assert.ok(hidden.states.includes('hidden'));
});

test('one budget for the page and its frames; what is left out is said', async () => {
  const tab = await b.open('/many');
  const some = await snap(tab, { max_nodes: 50 });
  assert.deepEqual([some.nodes.length, some.truncated, some.total], [50, true, 1000]);
  assert.equal((await snap(tab)).nodes.length, 300);
  const frames = await b.open('/frames');
  const all = await snap(frames, { max_nodes: 5000 });
  const names = all.nodes.map((n) => n.name).filter((n) => !/^b\d/.test(n));
  assert.deepEqual(names.filter(Boolean), ['First', 'Inside', 'Between', 'Last']);
  assert.equal(all.nodes.filter((n) => n.name === 'b7').length, 1);
  const cut = await snap(frames, { max_nodes: 20 });
  assert.deepEqual([cut.nodes.length, cut.truncated], [20, true]);
  assert.ok(!cut.nodes.some((n) => n.name === 'Last'));
});

test('diff: what is new, changed and gone since my last one', async () => {
  const tab = await b.open('/live');
  const first = await snap(tab, { diff: true });
  assert.deepEqual([first.diff, first.nodes.length], [false, 3]);
  const none = await snap(tab, { diff: true });
  assert.deepEqual([none.diff, none.nodes, none.removed, none.unchanged], [true, [], [], 3]);
  await b.inPage('/live', 'void (scrollTo(0, 500), a.disabled = true, b.remove(), p.innerHTML = "<button>New</button>")');
  const some = await snap(tab, { diff: true });
  assert.deepEqual(some.nodes.map((n) => [n.name, n.change]), [['One', 'changed'], ['New', 'added']]);
  assert.deepEqual(some.removed, [first.nodes[1].ref]);
  assert.equal(some.unchanged, 1);
  const other = await b.client({ client_id: 'other' });
  assert.equal((await other.ok('snapshot', { tab_id: tab, diff: true })).diff, false);
  other.close();
  assert.equal((await snap(tab, { diff: true, mode: 'full' })).diff, false);
  await b.ok('reload', { tab_id: tab });
  assert.equal((await snap(tab, { diff: true, mode: 'full' })).diff, false);
});

test('reading a snapshot leaves the debugger away', async () => {
  const tab = await b.open('/live?quiet');
  await snap(tab);
  const attached = await b.chromium.inWorker('chrome.debugger.getTargets().then((all) => all.filter((t) => t.attached && t.url.includes("quiet")).length)');
  assert.equal(attached, 0);
});
