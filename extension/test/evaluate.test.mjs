// evaluate: refused until the user turns it on, off again by itself; runs in the page's own world and really ends when its time is up.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const pages = {
  '/app': '<!doctype html><title>App</title><p id="p" class="c">text</p><script>window.app = { version: "2.1" }; let counter = 3; window.ticks = 0; setInterval(() => ticks++, 20);</script>',
  '/old': '<!doctype html><title>Old</title><script>Array.prototype.toJSON = function () { return JSON.stringify("" + this) }; Object.prototype.get = () => 1</script>',
};
const routes = { '/strict': { headers: { 'content-security-policy': "script-src 'self'; require-trusted-types-for 'script'" }, body: '<!doctype html><title>Strict</title>' } };
let b;
let tab;
before(async () => {
  b = await start({ daemon: 'real', pages, routes });
  tab = await b.open('/app');
});
after(() => b?.stop());
const policy = (...args) => b.daemon.run('policy', 'set', ...args);
const evaluate = (expression, more) => b.ok('evaluate', { tab_id: tab, expression, ...more });
const refused = (expression, more) => b.fails('evaluate', { tab_id: tab, expression, ...more });

test('off: refused by the daemon, and nothing runs', async () => {
  const answer = await refused('window.touched = 1');
  assert.equal(answer.code, 'PERMISSION_DENIED');
  assert.match(answer.error, /bridged policy set evaluate on/);
  assert.equal(await b.inPage('/app', 'typeof touched'), 'undefined');
});

test('off: a step of a batch is refused too', async () => {
  const answer = await b.call('batch', { steps: [{ method: 'evaluate', params: { tab_id: tab, expression: 'window.touched = 1' } }] });
  const told = answer.success ? answer.result.results[0] : answer;
  assert.equal(told.code, 'PERMISSION_DENIED');
  assert.equal(await b.inPage('/app', 'typeof touched'), 'undefined');
});

test('on: the page\'s own variables, promises, await, and what is no JSON', async () => {
  policy('evaluate', 'on');
  assert.deepEqual(await evaluate('app.version'), { result: '2.1', type: 'string', tab_id: tab });
  assert.equal((await evaluate('counter + 1')).result, 4);
  assert.equal((await evaluate('Promise.resolve(7)')).result, 7);
  assert.equal((await evaluate('await new Promise((r) => setTimeout(r, 30, "late"))')).result, 'late');
  assert.deepEqual((await evaluate('document.querySelector("#p")')).result, { __element: 'p', id: 'p', class: 'c', text: 'text' });
  assert.deepEqual(await evaluate('undefined'), { type: 'undefined', tab_id: tab });
  assert.deepEqual(await evaluate('10n ** 20n'), { result: '100000000000000000000', type: 'bigint', tab_id: tab });
  await evaluate('app.version = "3"');
  assert.equal(await b.inPage('/app', 'app.version'), '3');
});

test('what a library has put on the prototypes is no part of the result', async () => {
  const old = await b.open('/old');
  assert.deepEqual((await evaluate('({ list: [1, "a", [2]] })', { tab_id: old })).result, { list: [1, 'a', [2]] });
});

test('a page whose policy forbids eval is no obstacle', async () => {
  const strict = await b.open('/strict');
  assert.equal((await evaluate('document.title', { tab_id: strict })).result, 'Strict');
});

test('what the expression throws is the error', async () => {
  for (const [expression, text] of [['nowhere.at', /ReferenceError: nowhere is not defined/], ['throw new TypeError("mine")', /./], ['Promise.reject(new Error("later"))', /Error: later/], ['1 +', /SyntaxError/]]) {
    const answer = await refused(expression);
    assert.equal(answer.code, 'SCRIPT_ERROR', expression);
    assert.match(answer.error, text);
  }
  assert.equal((await refused('  ')).code, 'INVALID_PARAMS');
});

test('an endless expression is stopped, at once or after an await, and the page goes on', async () => {
  for (const expression of ['for (;;);', 'await null; for (;;);', 'new Promise(() => {})']) {
    const answer = await refused(expression, { timeout: 400 });
    assert.equal(answer.code, 'TIMEOUT', `${expression}: ${answer.error}`);
    assert.equal(answer.maybe_executed, true);
    const ticks = await b.inPage('/app', 'ticks');
    for (let i = 0; i < 100 && (await b.inPage('/app', 'ticks')) === ticks; i++) await sleep(20);
    assert.ok((await b.inPage('/app', 'ticks')) > ticks, expression);
  }
  assert.equal((await evaluate('1 + 1')).result, 2);
});

test('a dialog that it opens is told, and answered by handle_dialog', async () => {
  const answer = await refused('alert("hello")');
  assert.equal(answer.code, 'DIALOG_OPEN');
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
  assert.equal((await evaluate('1')).result, 1);
});

test('read-only rules it out even while it is on', async () => {
  policy('read-only', 'on');
  assert.match((await refused('1')).error, /^forbidden: read-only/);
  assert.equal((await b.fails('get_page_markdown', { url: `${b.base}/app` })).code, 'PERMISSION_DENIED');
  assert.equal((await b.call('list_tabs')).success, true);
  policy('read-only', 'off');
  assert.equal((await evaluate('1')).result, 1);
});

test('off again by itself when its time is up', async () => {
  policy('evaluate', 'on', '--for', '4s');
  assert.equal((await evaluate('1')).result, 1);
  let answer;
  for (let i = 0; i < 200; i++) {
    answer = await b.call('evaluate', { tab_id: tab, expression: '1' });
    if (!answer.success) break;
    await sleep(50);
  }
  assert.equal(answer.code, 'PERMISSION_DENIED');
});
