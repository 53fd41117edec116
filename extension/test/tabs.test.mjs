// Tabs: what is listed, who owns what, the window of an agent, and closing what is stuck.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b;
before(async () => {
  b = await start({
    pages: {
      '/': '<title>Home</title>', '/two': '<title>Two</title>',
      '/ask': '<title>Ask</title><button>x</button><script>addEventListener("beforeunload", (e) => { e.preventDefault() })</script>',
    },
  });
});
after(() => b?.stop());

const tabs = async (client = b) => (await client.ok('list_tabs')).tabs;
const find = async (id, client = b) => (await tabs(client)).find((t) => t.tab_id === id);

test('list_tabs has the form of the protocol and the owner', async () => {
  const me = await b.client({ client_id: 'lister' });
  const { tab_id: id } = await me.ok('new_tab', { url: b.base });
  const tab = await find(id);
  assert.deepEqual(Object.keys(tab).sort(), ['active', 'owner', 'tab_id', 'title', 'url', 'window_id']);
  assert.equal(tab.title, 'Home');
  assert.equal(tab.owner, 'lister');
  assert.equal(tab.active, true);
  await me.ok('close_tab', { tab_id: id });
  me.close();
});

test('without a tab_id the active tab is meant', async () => {
  const one = await b.open('/');
  const two = await b.open('/two');
  assert.equal(await b.page(undefined, 'document.title'), 'Two');
  const shown = await b.ok('activate_tab', { tab_id: one });
  assert.equal(shown.active, true);
  assert.equal(await b.page(undefined, 'document.title'), 'Home');
  assert.equal((await b.ok('close_tab')).tab_id, one);
  await b.ok('close_tab', { tab_id: two });
});

test('close_auto_tabs closes an owner\'s tabs, or all that were opened through the bridge, and no other', async () => {
  const mine = await b.client({ client_id: 'mine' });
  const yours = await b.client({ client_id: 'yours' });
  const before = (await tabs()).filter((t) => !t.owner).length;
  const { tab_id: a } = await mine.ok('new_tab', { url: b.base });
  const { tab_id: c } = await mine.ok('new_tab', {});
  const { tab_id: d } = await yours.ok('new_tab', { url: b.base });
  assert.deepEqual((await mine.ok('close_auto_tabs', { owner: 'mine' })).closed.sort(), [a, c].sort());
  assert.ok(await find(d));
  assert.deepEqual((await mine.ok('close_auto_tabs')).closed, [d]);
  assert.equal((await tabs()).length, before);
  assert.deepEqual((await mine.ok('close_auto_tabs')).closed, []);
  mine.close();
  yours.close();
});

test('a client that calls itself mcp-… works in a window of its own', async () => {
  const agent = await b.client({ client_id: 'mcp-1-a' });
  const other = await b.client({ client_id: 'mcp-2-b' });
  const own = await b.open('/');
  // Nothing of a person's falls to it by default.
  assert.equal((await agent.fails('run_script', { code: '1' })).code, 'TAB_NOT_FOUND');
  const first = await agent.ok('navigate', { url: `${b.base}/two` });
  const second = await agent.ok('new_tab', { url: b.base });
  const foreign = await other.ok('new_tab', { url: b.base });
  const window = (await find(first.tab_id)).window_id;
  assert.equal((await find(second.tab_id)).window_id, window);
  assert.notEqual((await find(foreign.tab_id)).window_id, window);
  assert.notEqual((await find(own)).window_id, window);
  assert.equal((await agent.ok('run_script', { code: 'document.title' })).tab_id, second.tab_id);
  assert.equal((await b.ok('run_script', { code: 'document.title' })).tab_id, own, 'a person\'s default stays in their window');
  assert.deepEqual(await agent.ok('close_agent_window'), { closed: true, window_id: window });
  assert.equal(await find(first.tab_id), undefined);
  assert.ok(await find(foreign.tab_id));
  assert.deepEqual(await agent.ok('close_agent_window'), { closed: false, window_id: null });
  assert.equal((await b.ok('close_agent_window', { owner: 'mcp-2-b' })).closed, true);
  agent.close();
  other.close();
});

test('two first tabs of an agent at once end up in one window', async () => {
  const agent = await b.client({ client_id: 'mcp-3-c' });
  const made = await Promise.all([1, 2, 3].map(() => agent.ok('new_tab', { url: b.base })));
  const windows = new Set(await Promise.all(made.map(async (t) => (await find(t.tab_id)).window_id)));
  assert.equal(windows.size, 1);
  await agent.ok('close_agent_window');
  agent.close();
});

test('a tab that does not exist is TAB_NOT_FOUND for every method, and what is no number of a tab is refused as such', async () => {
  for (const [tab_id, code] of [[999999999, 'TAB_NOT_FOUND'], [2 ** 40, 'TAB_NOT_FOUND'], [0, 'INVALID_PARAMS'], [-5, 'INVALID_PARAMS']]) {
    for (const [method, params] of [['close_tab', {}], ['activate_tab', {}], ['navigate', { url: b.base }], ['run_script', { code: '1' }], ['screenshot', {}]]) {
      assert.equal((await b.fails(method, { ...params, tab_id })).code, code, `${method} ${tab_id}`);
    }
  }
});

test('close_tab closes a tab that asks whether it may be left', async () => {
  const tab = await b.open('/ask');
  await b.inPage('/ask', 'document.querySelector("button").click()');
  assert.equal((await b.ok('close_tab', { tab_id: tab })).closed, true);
  assert.equal(await find(tab), undefined);
});

test('wrong parameters are named, nothing is done', async () => {
  for (const [params, reason] of [[{ tab_id: '7' }, /tab_id must be an integer, not a string/], [{ tab_id: 1.5 }, /tab_id/], [[], /object/]]) {
    const answer = await b.fails('close_tab', params);
    assert.equal(answer.code, 'INVALID_PARAMS');
    assert.match(answer.error, reason);
  }
  assert.equal((await b.fails('no_such_method')).code, 'UNKNOWN_METHOD');
  assert.equal((await b.fails('constructor')).code, 'UNKNOWN_METHOD');
});
