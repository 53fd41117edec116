// Sessions as tab groups, and find_tab: who may use a session, what its end closes, what outlives the worker.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { savedGroups } from './harness/saved-groups.mjs';
import { start } from './harness/start.mjs';

let b, other;
const COLORS = ['blue', 'red', 'yellow', 'green', 'cyan', 'orange', 'pink', 'purple', 'grey'];
before(async () => {
  b = await start({
    pages: {
      '/': '<title>Home page</title><a href="/popup" target="_blank">open</a>',
      '/invoice': '<title>Invoice 12</title>',
      '/%E6%96%87': '<title>Größe und Maß</title>',
      '/popup': '<title>Popup</title>',
    },
  });
  b.main = await b.client({ client_id: 'anna' });
  other = await b.client({ client_id: 'bert' });
});
after(() => b?.stop());

const listed = async (tab) => (await b.ok('list_tabs')).tabs.find((t) => t.tab_id === tab);
const open = async (session_id, more = {}) => b.ok('new_tab', { url: `${b.base}/`, session_id, ...more });

test('the first tab of a session makes its group, the next ones fill it', async () => {
  const one = await open('s1');
  assert.deepEqual([one.session_id, one.group_title, one.group_color], ['s1', 'agent:s1', 'blue']);
  const [two, three] = await Promise.all([open('s1'), open('s1')]);
  assert.equal(two.group_id, one.group_id);
  assert.equal(three.group_id, one.group_id);
  const shown = await listed(two.tab_id);
  assert.deepEqual(
    [shown.owner, shown.session_id, shown.group_id, shown.group_title, shown.group_color],
    ['anna', 's1', one.group_id, 'agent:s1', 'blue']);
});

test('each new session takes the next colour; title and colour can be given and changed', async () => {
  const colors = [];
  for (let i = 2; i <= 4; i++) colors.push((await open(`s${i}`)).group_color);
  assert.deepEqual(colors, COLORS.slice(1, 4));
  const named = await open('named', { group_title: 'Invoices', group_color: 'purple' });
  assert.equal((await listed(named.tab_id)).group_title, 'Invoices');
  await b.ok('activate_tab', { tab_id: named.tab_id, session_id: 'named', group_title: 'Paid', group_color: 'grey' });
  const now = await listed(named.tab_id);
  assert.deepEqual([now.group_title, now.group_color, now.group_id], ['Paid', 'grey', named.group_id]);
});

test('a title holds nothing that would turn the direction of the tab strip', async () => {
  const { group_title, tab_id } = await open('turned', { group_title: 'safe\u202etxe\n👩‍👩‍👧 文' });
  assert.equal(group_title, 'safe txe 👩‍👩‍👧 文');
  assert.equal((await listed(tab_id)).group_title, group_title);
  await b.ok('close_session', { session_id: 'turned' });
});

test('two tabs that begin a session at the same time end up in one group', async () => {
  const [one, two] = await Promise.all([open('both'), open('both')]);
  assert.equal(one.group_id, two.group_id);
});

test('a session belongs to the client that named it first', async () => {
  const mine = await open('mine');
  const denied = await other.fails('new_tab', { url: `${b.base}/`, session_id: 'mine' });
  assert.equal(denied.code, 'PERMISSION_DENIED');
  for (const [method, params] of [['navigate', { url: `${b.base}/` }], ['activate_tab', { tab_id: mine.tab_id }], ['close_session', {}]]) {
    assert.equal((await other.fails(method, { session_id: 'mine', ...params })).code, 'PERMISSION_DENIED', method);
  }
  assert.ok(await listed(mine.tab_id));
  const tabs = (await b.ok('list_tabs')).tabs;
  assert.equal(tabs.filter((t) => t.owner === 'bert').length, 0, 'a refused new_tab opens nothing');
});

test('navigate works in the session\'s own tab, and opens one where there is none', async () => {
  const before = (await b.ok('list_tabs')).tabs.length;
  const first = await b.ok('navigate', { url: `${b.base}/`, session_id: 'walk' });
  assert.equal((await b.ok('list_tabs')).tabs.length, before + 1);
  await b.open('/invoice');
  const second = await b.ok('navigate', { url: `${b.base}/popup`, session_id: 'walk' });
  assert.equal(second.tab_id, first.tab_id);
  assert.equal(second.group_title, 'agent:walk');
});

test('close_session closes its tabs and no others', async () => {
  const outside = await b.open('/invoice');
  const one = await open('gone');
  const two = await open('gone');
  const foreign = await other.ok('new_tab', { url: `${b.base}/` });
  const { closed } = await b.ok('close_session', { session_id: 'gone' });
  assert.deepEqual(closed.sort(), [one.tab_id, two.tab_id].sort());
  const left = (await b.ok('list_tabs')).tabs.map((t) => t.tab_id);
  assert.ok(left.includes(outside) && left.includes(foreign.tab_id));
  assert.ok(!left.includes(one.tab_id) && !left.includes(two.tab_id));
  assert.equal((await b.fails('close_session', { session_id: 'gone' })).code, 'INVALID_PARAMS');
});

