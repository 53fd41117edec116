// An act whose page goes away, or stops, is answered with what was done; and nothing is done after the answer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/leave': `<a id="a" href="/two">two</a><button id="b" onclick="location.href='/two'">two</button><form action="/two"><input id="q" name="q"></form><form action="/two"><select id="s" onchange="this.form.submit()"><option>A</option><option>B</option></select>
    <input id="auto" onchange="this.form.submit()"><input id="c" type="checkbox" onchange="this.form.submit()"></form>`,
  '/two': '<title>Two</title><h1>Two</h1>',
  '/alert': '<button id="go" onclick="alert(1)">Go</button><input id="i" onfocus="confirm(2)">',
  '/late': '<script>window.n = 0; setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<button id=go onclick=n++>Go</button>"), 900)</script><body>',
  '/closing': '<button id="go" onclick="window.close()">Go</button>',
  '/race': '<button id="go" onclick="window.n = (window.n ?? 0) + 1">Go</button><input id="i">',
};

let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());
let count = 0;
const open = async (path) => {
  const where = `${path}?${++count}`;
  return { where, tab: await b.open(where) };
};
const act = (method, tab, value, more = {}) => b.call(method, { tab_id: tab, target: { value }, ...more });

test('acts that lead to another page are told as done', async () => {
  for (const [method, id, more, key, told] of [['click', '#a', {}, 'clicked', 'a'], ['click', '#b', {}, 'clicked', 'button'], ['press_key', '#q', { key: 'Enter' }, 'element', 'input'], ['select_option', '#s', { text: 'B' }, 'element', 'select'],
    ['set_value', '#auto', { value: 'x' }, 'element', 'input'], ['check', '#c', {}, 'element', 'input']]) {
    const { tab } = await open('/leave');
    const answer = await act(method, tab, id, more);
    assert.equal(answer.success, true, `${method} ${id}: ${answer.error}`);
    assert.equal(answer.result[key].tag, told);
    const there = await act('get_value', tab, 'h1');
    assert.equal(there.result?.value, 'Two', `${method} ${id}: ${there.error}`);
  }
});

test('a dialog that a click opens: answered in bounded time, as done, and the tab can be closed', async () => {
  const { tab } = await open('/alert');
  const from = Date.now();
  const answer = await act('click', tab, '#go', { timeout: 2000 });
  assert.deepEqual([answer.success, answer.code, answer.maybe_executed], [false, 'PAGE_BLOCKED', true]);
  assert.ok(Date.now() - from < 15_000);
  assert.equal((await b.ok('close_tab', { tab_id: tab })).closed, true);
});

test('what was given up is not done later', async () => {
  const { where, tab } = await open('/late');
  const answer = await b.call('click', { tab_id: tab, target: { value: '#go' }, timeout: 5000 }, { timeout_ms: 400 });
  assert.equal(answer.success, false);
  assert.equal(answer.maybe_executed, undefined);
  await act('get_value', tab, '#go');
  await new Promise((r) => setTimeout(r, 400));
  assert.equal(await b.inPage(where, 'n'), 0);
});

test('two clients at work on one page at the same time do not mix', async () => {
  const { where, tab } = await open('/race');
  const other = await b.client({ client_id: 'other' });
  const acts = [];
  for (let i = 0; i < 10; i++) {
    acts.push(act('click', tab, '#go'));
    acts.push(other.call('set_value', { tab_id: tab, target: { value: '#i' }, value: `v${i}` }));
  }
  for (const answer of await Promise.all(acts)) assert.equal(answer.success, true, answer.error);
  assert.equal(await b.inPage(where, 'n'), 10);
});

test('a page under way: what comes next waits for it', async () => {
  const { tab } = await open('/leave');
  const [left, next] = await Promise.all([act('click', tab, '#b'), act('get_value', tab, 'h1')]);
  assert.equal(left.success, true, left.error);
  assert.equal(next.result?.value, 'Two', next.error);
});
