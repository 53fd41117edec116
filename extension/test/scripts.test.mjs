// run_script: the kinds of values, the kinds of failures, and the page's policy, which does not bind it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b, tab;
before(async () => {
  b = await start({
    pages: { '/': '<title>Script</title><h1 id="h" class="big title">Hello</h1><iframe srcdoc="<p id=inner>in</p>"></iframe><iframe sandbox srcdoc="other"></iframe><script>var secret = 7</script>', '/two': '<title>Two</title>' },
    routes: { '/strict': { body: '<title>Strict</title><h1>x</h1>', headers: { 'content-security-policy': "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'" } } },
  });
  tab = await b.open('/');
});
after(() => b?.stop());

for (const [code, want] of [
  ['null', null], ['"text ✓"', 'text ✓'], ['false', false], ['0.1 + 0.2', 0.1 + 0.2], ['-0', 0],
  ['Number.MAX_SAFE_INTEGER', Number.MAX_SAFE_INTEGER], ['2 ** 53', '9007199254740992'], ['-(2 ** 60)', '-1152921504606846976'],
  ['NaN', 'NaN'], ['-Infinity', '-Infinity'], ['12345678901234567890n', '12345678901234567890'],
  ['[undefined, () => 1, Symbol("s")]', [null, '[Function anonymous]', 'Symbol(s)']],
  ['({ a: undefined, b: [1n], __proto__: null })', { b: ['1'] }],
  ['JSON.parse(\'{"__proto__": 1}\')', JSON.parse('{"__proto__": 1}')],
  ['new Map([["k", new Set([1])]])', [['k', [1]]]],
  ['new Date(0)', '1970-01-01T00:00:00.000Z'], ['/x/g', '/x/g'], ['new TypeError("no")', 'TypeError: no'],
  ['(() => { const a = { n: 1 }; a.self = a; a.twice = [a.n, a.n]; return a })()', { n: 1, self: '[Circular]', twice: [1, 1] }],
  ['(() => { const o = {}; return [o, o] })()', [{}, {}]],
  ['document.querySelector("#h")', { __element: 'h1', id: 'h', class: 'big title', text: 'Hello' }],
  ['document.querySelectorAll("h1")', [{ __element: 'h1', id: 'h', class: 'big title', text: 'Hello' }]],
  ['document.querySelector("iframe").contentDocument.querySelector("#inner")', { __element: 'p', id: 'inner', class: '', text: 'in' }],
  ['({ get bad() { throw new Error("x") }, good: 1 })', { bad: '[Throws Error: x]', good: 1 }],
  ['window', '[Window]'], ['Array.from(document.querySelectorAll("iframe"), (f) => f.contentWindow)', ['[Window]', '[Window]']], ['new Uint8Array([1, 2])', [1, 2]],
  ['new Promise((r) => setTimeout(r, 50, "later"))', 'later'],
  ['let n = 20; n + 1', 21], ['await Promise.resolve(5)', 5], ['const r = await 6; return r', 6], ['return 7', 7],
  ['{ a: 1 }', { a: 1 }], ['{ title: document.title, n: 2 };', { title: 'Script', n: 2 }], ['{ let n = 3; n }', 3], ['{}', {}],
  ['typeof secret', 'undefined'],
  ['[1, { toJSON() { throw new Error("t") } }]', [1, '[Throws Error: t]']], ['[new Proxy({}, { get() { throw 1 } }), new Proxy({}, { ownKeys() { throw Object.create(null) } })]', ['[Throws 1]', '[Throws]']],
  ['(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return { proxy, rest: 1 } })()', { proxy: "[Throws TypeError: Cannot perform 'get' on a proxy that has been revoked]", rest: 1 }],
  ['[Object(1n), Object(Symbol("s"))]', ['1', 'Symbol(s)']], ['new DataView(new ArrayBuffer(4))', { __bytes: 4 }], ['document.querySelector("#h").classList', ['big', 'title']],
  ['[new URLSearchParams("a=1&a=2"), new Headers({ x: "y" })]', [[['a', '1'], ['a', '2']], [['x', 'y']]]],
  ['[[,1], new Float32Array([1.5, NaN])]', [[null, 1], [1.5, 'NaN']]],
]) {
  test(`value: ${code}`, async () => {
    assert.deepEqual((await b.ok('run_script', { tab_id: tab, code })).result, want);
  });
}

