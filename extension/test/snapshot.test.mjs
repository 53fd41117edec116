// snapshot: what is in it, what is left out, the budget, and what has changed since the last one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/': `<!doctype html><title>Shop</title><header><nav aria-label="Main"><a href="/a">Home</a><a href="/b" aria-current="page">Shop</a></nav></header>
    <main><h1>Fruit</h1><p>Much plain text that a compact snapshot leaves out.</p>
    <form aria-label="Find"><label>Search <input type="search" value="tea" required></label><label>Secret <input type="password" value="hunter2"></label>
      <input type="checkbox" id="c" checked><label for="c">In stock</label><select aria-label="Sort"><option>Price</option><option selected>Name</option></select><button disabled>Go</button></form>
    <ul><li>Apples <b>3.00</b> <button>Buy</button></li><li>Pears <b>2.00</b> <button>Buy</button></li></ul>
    <div id="card" style="cursor:pointer">A card to click <i>on</i></div><div onclick="1">Another</div><button aria-expanded="false"><img alt="Menu"></button>
    <textarea readonly aria-label="Terms">old</textarea><div contenteditable aria-label="Note">text</div>
    <button hidden>Hidden</button><button style="position:absolute;left:100px;top:700px;width:80px;height:30px">Placed</button><p role="status">Saved</p></main>`,
  '/many': '<!doctype html><title>Many</title><script>for (let i = 0; i < 1000; i++) document.write("<button>b" + i + "</button>")</script>',
  '/frames': '<!doctype html><title>F</title><button>First</button><iframe srcdoc="<button>Inside</button>"></iframe><button>Between</button><iframe src="/many" style="display:none"></iframe><iframe src="{{cross}}/many"></iframe><button>Last</button>',
  '/live': '<!doctype html><title>Live</title><button id="a">One</button><button id="b">Two</button><p id="p">x</p><div style="height:3000px"></div><button id="z">Three</button>',
};
let b;
before(async () => { b = await start({ pages }); });
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
  assert.deepEqual(buys.map(([, before]) => before.name), ['Apples 3.00 Buy', 'Pears 2.00 Buy']);
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
