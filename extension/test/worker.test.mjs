// The worker is stopped by Chrome whenever it likes: it comes back, connects, and still knows whose tab is whose.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b;
before(async () => { b = await start({ pages: { '/': '<title>Home</title>' } }); });
after(() => b?.stop());

test('owners and agent windows survive a restart of the worker; pages stay as they were', async () => {
  const agent = await b.client({ client_id: 'mcp-9-z' });
  const { tab_id: agents } = await agent.ok('new_tab', { url: b.base });
  const { tab_id: mine } = await b.ok('new_tab', { url: b.base });
  await b.page(mine, 'document.body.dataset.kept = "yes"');
  const owner = (await b.ok('list_tabs')).tabs.find((t) => t.tab_id === mine).owner;
  assert.ok((await b.chromium.stopWorker()) >= 1);
  await b.ready(60_000);
  const { tabs } = await b.ok('list_tabs');
  assert.equal(tabs.find((t) => t.tab_id === mine).owner, owner);
  assert.equal(tabs.find((t) => t.tab_id === agents).owner, 'mcp-9-z');
  assert.equal(await b.page(mine, 'document.body.dataset.kept'), 'yes');
  const { tab_id: second } = await agent.ok('new_tab', { url: b.base });
  const windows = (await b.ok('list_tabs')).tabs.filter((t) => [agents, second].includes(t.tab_id)).map((t) => t.window_id);
  assert.equal(windows[0], windows[1], 'the same window as before');
  assert.equal((await agent.ok('close_agent_window')).closed, true);
  assert.ok((await b.ok('close_auto_tabs')).closed.includes(mine));
  agent.close();
});

test('calls that were under way are answered when the worker goes', async () => {
  const tab = await b.open('/');
  const waiting = b.call('run_script', { tab_id: tab, code: 'new Promise(() => {})' });
  await b.page(tab, '1');
  await b.chromium.stopWorker();
  const answer = await waiting;
  assert.equal(answer.success, false);
  assert.equal(answer.code, 'EXTENSION_DISCONNECTED');
  assert.equal(answer.maybe_executed, true);
  await b.ready(60_000);
});

test('the worker stays alive beyond Chrome\'s 30 s of idleness', async () => {
  const id = () => b.chromium.targets((t) => t.type === 'service_worker').then((l) => l.map((t) => t.targetId).join());
  const before = await id();
  await new Promise((r) => setTimeout(r, 40_000));
  assert.equal(await id(), before);
  assert.ok((await b.ok('list_tabs')).tabs.length > 0);
});
