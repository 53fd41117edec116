// The debugger's comings and goings: on need, shared, off when idle or refused, and over restarts of the worker.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b;
before(async () => { b = await start({ pages: { '/': '<!doctype html><title>D</title><button id="go" onclick="window.n = (window.n ?? 0) + 1">Go</button><input id="f">', '/next': '<!doctype html><title>N</title><button id="go" onclick="window.n = 1">Go</button>' } }); });
after(() => b?.stop());
const attached = (part) => b.chromium.inWorker(`chrome.debugger.getTargets().then((all) => all.filter((t) => t.attached && t.url.includes(${JSON.stringify(part)})).length)`);
const click = (tab, more = {}) => b.call('click', { tab_id: tab, target: { value: '#go' }, trusted: true, ...more });

test('comes with the first trusted act, is shared by many at once, stays for the next page, goes when idle', async () => {
  const tab = await b.open('/?life');
  await b.ok('click', { tab_id: tab, target: { value: '#go' } });
  assert.equal(await attached('?life'), 0);
  const answers = await Promise.all(Array.from({ length: 8 }, () => click(tab)));
  assert.ok(answers.every((a) => a.success), JSON.stringify(answers).slice(0, 300));
  assert.equal(await b.inPage('?life', 'n'), 9);
  assert.equal(await attached('?life'), 1);
  await b.ok('navigate', { tab_id: tab, url: `${b.cross}/next?life` });
  assert.equal((await click(tab)).success, true);
  assert.equal(await attached('?life'), 1);
  for (let i = 0; i < 120 && (await attached('?life')); i++) await new Promise((r) => setTimeout(r, 250));
  assert.equal(await attached('?life'), 0);
});

test('pages that are closed to it: an error that says so; and the tab works again afterwards', async () => {
  const { tab_id: tab } = await b.ok('new_tab', { url: 'chrome://version' });
  for (const [method, params] of [['click', { target: { value: 'a' }, trusted: true }], ['mouse_click', { x: 1, y: 1 }], ['send_keys', { keys: 'Enter' }], ['type_text', { text: 'x' }], ['screenshot', { full_page: true }]]) {
    assert.equal((await b.fails(method, { tab_id: tab, ...params })).code, 'RESTRICTED_PAGE', method);
  }
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/?again` });
  assert.equal((await click(tab)).success, true);
  await b.ok('navigate', { tab_id: tab, url: 'chrome://version' });
  assert.equal((await b.fails('send_keys', { tab_id: tab, keys: 'x' })).code, 'RESTRICTED_PAGE');
});

test('a tab that is closed under way is told', async () => {
  const tab = await b.open('/?closed');
  const typing = b.call('type_text', { tab_id: tab, target: { value: '#f' }, text: 'x'.repeat(200), delay_ms: 20 });
  await new Promise((r) => setTimeout(r, 500));
  await b.ok('close_tab', { tab_id: tab });
  const { code, maybe_executed } = await typing;
  assert.deepEqual([code, maybe_executed], ['TAB_NOT_FOUND', true]);
});

test('beside another debugger on the same tab, such as DevTools', async () => {
  const tab = await b.open('/?beside');
  const [page] = await b.chromium.targets((t) => t.type === 'page' && t.url.includes('?beside'));
  const { sessionId } = await b.chromium.cdp.send('Target.attachToTarget', { targetId: page.targetId, flatten: true });
  await b.chromium.cdp.send('Debugger.enable', {}, sessionId);
  assert.equal((await click(tab)).success, true);
  assert.equal(await b.inPage('?beside', 'n'), 1);
});

test('a worker that starts anew takes over what its predecessor left attached', async () => {
  const tab = await b.open('/?restart');
  assert.equal((await click(tab)).success, true);
  await b.chromium.restartWorker();
  await b.ready();
  assert.equal((await click(tab)).success, true);
  assert.equal(await b.inPage('?restart', 'n'), 2);
});

test("the user's Cancel ends it everywhere: no second try, a clear word, and what needs no debugger works on", async () => {
  const tab = await b.open('/?cancel');
  assert.equal((await click(tab)).success, true);
  // What Chrome sends when Cancel is pressed in its bar, which a headless browser does not have.
  await b.chromium.inWorker(`chrome.debugger.detach({ tabId: ${tab} }).then(() => chrome.debugger.onDetach.dispatch({ tabId: ${tab} }, 'canceled_by_user'))`);
  const { code, error } = await b.fails('click', { tab_id: tab, target: { value: '#go' }, trusted: true });
  assert.equal(code, 'DENIED_BY_USER');
  assert.match(error, /Cancel.*5 more minutes/);
  assert.equal(await attached('?cancel'), 0);
  await b.ok('click', { tab_id: tab, target: { value: '#go' } });
  assert.equal(await b.inPage('?cancel', 'n'), 2);
  await b.ok('close_tab', { tab_id: tab });
});
