// Pages that do not react: a dialog or an endless script holds up its own tab only, every call on it is answered, and none of those
// calls acts later, when the page comes back to life.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b, free;
before(async () => {
  b = await start({ pages: {
    '/': '<title>Free</title>',
    '/alert': '<title>Alert</title><script src="/__page.js"></script><button onclick="say(\'asking\', 1); alert(1); say(\'answered\', 1)">x</button>',
    '/spin': '<title>Spin</title>',
  } });
  free = await b.open('/');
});
after(() => b?.stop());

test('an endless script is answered, other tabs go on, the stuck one can be closed', async () => {
  const stuck = await b.ok('new_tab', { url: `${b.cross}/spin` });
  const began = Date.now();
  const loop = b.fails('run_script', { tab_id: stuck.tab_id, code: 'for (;;);' });
  const other = await b.client();
  assert.equal((await other.ok('run_script', { tab_id: free, code: '6 * 7' })).result, 42);
  assert.ok(Date.now() - began < 4000);
  const answer = await loop;
  assert.equal(answer.code, 'PAGE_BLOCKED');
  assert.equal(answer.maybe_executed, true);
  // The next call on it does not wait five seconds again.
  const again = Date.now();
  assert.equal((await b.fails('run_script', { tab_id: stuck.tab_id, code: '1' })).code, 'PAGE_BLOCKED');
  assert.ok(Date.now() - again < 2000);
  assert.equal((await b.ok('close_tab', { tab_id: stuck.tab_id })).closed, true);
  assert.equal(await b.page(free, '1 + 1'), 2);
  other.close();
});

for (const [timeout_ms, code] of [[200, 'for (;;);'], [500, 'for (;;);'], [800, 'await 1; for (;;);'], [2500, 'await new Promise((r) => setTimeout(r, 1400)); for (;;);'],
  // The last part of a call: a page that has reacted until then.
  [1000, 'await new Promise((r) => setTimeout(r, 650)); for (;;);'], [2500, 'await new Promise((r) => setTimeout(r, 1950)); for (;;);']]) {
  test(`an endless script with a deadline of ${timeout_ms} ms is answered by then: ${code}`, async () => {
    const stuck = await b.ok('new_tab', { url: `${b.cross}/spin?${timeout_ms}-${code.length}` });
    const answer = await b.fails('run_script', { tab_id: stuck.tab_id, code }, { timeout_ms });
    assert.deepEqual([answer.code, answer.maybe_executed], ['PAGE_BLOCKED', true], answer.error);
    assert.equal(await b.page(free, '6 * 7'), 42);
    assert.equal((await b.ok('close_tab', { tab_id: stuck.tab_id })).closed, true);
  });
}

for (const [method, params, frame] of [['wait_for', { target: { value: '#never' } }, { timeout_ms: 1200 }], ['wait_for', { text: 'never', timeout: 900 }, {}], ['click', { target: { value: '#never' } }, { timeout_ms: 1200 }]]) {
  test(`a page that stops reacting while ${method} waits in it is said to be blocked: ${JSON.stringify({ ...params, ...frame })}`, async () => {
    const { tab_id: tab } = await b.ok('new_tab', { url: `${b.cross}/spin?${method}` });
    await b.ok('run_script', { tab_id: tab, code: 'setTimeout(() => { for (;;); }, 450), 1' });
    const answer = await b.fails(method, { tab_id: tab, ...params }, frame);
    assert.equal(answer.code, 'PAGE_BLOCKED', answer.error);
    assert.equal(await b.page(free, '6 * 7'), 42);
    assert.equal((await b.ok('close_tab', { tab_id: tab })).closed, true);
  });
}

test('a wait in a page that reacts ends as one', async () => {
  assert.equal((await b.fails('wait_for', { tab_id: free, target: { value: '#never' }, timeout: 400 })).code, 'TIMEOUT');
});

test('a page that reacts while its script takes too long is not called blocked', async () => {
  for (const timeout_ms of [200, 600, 1200]) {
    for (const code of ['await new Promise(() => {})', `const end = Date.now() + ${timeout_ms / 4}; while (Date.now() < end); await new Promise(() => {})`]) {
      const answer = await b.fails('run_script', { tab_id: free, code }, { timeout_ms });
      assert.equal(answer.code, 'TIMEOUT', `${timeout_ms} ms, ${code}: ${answer.error}`);
    }
  }
});

test('an alert holds up its own tab only; a script refused meanwhile does not run once it is gone', async () => {
  const { tab_id: tab } = await b.ok('new_tab', { url: `${b.cross}/alert` });
  const [page] = await b.chromium.targets((t) => t.type === 'page' && t.url.includes('/alert'));
  const { sessionId } = await b.chromium.cdp.send('Target.attachToTarget', { targetId: page.targetId, flatten: true });
  await b.chromium.cdp.send('Page.enable', {}, sessionId);
  await b.ok('run_script', { tab_id: tab, code: 'setTimeout(() => document.querySelector("button").click(), 0), 1' });
  await b.heard('asking');
  const answer = await b.fails('run_script', { tab_id: tab, code: 'document.body.dataset.late = "yes"' });
  assert.equal(answer.code, 'PAGE_BLOCKED');
  assert.equal(await b.page(free, 'document.title'), 'Free');
  // A person presses OK.
  await b.chromium.cdp.send('Page.handleJavaScriptDialog', { accept: true }, sessionId);
  await b.heard('answered');
  assert.equal(await b.page(tab, 'document.body.dataset.late ?? "no"'), 'no');
  await b.ok('close_tab', { tab_id: tab });
});
