// `once`: a retry is answered from the journal and never run again, also after the worker was stopped.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b, tab;
before(async () => {
  b = await start({
    daemon: 'hub',
    pages: {
      '/': '<title>Once</title>',
      // Each act is counted by the server, and the page then stays busy: the worker is stopped between the act and its answer.
      '/acts': `<script src="/__page.js"></script><button id="go">Go</button><input id="a"><input id="b"><script>
        const busy = (key) => { count(key); const x = new XMLHttpRequest(); x.open('GET', '/slow', false); x.send(); };
        document.querySelector('#go').onclick = () => busy('go');
        for (const id of ['a', 'b']) document.querySelector('#' + id).oninput = () => busy(id);</script>`,
    },
    routes: { '/slow': { delay: 1200, body: 'x' } },
  });
  tab = await b.open('/?counted');
});
after(() => b?.stop());

const bump = 'document.body.dataset.n = Number(document.body.dataset.n ?? 0) + 1';
const count = () => b.inPage('?counted', 'Number(document.body.dataset.n ?? 0)');
async function restart() {
  await b.chromium.restartWorker();
  await b.ready();
}
const as = (client_id) => b.client({ client_id });

test('the same once is run one time and answered the second time with replayed', async () => {
  const me = await as('once-a');
  const start = await count();
  const first = await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'k1' });
  const second = await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'k1' });
  assert.equal(await count(), start + 1);
  assert.deepEqual(second, { ...first, replayed: true });
  const { replayed } = await me.call('run_script', { tab_id: tab, code: bump }, { once: 'k1' });
  assert.equal(replayed, true, 'it stands in the answer itself as well, as maybe_executed does');
  await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'k2' });
  assert.equal(await count(), start + 2);
  me.close();
});

test('a key is for one command: with other params it is refused, whatever order the same ones stand in', async () => {
  const me = await as('once-p');
  const start = await count();
  await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'k' });
  const { code, error } = await me.fails('run_script', { tab_id: tab, code: `${bump} + 0` }, { once: 'k' });
  assert.deepEqual([code, error], ['INVALID_REQUEST', 'once k was used for run_script with other params: every command has a key of its own']);
  assert.equal((await me.ok('run_script', { code: bump, tab_id: tab }, { once: 'k' })).replayed, true);
  assert.equal(await count(), start + 1);
  await restart();
  const again = await as('once-p');
  assert.equal((await again.fails('run_script', { tab_id: tab, code: '1' }, { once: 'k' })).code, 'INVALID_REQUEST');
  assert.equal((await again.ok('run_script', { tab_id: tab, code: bump }, { once: 'k' })).replayed, true);
  again.close();
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
  const stays = { tab_id: tab, code: `${bump}; new Promise(() => {})` };
  void me.call('run_script', stays, { once: 'under-way' }).catch(() => {});
  while ((await count()) !== start + 1) await new Promise((r) => setTimeout(r, 20));
  await restart();
  assert.equal((await me.ok('run_script', { tab_id: tab, code: bump }, { once: 'done' })).replayed, true);
  const answer = await me.fails('run_script', stays, { once: 'under-way' });
  assert.equal(answer.maybe_executed, true);
  assert.equal(answer.replayed, true);
  assert.equal(await count(), start + 1);
  me.close();
});

for (const [method, params, key] of [
  ['click', { target: { value: '#go' } }, 'go'],
  ['fill_form', { fields: [{ target: { value: '#a' }, value: 'x' }, { target: { value: '#b' }, value: 'y' }] }, 'a'],
  ['batch', { steps: [{ method: 'click', params: { target: { value: '#go' } } }, { method: 'set_value', params: { target: { value: '#b' }, value: 'z' } }] }, 'go'],
]) {
  test(`${method}: the worker is stopped between the act and its answer, and the retry never acts again`, async () => {
    const me = await as(`killed-${method}`);
    const page = await b.open('/acts');
    const asked = { tab_id: page, ...params, ...(params.steps ? { steps: params.steps.map((s) => ({ ...s, params: { ...s.params, tab_id: page } })) } : {}) };
    if (params.steps) delete asked.tab_id;
    for (const k of Object.keys(b.said)) delete b.said[k];
    void me.call(method, asked, { once: 'k' }).catch(() => {});
    await b.site.heard(key);
    await restart();
    const again = await as(`killed-${method}`);
    const answer = await again.call(method, asked, { once: 'k' });
    assert.deepEqual([answer.success, answer.maybe_executed, answer.replayed], [false, true, true], JSON.stringify(answer));
    // What the page had begun is through by now; nothing else may have reached it.
    await b.page(page, '1');
    assert.deepEqual(b.said, { [key]: 1 });
    me.close();
    again.close();
  });
}

test('batch and fill_form are replayed as a whole', async () => {
  const me = await as('once-whole');
  const start = await count();
  const steps = [{ method: 'run_script', params: { tab_id: tab, code: bump } }, { method: 'run_script', params: { tab_id: tab, code: bump } }];
  const first = await me.ok('batch', { steps }, { once: 'many' });
  assert.deepEqual(await me.ok('batch', { steps }, { once: 'many' }), { ...first, replayed: true });
  assert.equal(await count(), start + 2);
  assert.equal((await me.fails('run_script', { tab_id: tab, code: '1' }, { once: 'many' })).code, 'INVALID_REQUEST', 'one once, one command');
  me.close();
});

test('two owners with the same once at the same time both act', async () => {
  const [one, two] = await Promise.all([as('once-x'), as('once-y')]);
  const start = await count();
  const answers = await Promise.all([one, two].map((c) => c.ok('run_script', { tab_id: tab, code: bump }, { once: 'same' })));
  assert.deepEqual(answers.map((a) => a.replayed), [undefined, undefined]);
  assert.equal(await count(), start + 2);
  one.close();
  two.close();
});

test('the last 256 outcomes of an owner are kept, and for ten minutes', async () => {
  const me = await as('once-many');
  const closing = (once) => me.fails('close_tab', { tab_id: 1 }, { once });
  for (let i = 0; i < 257; i++) await closing(`n${i}`);
  assert.equal((await closing('n1')).replayed, true);
  assert.equal((await closing('n256')).replayed, true);
  assert.equal((await closing('n0')).replayed, undefined, 'the oldest made room');
  // Ten minutes go by: the journal on record is dated back, and a fresh worker reads it.
  await b.chromium.inWorker(`chrome.storage.session.get('once:once-many').then(({ ['once:once-many']: all }) => chrome.storage.session.set({ 'once:once-many': all.map((e) => ({ ...e, at: e.at - 10 * 60_000 })) }))`);
  await restart();
  const later = await as('once-many');
  assert.equal((await later.fails('close_tab', { tab_id: 1 }, { once: 'n256' })).replayed, undefined);
  me.close();
  later.close();
});

test('where the browser\'s memory for it is full, other owners\' journals make room', async () => {
  await b.chromium.inWorker(`chrome.storage.session.set({ 'once:an-old-one': [{ once: 'x', method: 'click', at: 1, answer: 'x'.repeat(10_300_000) }] })`);
  const me = await as('once-full');
  const code = `'${'y'.repeat(30_000)}'`;
  for (const once of ['f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8']) await me.ok('run_script', { tab_id: tab, code }, { once });
  assert.equal((await me.ok('run_script', { tab_id: tab, code }, { once: 'f8' })).replayed, true);
  assert.equal(await b.chromium.inWorker(`chrome.storage.session.get('once:an-old-one').then((all) => Object.keys(all).length)`), 0);
  me.close();
});