test('undefined leaves the result out', async () => {
  assert.deepEqual(await b.ok('run_script', { tab_id: tab, code: 'undefined' }), { tab_id: tab });
});

for (const [code, want] of [
  ['null.nothing', /TypeError.*null/], ['(() => { throw new Error("boom 1") })()', /boom 1/], ['Promise.reject(new TypeError("later 2"))', /later 2/],
  ['Promise.reject("plain 3")', /plain 3/], ['Promise.reject()', /rejected/], ['throw { code: 4 }', /"code":4/], ['let let = (', /SyntaxError/],
  ['notDefinedAnywhere', /notDefinedAnywhere/], ['JSON.parse("{")', /SyntaxError.*JSON/],
]) {
  test(`failure: ${code}`, async () => {
    const answer = await b.fails('run_script', { tab_id: tab, code });
    assert.equal(answer.code, 'SCRIPT_ERROR');
    assert.match(answer.error, want);
  });
}

test('a list of nothing but length is cut, and says so', async () => {
  const { result } = await b.ok('run_script', { tab_id: tab, code: 'new Array(4e9)' });
  assert.equal(result.at(-1), '[Truncated]');
  assert.equal(result.length, 5_000_001);
});

test('what a script leaves on the prototypes is no part of the next result', async () => {
  const other = await b.open('/two');
  await b.ok('run_script', { tab_id: other, code: 'Array.prototype.toJSON = () => "mine"; Object.prototype.get = () => 1; 0' });
  assert.deepEqual((await b.ok('run_script', { tab_id: other, code: '({ list: [1, [2]] })' })).result, { list: [1, [2]] });
  const answer = await b.fails('run_script', { tab_id: other, code: 'JSON.stringify = () => "no json"; 1' });
  assert.deepEqual([answer.code, /JSON\.stringify/.test(answer.error)], ['SCRIPT_ERROR', true]);
});

test('code that fails with a SyntaxError of its own is not run a second time', async () => {
  await b.fails('run_script', { tab_id: tab, code: 'document.body.dataset.n = Number(document.body.dataset.n ?? 0) + 1; JSON.parse("{")' });
  assert.equal(await b.page(tab, 'document.body.dataset.n'), '1');
});

test('no code, empty code, code that is none', async () => {
  for (const code of [undefined, '', 7, null]) assert.equal((await b.fails('run_script', { tab_id: tab, code })).code, 'INVALID_PARAMS');
});

test('a strict policy with trusted types binds neither eval nor Function', async () => {
  const strict = await b.open('/strict');
  assert.equal(await b.page(strict, 'document.querySelectorAll("h1").length + eval("1") + new Function("return 3")()'), 5);
});

test('a script that leads the page away is answered at once, and the tab goes on', async () => {
  const away = await b.open('/');
  const began = Date.now();
  const answer = await b.fails('run_script', { tab_id: away, code: 'location.href = "/two"; new Promise(() => {})' });
  assert.equal(answer.code, 'NAVIGATION_FAILED');
  assert.equal(answer.maybe_executed, true);
  assert.ok(Date.now() - began < 5000);
  assert.equal(await b.page(away, 'document.title'), 'Two');
});

test('a deadline ends a script that waits for ever', async () => {
  const answer = await b.fails('run_script', { tab_id: tab, code: 'new Promise(() => {})' }, { timeout_ms: 700 });
  assert.equal(answer.code, 'TIMEOUT');
  assert.equal(answer.maybe_executed, true);
});

test('a result of several megabytes arrives whole', async () => {
  assert.equal((await b.page(tab, '"x".repeat(5e6)')).length, 5e6);
});