test('close_session with close_tabs=false dissolves the group and leaves the tabs', async () => {
  const one = await open('loose');
  const { closed, kept } = await b.ok('close_session', { session_id: 'loose', close_tabs: false });
  assert.deepEqual([closed, kept], [[], [one.tab_id]]);
  const now = await listed(one.tab_id);
  assert.deepEqual([now.session_id, now.group_id], [undefined, undefined]);
});

test('an agent\'s group is in the agent\'s own window', async () => {
  const agent = await b.client({ client_id: 'mcp-7' });
  const one = await agent.ok('new_tab', { url: `${b.base}/`, session_id: 'agents' });
  const two = await agent.ok('new_tab', { url: `${b.base}/`, session_id: 'agents' });
  assert.equal(one.group_id, two.group_id);
  const mine = await b.open('/');
  assert.notEqual((await listed(one.tab_id)).window_id, (await listed(mine)).window_id);
});

// Chrome keeps a group that goes with its window, for good and with its pages' addresses.
test('no session leaves a saved group behind, whatever closes its tabs with their window', async () => {
  const names = { close_session: 'kept-a', close_agent_window: 'kept-b', close_auto_tabs: 'kept-c', close_tab: 'kept-d' };
  const kept = () => { const all = savedGroups(path.join(b.dir, 'profile')); return Object.values(names).filter((name) => all.some((value) => value.includes(`agent:${name}`))); };
  const until = async (want) => {
    for (const end = Date.now() + 10_000; kept().join() !== want.join();) {
      assert.ok(Date.now() < end, `saved: ${kept()}`);
      await new Promise((r) => setTimeout(r, 50));
    }
  };
  const agents = [];
  for (const [method, session_id] of Object.entries(names)) {
    const agent = await b.client({ client_id: `mcp-${session_id}` });
    const tabs = [];
    for (let i = 0; i < (method === 'close_tab' ? 1 : 2); i++) tabs.push((await agent.ok('new_tab', { url: `${b.base}/`, session_id })).tab_id);
    agents.push({ agent, method, session_id, tabs });
  }
  await until(Object.values(names));
  for (const { agent, method, session_id, tabs } of agents) {
    await agent.ok(method, { close_session: { session_id }, close_agent_window: { owner: `mcp-${session_id}` }, close_auto_tabs: { owner: `mcp-${session_id}` }, close_tab: { tab_id: tabs[0] } }[method]);
    for (const tab of tabs) assert.equal(await listed(tab), undefined, method);
  }
  await until([]);
});

test('group fields without a session are refused', async () => {
  for (const params of [{ group_title: 'x' }, { group_color: 'red' }]) assert.equal((await b.fails('new_tab', { url: `${b.base}/`, ...params })).code, 'INVALID_PARAMS');
  assert.equal((await b.fails('new_tab', { session_id: 'x', group_color: 'black' })).code, 'INVALID_PARAMS');
});

test('find_tab: words, parts of address and title, whatever their case; the best match comes first', async () => {
  const invoice = await b.open('/invoice');
  const foreign = await b.open('/文?q=1#Ende');
  const find = async (params) => (await b.ok('find_tab', params)).tabs.map((t) => t.tab_id);
  assert.ok((await find({ query: 'invoice 12' })).includes(invoice));
  assert.deepEqual(await find({ title_contains: 'GRÖSSE' }), []);
  assert.deepEqual(await find({ title_contains: 'GRÖßE' }), [foreign]);
  assert.deepEqual(await find({ url_contains: '/文' }), [foreign]);
  assert.deepEqual(await find({ url_contains: '#ende', title_contains: 'maß' }), [foreign]);
  assert.deepEqual(await find({ query: 'nothing of the kind' }), []);
  assert.equal((await b.ok('find_tab', { query: 'nothing of the kind' })).count, 0);
  assert.equal((await b.fails('find_tab', {})).code, 'INVALID_PARAMS');
  const s = await open('findable');
  assert.deepEqual(await find({ session_id: 'findable' }), [s.tab_id]);
});

test('find_tab shows the tab when asked to', async () => {
  const invoice = (await b.ok('new_tab', { url: `${b.base}/invoice?unique` })).tab_id;
  await b.open('/');
  assert.equal((await listed(invoice)).active, false);
  const { tabs } = await b.ok('find_tab', { query: 'unique', activate: true });
  assert.equal(tabs[0].active, true);
  assert.equal((await listed(invoice)).active, true);
});

test('a session outlives its worker: same group, same owner', async () => {
  const one = await open('kept', { group_color: 'pink' });
  await b.chromium.restartWorker();
  await b.ready();
  b.main = await b.client({ client_id: 'anna' });
  other = await b.client({ client_id: 'bert' });
  assert.equal((await listed(one.tab_id)).session_id, 'kept');
  const two = await open('kept');
  assert.deepEqual([two.group_id, two.group_color], [one.group_id, 'pink']);
  assert.equal((await other.fails('close_session', { session_id: 'kept' })).code, 'PERMISSION_DENIED');
  assert.equal((await b.ok('close_session', { session_id: 'kept' })).closed.length, 2);
});
