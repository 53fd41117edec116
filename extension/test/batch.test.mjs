// batch and fill_form: steps that use what earlier ones gave, errors of their own, and forms with all kinds of fields.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b;
before(async () => {
  b = await start({
    pages: {
      '/': '<title>Home</title><input id="q"><p id="p">text</p><button id="go" onclick="count(`clicks`)">Go</button><script src="/__page.js"></script>',
      '/form': `<title>Form</title><script src="/__page.js"></script>
        <form><label>Name <input name="name"></label><label>Age <input name="age" type="number"></label>
        <label><input type="checkbox" name="news" checked> Newsletter</label><label><input type="radio" name="plan" value="pro"> Pro</label>
        <label>Country <select name="country"><option value="">Choose</option><option value="de">Germany</option><option value="fr">France</option></select></label>
        <label>Size <select name="size"><option value="1">Small</option><option value="2">Large</option></select></label></form>
        <script>document.querySelector('form').addEventListener('change', (e) => count('change ' + e.target.name))</script>`,
      '/framed': '<p>outside</p><iframe src="/form"></iframe>',
    },
  });
});
after(() => b?.stop());
const values = (tab, root = 'document') => b.page(tab, `Object.fromEntries(new FormData(${root}.querySelector('form')))`);

test('steps run in order; a reference takes what an earlier one gave, with its type', async () => {
  const { results, done, failed } = await b.ok('batch', { steps: [
    { method: 'new_tab', params: { url: `${b.base}/` } },
    { method: 'set_value', params: { tab_id: '$0.tab_id', selector: '#q', value: '$0.title' } },
    { method: 'get_value', params: { tab_id: '$0.tab_id', target: { value: '#q' } } },
    { method: 'list_tabs' },
    { method: 'run_script', params: { tab_id: '$3.tabs[1].tab_id', code: '1 + 1' } },
    { method: 'click', params: { tab_id: '$0.tab_id', selector: '#go' } },
  ] });
  assert.equal(failed, undefined);
  assert.equal(done, 6);
  assert.equal(results[2].result.value, 'Home');
  assert.equal(await b.page(results[0].result.tab_id, 'document.querySelector("#q").value'), 'Home');
  await b.site.heard('clicks');
  assert.equal(b.said.clicks, 1);
});

test('a text that begins with $ is written with $$; one that only looks a little like a reference is a text', async () => {
  const tab = await b.open('/');
  const set = (value) => ({ method: 'set_value', params: { tab_id: tab, selector: '#q', value } });
  const { results } = await b.ok('batch', { steps: [set('$$0.tab_id'), set('$5'), set('costs $0.99'), set('$x.y')] });
  assert.deepEqual(results.map((r) => r.result.value), ['$0.tab_id', '$5', 'costs $0.99', '$x.y']);
});

