// Trusted acts take turns on a tab, but only for the act: what waits for its element holds up nobody, and what waited for its turn looks
// again before it acts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/': `<!doctype html><title>Turns</title><style>body { margin: 0 } .b { position: absolute; width: 120px; height: 40px; left: 20px; top: 60px }</style>
    <input id="f"><input id="g"><div id="box"></div><button id="free" style="position:absolute;left:400px;top:300px">Free</button><div id="drop" style="position:absolute;left:500px;top:200px;width:90px;height:60px;background:#ddd">drop</div>
    <script>window.hits = []; addEventListener('click', (e) => { if (e.isTrusted && e.target.matches('button')) hits.push(e.target.id || e.target.textContent); }, true);
      window.add = (id) => box.insertAdjacentHTML('beforeend', '<button class="b" id="' + id + '">' + id + '</button>');
      // What happens when the first letter of another act's text arrives.
      window.onFirst = (work) => f.addEventListener('input', () => work(), { once: true });</script>`,
  '/rows': `<!doctype html><title>Rows</title><input id="f"><ul id="l"></ul><script>window.hits = []; addEventListener('click', (e) => { if (e.target.dataset?.hit) hits.push(e.target.dataset.hit); }, true);
    window.draw = (rows) => rows.forEach((r, i) => { const li = l.children[i] ?? l.appendChild(document.createElement('li')); if (!li.firstChild) li.innerHTML = '<span></span> <button>Delete</button>'; li.firstChild.textContent = r; li.lastChild.dataset.hit = r; });
    draw(['Apples', 'Pears', 'Plums']); window.onFirst = (work) => f.addEventListener('input', () => work(), { once: true });</script>`,
};
let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());
const css = (value) => ({ value });
const within = async (ms, work) => {
  const from = Date.now();
  const result = await work();
  assert.ok(Date.now() - from < ms, `took ${Date.now() - from} ms`);
  return result;
};
const until = async (ask) => {
  for (let i = 0; i < 250; i++) {
    if (await ask()) return;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error('it did not come');
};
/** Types a text for about 2 s; resolves once that has the turn, with the promise of its end in an array, as nobody is to wait for it. */
async function beginTyping(tab, part) {
  const typed = b.ok('type_text', { tab_id: tab, target: css('#f'), text: 'x'.repeat(40), delay_ms: 50 });
  await until(() => b.inPage(part, 'f.value.length > 0'));
  return [typed];
}

test('what waits for an element holds up no other act on the tab', async () => {
  const tab = await b.open('/?waits');
  const waiting = [
    b.ok('click', { tab_id: tab, target: css('#late'), trusted: true, timeout: 15_000 }),
    b.ok('type_text', { tab_id: tab, target: css('#latefield'), text: 'late', timeout: 15_000 }),
    b.ok('hover', { tab_id: tab, target: css('#latehover'), timeout: 15_000 }),
    b.ok('drag', { tab_id: tab, from: css('#latedrag'), to: css('#drop'), timeout: 15_000 }),
    b.ok('scroll', { tab_id: tab, target: css('#latescroll'), dy: 10, trusted: true, timeout: 15_000 }),
  ];
  await within(5000, async () => {
    assert.equal((await b.ok('type_text', { tab_id: tab, target: css('#f'), text: 'now' })).value, 'now');
    await b.ok('send_keys', { tab_id: tab, keys: 'Tab, y' });
    await b.ok('click', { tab_id: tab, target: css('#free'), trusted: true });
    await b.ok('mouse_click', { tab_id: tab, x: 410, y: 310 });
  });
  assert.deepEqual(await b.inPage('?waits', '[f.value, g.value, hits]'), ['now', 'y', ['free', 'free']]);
  await b.inPage('?waits', `void (add('late'), box.insertAdjacentHTML('beforeend', '<input id="latefield" style="position:absolute;left:200px;top:60px"><div id="latehover" style="position:absolute;left:20px;top:160px">h</div>' +
    '<div id="latedrag" style="position:absolute;left:20px;top:200px;width:50px;height:30px;background:#ccc">d</div><div id="latescroll" style="position:absolute;left:20px;top:300px;width:90px;height:60px;overflow:auto"><div style="height:900px">s</div></div>'))`);
  const [clicked, typed, hovered, dragged, scrolled] = await Promise.all(waiting);
  assert.deepEqual([clicked.clicked.id, typed.value, hovered.element.id, dragged.to.id, scrolled.moved.dy], ['late', 'late', 'latehover', 'drop', 10]);
  assert.deepEqual(await b.inPage('?waits', 'hits'), ['free', 'free', 'late']);
});

for (const [what, work, hit] of [
  ['moved, with another in its place', "() => { add('wrong'); document.querySelector('#go').style.left = '300px'; }", 'go'],
  ['replaced by one that is drawn anew elsewhere', "() => { box.innerHTML = ''; add('wrong'); add('go'); document.querySelector('#go').style.top = '200px'; }", 'go'],
  ['disabled for a while', "() => { const go = document.querySelector('#go'); go.disabled = true; setTimeout(() => { go.disabled = false; }, 3000); }", 'go'],
]) {
  test(`${what} while it waited for its turn: the right one is clicked, once`, async () => {
    const part = `?${encodeURIComponent(what)}`;
    const tab = await b.open(`/${part}`);
    await b.inPage(part, `void (add('go'), onFirst(${work}))`);
    const [typed] = await beginTyping(tab, part);
    const { clicked } = await b.ok('click', { tab_id: tab, target: css('#go'), trusted: true, timeout: 10_000 });
    assert.equal(clicked.id, hit);
    assert.deepEqual(await b.inPage(part, 'hits'), [hit]);
    assert.equal((await typed).value, 'x'.repeat(40));
  });
}

test('gone or disabled for good while it waited for its turn: an error, and nothing is hit', async () => {
  const tab = await b.open('/?gone');
  await b.inPage('?gone', "void (add('go'), onFirst(() => { document.querySelector('#go').disabled = true; add('wrong'); }))");
  const [typed] = await beginTyping(tab, '?gone');
  const { code } = await b.fails('click', { tab_id: tab, target: css('#go'), trusted: true, timeout: 3000 });
  assert.equal(code, 'ELEMENT_NOT_ACTIONABLE');
  assert.deepEqual(await b.inPage('?gone', 'hits'), []);
  await typed;
});

test('a ref whose row came to hold something else while it waited for its turn is stale', async () => {
  const tab = await b.open('/rows');
  const { nodes } = await b.ok('snapshot', { tab_id: tab });
  const { ref } = nodes.filter((n) => n.name === 'Delete')[1];
  // The rows change late, when the click has found its element and waits.
  await b.inPage('/rows', "void f.addEventListener('input', () => { if (f.value.length === 25) draw(['Pears', 'Plums', 'Figs']); })");
  const [typed] = await beginTyping(tab, '/rows');
  const { code } = await b.fails('click', { tab_id: tab, target: { ref }, trusted: true, timeout: 8000 });
  assert.equal(code, 'STALE_REF');
  assert.deepEqual(await b.inPage('/rows', 'hits'), []);
  await typed;
});

test('a press of the act before is not mistaken for the own one, nor kept from the page', async () => {
  const tab = await b.open('/?other');
  await b.inPage('?other', "void add('go')");
  const done = await Promise.all([
    ...Array.from({ length: 4 }, () => b.call('mouse_click', { tab_id: tab, x: 410, y: 310 })),
    ...Array.from({ length: 4 }, () => b.call('click', { tab_id: tab, target: css('#go'), trusted: true })),
    ...Array.from({ length: 4 }, () => b.call('mouse_click', { tab_id: tab, x: 410, y: 310 })),
  ]);
  assert.ok(done.every((d) => d.success), JSON.stringify(done.filter((d) => !d.success)));
  const hits = await b.inPage('?other', 'hits');
  assert.deepEqual([hits.filter((h) => h === 'free').length, hits.filter((h) => h === 'go').length], [8, 4]);
});
