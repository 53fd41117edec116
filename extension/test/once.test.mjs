// `once`: a retry is answered from the journal and never run again, also after the worker was stopped.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b, tab;
before(async () => {
  b = await start({ daemon: 'hub', pages: { '/': '<title>Once</title>' } });
  tab = await b.open('/');
});
after(() => b?.stop());

const bump = 'document.body.dataset.n = Number(document.body.dataset.n ?? 0) + 1';
const count = () => b.inPage(b.base, 'Number(document.body.dataset.n ?? 0)');
const as = (client_id) => b.client({ client_id });

test('the same once is run one time and answered the second time with replayed', async () => {
  const me = await as('once-a');
  const start = await count();
  const first = await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'k1' });
  const second = await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'k1' });
  assert.equal(await count(), start + 1);
  assert.deepEqual(second, { ...first, replayed: true });
  await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'k2' });
  assert.equal(await count(), start + 2);
  me.close();
});

test('another owner\'s once is another one', async () => {
  const me = await as('once-b');
  const start = await count();
  const answer = await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'k1' });
  assert.equal(answer.replayed, undefined);
  assert.equal(await count(), start + 1);
  me.close();
});

test('two at the same time: one runs, both are answered', async () => {
  const me = await as('once-c');
  const start = await count();
  const code = `new Promise((r) => setTimeout(r, 200)).then(() => ${bump})`;
  const [one, two] = await Promise.all([1, 2].map(() => me.ok('run_script', { tab_id: tab, code }, { once: 'k' })));
  assert.equal(await count(), start + 1);
  assert.equal(one.result, two.result);
  assert.equal(two.replayed, true);
  me.close();
});

test('a failure is an outcome too', async () => {
  const me = await as('once-d');
  const first = await me.fails('run_script', { tab_id: tab, code: `${bump}; null.x` }, { once: 'k' });
  const start = await count();
  const second = await me.fails('run_script', { tab_id: tab, code: `${bump}; null.x` }, { once: 'k' });
  assert.equal(second.error, first.error);
  assert.equal(second.replayed, true);
  assert.equal(await count(), start);
  me.close();
});

test('reading methods are not kept; a wrong once is refused', async () => {
  const me = await as('once-e');
  await me.ok('list_tabs', {}, { once: 'k' });
  assert.equal((await me.ok('list_tabs', {}, { once: 'k' })).replayed, undefined);
  for (const once of ['', 'with space', 'x'.repeat(65), 7]) assert.equal((await me.fails('run_script', { tab_id: tab, code: '1' }, { once })).code, 'INVALID_REQUEST');
  me.close();
});

test('the journal outlives the worker: what was done is replayed, what was under way is not run again', async () => {
  const me = await as('once-f');
  await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'done' });
  const start = await count();
  void me.call('run_script', { tab_id: tab, code: `${bump}; new Promise(() => {})` }, { once: 'under-way' }).catch(() => {});
  while ((await count()) !== start + 1) await new Promise((r) => setTimeout(r, 20));
  await b.chromium.stopWorker();
  await b.ready(60_000);
  assert.equal((await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'done' })).replayed, true);
  const answer = await me.fails('run_script', { tab_id: tab, code: bump }, { once: 'under-way' });
  assert.equal(answer.maybe_executed, true);
  assert.equal(answer.replayed, true);
  assert.equal(await count(), start + 1);
  me.close();
});