test('the first step that fails ends it, with its own error; what came before is done', async () => {
  const tab = await b.open('/');
  const steps = [
    { method: 'set_value', params: { tab_id: tab, selector: '#q', value: 'before' } },
    { method: 'click', params: { tab_id: tab, selector: '#nope', timeout: 100 } },
    { method: 'set_value', params: { tab_id: tab, selector: '#q', value: 'after' } },
  ];
  const stopped = await b.ok('batch', { steps });
  assert.deepEqual([stopped.results.length, stopped.done, stopped.first_failed], [2, 1, 1]);
  assert.equal(stopped.results[1].code, 'ELEMENT_NOT_FOUND');
  assert.match(stopped.results[1].error, /#nope/);
  assert.equal(await b.page(tab, 'document.querySelector("#q").value'), 'before');
  const went = await b.ok('batch', { steps, stop_on_error: false });
  assert.deepEqual([went.results.length, went.done, went.first_failed], [3, 2, 1]);
  assert.equal(await b.page(tab, 'document.querySelector("#q").value'), 'after');
});

test('each step is checked as a request of its own', async () => {
  const tab = await b.open('/');
  const { results } = await b.ok('batch', { stop_on_error: false, steps: [
    { method: 'no_such_method' },
    { method: 'click', params: { tab_id: tab } },
    { method: 'batch', params: { steps: [{ method: 'list_tabs' }] } },
    { method: 'upload', params: { tab_id: tab, selector: '#q', paths: ['/etc/passwd'] } },
    { method: 'click', params: { tab_id: '$9.tab_id', selector: '#go' } },
    { method: 'click', params: { tab_id: '$0.tab_id', selector: '#go' } },
    { method: 'run_script', params: { tab_id: tab, code: 'throw new Error("mine")' } },
    { method: 'list_tabs', params: { __proto__: { x: 1 } } },
  ] });
  assert.deepEqual(results.map((r) => r.code ?? 'ok'), ['UNKNOWN_METHOD', 'INVALID_PARAMS', 'INVALID_PARAMS', 'UNSUPPORTED', 'INVALID_PARAMS', 'INVALID_PARAMS', 'SCRIPT_ERROR', 'ok']);
  assert.match(results[4].error, /\$\$/);
  assert.equal(results[6].maybe_executed, true);
});

test('too many steps, or none, are refused before anything runs', async () => {
  for (const steps of [[], Array.from({ length: 101 }, () => ({ method: 'new_tab' }))]) assert.equal((await b.fails('batch', { steps })).code, 'INVALID_PARAMS');
});

test('all steps share one time limit', async () => {
  const tab = await b.open('/');
  const answer = await b.call('batch', { steps: [{ method: 'click', params: { tab_id: tab, selector: '#go' } }, { method: 'wait_for', params: { tab_id: tab, selector: '#nope', text: 'never', timeout: 20_000 } }] }, { timeout_ms: 1500 });
  assert.ok(answer.success ? answer.result.first_failed === 1 : answer.maybe_executed);
});

test('fill_form: every kind of field, and what each holds now', async () => {
  const tab = await b.open('/form');
  const { filled } = await b.ok('fill_form', { tab_id: tab, fields: [
    { target: { by: 'label', value: 'Name' }, value: 'Größe 测试' },
    { selector: '[name=age]', value: 42 },
    { target: { by: 'label', value: 'Newsletter' }, checked: false },
    { target: { by: 'label', value: 'Pro' }, checked: true },
    { target: { by: 'label', value: 'Country' }, option: 'Germany' },
    { target: { by: 'label', value: 'Size' }, option: 1 },
  ] });
  assert.deepEqual(await values(tab), { name: 'Größe 测试', age: '42', plan: 'pro', country: 'de', size: '2' });
  assert.deepEqual(filled.map((f) => f.value ?? f.checked), ['Größe 测试', '42', false, true, 'de', '2']);
  await b.ok('fill_form', { tab_id: tab, fields: [{ selector: '[name=country]', option: 'fr' }] });
  assert.equal((await values(tab)).country, 'fr');
  assert.equal(b.said['change news'], 1);
});

test('fill_form in a frame', async () => {
  const tab = await b.open('/framed');
  await b.ok('fill_form', { tab_id: tab, fields: [{ target: { by: 'label', value: 'Name' }, value: 'inside' }] });
  assert.equal(await b.page(tab, "frames[0].document.querySelector('[name=name]').value"), 'inside');
});

test('fill_form says which field could not be filled, and that those before it are', async () => {
  const tab = await b.open('/form');
  const error = await b.fails('fill_form', { tab_id: tab, timeout: 200, fields: [{ selector: '[name=name]', value: 'x' }, { selector: '#nope', value: 'y' }] });
  assert.deepEqual([error.code, error.maybe_executed], ['ELEMENT_NOT_FOUND', true]);
  assert.match(error.error, /^fields\[1\].*field before it is filled/);
  assert.equal((await values(tab)).name, 'x');
  for (const fields of [[], [{ selector: '#a' }], [{ selector: '#a', value: 'x', checked: true }]]) assert.equal((await b.fails('fill_form', { tab_id: tab, fields })).code, 'INVALID_PARAMS');
});
