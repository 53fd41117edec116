// What the hub may say besides commands: cancel, policy; and what the class of a caller means.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const METHODS = JSON.parse(fs.readFileSync(new URL('../../catalogue/methods.json', import.meta.url), 'utf8')).methods;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let b, tab;
before(async () => {
  b = await start({ daemon: 'hub', pages: { '/': '<title>Router</title><button hidden id="late">x</button><script>late.onclick = () => document.body.dataset.hit = 1</script>' } });
  tab = await b.open('/');
});
after(() => b?.stop());

const hub = () => b.daemon.hub();
const answersOf = (id) => hub().frames.filter((f) => f.id === id);

test('an answer begins with id and success', async () => {
  const seen = new Promise((r) => { hub().onText = r; });
  await b.ok('list_tabs');
  const text = await seen;
  assert.match(text, /^\{"id":"h\d+","success":true,"result":\{/);
});

test('a cancelled wait is not answered and never acts', async () => {
  const waiting = b.call('click', { tab_id: tab, target: { value: '#late' }, timeout: 20_000 }).catch(() => {});
  await sleep(400);
  const wire = hub().cancel();
  await sleep(200);
  await b.inPage(b.base, 'late.hidden = false');
  await sleep(800);
  assert.deepEqual(answersOf(wire), []);
  assert.equal(await b.inPage(b.base, 'document.body.dataset.hit ?? "no"'), 'no');
  void waiting;
});

test('a wait longer than the deadline is answered before it', async () => {
  await b.inPage(b.base, 'late.hidden = true');
  const answer = await b.fails('click', { tab_id: tab, target: { value: '#late' }, timeout: 20_000 }, { timeout_ms: 1200 });
  assert.notEqual(answer.error, 'timeout: extension did not respond in 1.2s', 'the extension spoke first');
  assert.equal(answer.maybe_executed, undefined);
});

test('paused, read-only and back, by policy frames', async () => {
  hub().tell({ type: 'policy', policy: { paused: true } });
  assert.equal((await b.fails('list_tabs')).code, 'PAUSED');
  assert.equal((await b.ok('ping')).pong, true);
  hub().tell({ type: 'policy', policy: { read_only: true } });
  assert.equal((await b.call('list_tabs')).success, true);
  assert.equal((await b.fails('run_script', { tab_id: tab, code: '1' })).code, 'PERMISSION_DENIED');
  assert.equal((await b.fails('screenshot', { tab_id: tab, foreground: true })).code, 'PERMISSION_DENIED');
  assert.equal((await b.fails('get_page_markdown', { tab_id: tab, url: b.base })).code, 'PERMISSION_DENIED');
  hub().tell({ type: 'policy', policy: {} });
  assert.equal(await b.page(tab, '1'), 1);
});

// T124: another agent's tab, at every method that names one.
test('agents do not reach each other\'s tabs, nor see them', async () => {
  const agent = { class: 'agent' };
  const one = await b.client({ client_id: 'c1-one' });
  const two = await b.client({ client_id: 'c2-two' });
  const mine = await one.ok('new_tab', { url: b.base }, agent);
  const theirs = await two.ok('new_tab', { url: b.base }, agent);
  const listed = (await one.ok('list_tabs', {}, agent)).tabs;
  const seen = listed.map((t) => t.tab_id);
  assert.ok(listed.some((t) => t.owner === undefined), 'a user\'s own tab is listed');
  assert.equal((await one.ok('find_tab', { query: '127.0.0.1' }, agent)).tabs.some((t) => t.tab_id === theirs.tab_id), false);
  assert.ok(seen.includes(mine.tab_id));
  assert.ok(!seen.includes(theirs.tab_id));
  hub().tell({ type: 'policy', policy: { evaluate: { since: Date.now(), until: Date.now() + 60_000 } } });
  const named = METHODS.filter(({ scope }) => scope === 'tab' || scope === 'page');
  assert.ok(named.length > 30);
  for (const { name, example } of named) {
    // Files come to a browser as the daemon read them.
    const { paths, ...params } = example.params;
    if (paths) params.files = [{ name: 'me.png', mime: 'image/png', data: '' }];
    const refusal = await one.fails(name, { ...params, tab_id: theirs.tab_id }, agent);
    assert.deepEqual([refusal.code, refusal.error], ['PERMISSION_DENIED', `forbidden: tab ${theirs.tab_id} belongs to another client`], name);
  }
  const step = { method: 'click', params: { tab_id: theirs.tab_id, target: { value: '#late' } } };
  const { results } = await one.ok('batch', { steps: [step] }, agent);
  assert.equal(results[0].code, 'PERMISSION_DENIED');
  hub().tell({ type: 'policy', policy: {} });
  assert.equal((await one.fails('close_auto_tabs', { owner: 'c2-two' }, agent)).code, 'PERMISSION_DENIED');
  assert.equal((await one.fails('close_agent_window', { owner: 'c2-two' }, agent)).code, 'PERMISSION_DENIED');
  assert.deepEqual((await one.ok('close_auto_tabs', {}, agent)).closed, [mine.tab_id]);
  assert.equal((await two.ok('run_script', { code: '2' }, agent)).result, 2);
  await two.ok('close_agent_window', {}, agent);
  one.close();
  two.close();
});
