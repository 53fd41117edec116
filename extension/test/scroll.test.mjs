// scroll: the window or a container, what was asked for and what came of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/long': '<style>html{scroll-behavior:smooth}</style><div style="width:3000px;height:4000px">x</div>',
  '/list': `<div id="list" style="height:200px;overflow:auto"><div style="height:1000px" id="inner">x</div></div><div id="short" style="height:100px;overflow:auto">x</div><div id="no">x</div><div style="height:3000px"></div><script>window.n = 0; list.addEventListener('scroll', () => n++);</script>`,
  '/app': '<style>body{margin:0}html,body{height:100%;overflow:hidden}</style><main id="main" style="height:100vh;overflow:auto"><div style="height:4000px">x</div></main>',
  '/snap': '<style>html{scroll-snap-type:y mandatory}section{height:100vh;scroll-snap-align:start}</style><section>1</section><section>2</section><section>3</section>',
};
let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());

test('the window: what was asked for, what it moved, where it is', async () => {
  const tab = await b.open('/long');
  const first = await b.ok('scroll', { tab_id: tab, dx: 100, dy: 600 });
  assert.deepEqual([first.scrolled, first.moved, first.position.x, first.position.y], [{ dx: 100, dy: 600 }, { dx: 100, dy: 600 }, 100, 600]);
  assert.deepEqual(await b.inPage('/long', '[scrollX, scrollY]'), [100, 600]);
  const end = await b.ok('scroll', { tab_id: tab, dy: 99999 });
  assert.equal(end.scrolled.dy, 99999);
  assert.equal(end.position.y, end.position.max_y);
  assert.equal(end.moved.dy, end.position.max_y - 600);
  assert.deepEqual((await b.ok('scroll', { tab_id: tab, dy: 50 })).moved, { dx: 0, dy: 0 });
});

test('smoothly: answered when it has arrived', async () => {
  const tab = await b.open('/long?smooth');
  const { moved } = await b.ok('scroll', { tab_id: tab, dy: 700, smooth: true });
  assert.equal(moved.dy, 700);
  assert.equal(await b.inPage('?smooth', 'scrollY'), 700);
});

test('a container, and not the window', async () => {
  const tab = await b.open('/list');
  const { element, scrolled, moved } = await b.ok('scroll', { tab_id: tab, target: { value: '#list' }, dy: 300 });
  assert.deepEqual([element.id, scrolled.dy, moved.dy], ['list', 300, 300]);
  assert.deepEqual(await b.inPage('/list', '[list.scrollTop, scrollY]'), [300, 0]);
});

test('in a tab in the background the page hears of it too', async () => {
  const tab = await b.open('/list?back');
  await b.open('/long?front');
  await b.ok('scroll', { tab_id: tab, target: { value: '#list' }, dy: 100, smooth: true });
  assert.deepEqual(await b.inPage('?back', '[list.scrollTop, n >= 1]'), [100, true]);
});

test('what does not scroll is told, with what does', async () => {
  const tab = await b.open('/list?no');
  for (const [id, why] of [['no', /does not scroll/], ['inner', /it is in <div id="list">, which does/], ['short', /in view already/]]) {
    const { code, error } = await b.fails('scroll', { tab_id: tab, target: { value: `#${id}` }, dy: 10, timeout: 100 });
    assert.equal(code, 'ELEMENT_NOT_ACTIONABLE');
    assert.match(error, why);
  }
});

test('an application whose window stands still: its large scroller', async () => {
  const tab = await b.open('/app');
  const { element, moved } = await b.ok('scroll', { tab_id: tab, dy: 500 });
  assert.deepEqual([element.id, moved.dy], ['main', 500]);
});
