// Dialogs: told at once with their text, answered by command, while other tabs go on; and what can be done about those that opened
// unseen.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const SAY = '<script src="/__page.js"></script>';
const pages = {
  '/': '<!doctype html><title>Free</title><button id="x">x</button>',
  '/asks': `<!doctype html><title>Asks</title>${SAY}<button id="c" onclick="say('confirmed', confirm('Sure? 确定'))">c</button><button id="p" onclick="say('prompted', prompt('Name?', 'Kim'))">p</button>
    <button id="a" onclick="alert('Hello'); say('alerted', true)">a</button><button id="two" onclick="alert('First'); alert('Second'); say('both', true)">two</button>
    <input id="f" oninput="if (this.value === 'x') say('typed', confirm('Typed?'))"><div id="h" onmouseenter="say('over', confirm('Over?'))" style="width:100px">hover</div>
    <button id="late" onclick="setTimeout(() => say('late', confirm('Later?')), 300)">late</button>`,
  '/leave': `<!doctype html><title>Leave</title><a id="next" href="/">next</a><input id="f"><script>addEventListener('beforeunload', (e) => { e.preventDefault(); e.returnValue = 'x'; });</script>`,
  '/in': '<!doctype html><title>Outer</title><iframe src="http://b.test:{{port}}/asks" width="600" height="300"></iframe>',
  '/stuck': '<!doctype html><title>Stuck</title><button id="s" onclick="for (;;);">s</button>',
  '/print': `<!doctype html><title>Print</title>${SAY}<button id="p" onclick="print(); say('printed', true)">print</button>`,
};
let b, free;
before(async () => {
  b = await start({ pages, flags: ['--host-resolver-rules=MAP *.test 127.0.0.1'], routes: { '/secret': { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: 'no' } } });
  for (const [path, body] of Object.entries(b.site.pages)) b.site.pages[path] = body.replaceAll('{{port}}', b.site.port);
  free = await b.open('/');
});
after(() => b?.stop());
const click = (tab, value, more = {}) => b.ok('click', { tab_id: tab, target: { value }, trusted: true, ...more });
const within = async (ms, work) => {
  const from = Date.now();
  const result = await work();
  assert.ok(Date.now() - from < ms, `took ${Date.now() - from} ms`);
  return result;
};

test('a confirm is told by the click, by every later call, and answered by command', async () => {
  const tab = await b.open('/asks');
  const clicked = await within(4000, () => click(tab, '#c'));
  assert.deepEqual(clicked.dialog, { type: 'confirm', message: 'Sure? 确定' });
  for (const [method, params] of [['get_page_content', {}], ['click', { target: { value: '#a' } }], ['type_text', { text: 'x' }], ['run_script', { code: '1' }], ['snapshot', {}], ['click', { target: { value: '#a' }, trusted: true }]]) {
    const { code, error } = await within(2000, () => b.fails(method, { tab_id: tab, ...params }));
    assert.equal(code, 'DIALOG_OPEN', `${method}: ${error}`);
    assert.match(error, /"Sure\? 确定".*handle_dialog/);
  }
  assert.equal((await b.ok('get_page_content', { tab_id: free })).title, 'Free');
  assert.deepEqual(await b.ok('handle_dialog', { tab_id: tab, accept: true }), { type: 'confirm', message: 'Sure? 确定', accepted: true, tab_id: tab });
  assert.equal(await b.site.heard('confirmed', (v) => v === true), true);
  await click(tab, '#c');
  await b.ok('handle_dialog', { tab_id: tab, accept: false });
  assert.equal(await b.site.heard('confirmed', (v) => v === false), false);
  assert.equal((await b.ok('get_page_content', { tab_id: tab })).title, 'Asks');
  assert.equal((await within(3000, () => b.fails('handle_dialog', { tab_id: tab, accept: true }))).code, 'INVALID_REQUEST');
});

test('what is pressed next, by a point or another element, is not kept from the page by the click that opened a dialog', async () => {
  for (const next of ['click', 'mouse_click']) {
    const tab = await b.open('/asks');
    b.site.said.alerted = undefined;
    await click(tab, '#c');
    await b.ok('handle_dialog', { tab_id: tab, accept: true });
    await b.site.heard('confirmed');
    const { x, y } = await b.page(tab, `(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 }))(document.querySelector('#a').getBoundingClientRect())`);
    const { dialog } = next === 'click' ? await click(tab, '#a') : await b.ok('mouse_click', { tab_id: tab, x, y });
    if (dialog) assert.equal(dialog.message, 'Hello');
    await b.ok('handle_dialog', { tab_id: tab, accept: true });
    assert.equal(await b.site.heard('alerted'), true);
  }
});

test('a prompt takes a text, or its own offer, or Cancel', async () => {
  const tab = await b.open('/asks');
  for (const [answer, said] of [[{ accept: true, prompt_text: 'Zoë' }, 'Zoë'], [{ accept: true }, 'Kim'], [{ accept: false }, null]]) {
    b.site.said.prompted = undefined;
    await click(tab, '#p');
    assert.equal((await b.ok('handle_dialog', { tab_id: tab, ...answer })).type, 'prompt');
    assert.equal(await b.site.heard('prompted'), said);
  }
});

test('two alerts, one after the other; prompt_text only for a prompt', async () => {
  const tab = await b.open('/asks');
  await click(tab, '#two');
  assert.equal((await b.fails('handle_dialog', { tab_id: tab, accept: true, prompt_text: 'x' })).code, 'INVALID_PARAMS');
  assert.equal((await b.ok('handle_dialog', { tab_id: tab, accept: true })).message, 'First');
  assert.equal((await b.ok('handle_dialog', { tab_id: tab, accept: true })).message, 'Second');
  assert.equal(await b.site.heard('both'), true);
});

test('dialogs that open on a key, under the pointer, and a while after the click', async () => {
  const tab = await b.open('/asks');
  assert.equal((await b.ok('type_text', { tab_id: tab, target: { value: '#f' }, text: 'xyz' })).dialog.message, 'Typed?');
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
  assert.equal(await b.site.heard('typed'), true);
  assert.equal((await b.ok('hover', { tab_id: tab, target: { value: '#h' } })).dialog.message, 'Over?');
  await b.ok('handle_dialog', { tab_id: tab, accept: false });
  await click(tab, '#late');
  await new Promise((r) => setTimeout(r, 600));
  assert.match((await b.fails('get_page_content', { tab_id: tab })).error, /Later\?/);
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
  assert.equal(await b.site.heard('late'), true);
});

test('a dialog in a frame of another site', async () => {
  const tab = await b.open(`http://a.test:${b.site.port}/in`);
  b.site.said.confirmed = undefined;
  assert.equal((await click(tab, '#c')).dialog.message, 'Sure? 确定');
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
  assert.equal(await b.site.heard('confirmed'), true);
});

test('a plain click that opens a dialog is answered at once while the debugger is there', async () => {
  const tab = await b.open('/asks');
  await click(tab, '#f');
  const { code, error, maybe_executed } = await within(2500, () => b.fails('click', { tab_id: tab, target: { value: '#a' } }));
  assert.deepEqual([code, maybe_executed], ['DIALOG_OPEN', true]);
  assert.match(error, /an alert: "Hello"/);
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
  assert.equal(await b.site.heard('alerted'), true);
});

test('a dialog that opened unseen: the tab is blocked, handle_dialog says why; later ones of that tab are seen', async () => {
  const tab = await b.open('/asks');
  const { code } = await b.fails('click', { tab_id: tab, target: { value: '#c' } });
  assert.equal(code, 'PAGE_BLOCKED');
  const answer = await within(4000, () => b.fails('handle_dialog', { tab_id: tab, accept: true }));
  assert.equal(answer.code, 'PAGE_BLOCKED');
  assert.match(answer.error, /by hand or with close_tab/);
  assert.equal((await b.ok('get_page_content', { tab_id: free })).title, 'Free');
  await within(6000, () => b.ok('close_tab', { tab_id: tab }));
  const other = await b.open('/asks');
  assert.equal((await b.fails('handle_dialog', { tab_id: other, accept: true })).code, 'INVALID_REQUEST');
  const quick = await within(3000, () => b.fails('click', { tab_id: other, target: { value: '#c' } }));
  assert.equal(quick.code, 'DIALOG_OPEN');
  await b.ok('handle_dialog', { tab_id: other, accept: false });
});

test('beforeunload: told when a trusted click leads away, answered by command either way', async () => {
  const tab = await b.open('/leave');
  await b.ok('type_text', { tab_id: tab, target: { value: '#f' }, text: 'draft' });
  const done = await click(tab, '#next');
  assert.equal(done.dialog?.type, 'beforeunload');
  assert.equal((await b.fails('get_page_content', { tab_id: tab })).code, 'DIALOG_OPEN');
  assert.equal((await b.ok('handle_dialog', { tab_id: tab, accept: false })).type, 'beforeunload');
  assert.equal(await b.page(tab, 'document.title'), 'Leave');
  await click(tab, '#next');
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
  for (let i = 0; i < 50 && (await b.call('get_page_content', { tab_id: tab })).result?.title !== 'Free'; i++) await new Promise((r) => setTimeout(r, 50));
  assert.equal(await b.page(tab, 'document.title'), 'Free');
});

test('close_tab and navigate get away from a dialog', async () => {
  const tab = await b.open('/asks');
  await click(tab, '#c');
  assert.equal((await within(6000, () => b.ok('navigate', { tab_id: tab, url: `${b.base}/` }))).title, 'Free');
  const other = await b.open('/asks');
  await click(other, '#c');
  assert.equal((await within(5000, () => b.ok('close_tab', { tab_id: other }))).closed, true);
});

test('print() does not hold up the page or the tab', async () => {
  const tab = await b.open('/print');
  await within(5000, () => b.call('click', { tab_id: tab, target: { value: '#p' }, trusted: true }));
  assert.equal(await b.site.heard('printed'), true);
  assert.equal(await b.page(tab, 'document.title'), 'Print');
});

test('HTTP authentication that nobody answers: an error at once that says so, and other tabs go on', async () => {
  const { code, error } = await within(8000, () => b.fails('new_tab', { url: `${b.base}/secret` }, { timeout_ms: 12_000 }));
  assert.equal(code, 'NAVIGATION_FAILED');
  assert.match(error, /ERR_INVALID_AUTH_CREDENTIALS/);
  assert.equal((await b.ok('get_page_content', { tab_id: free })).title, 'Free');
});

test('a page that takes a press and never comes back from it is told as blocked, and may have been acted on', async () => {
  const tab = await b.open('/stuck');
  const { code, error, maybe_executed } = await within(9500, () => b.fails('click', { tab_id: tab, target: { value: '#s' }, trusted: true }));
  assert.deepEqual([code, maybe_executed], ['PAGE_BLOCKED', true]);
  assert.match(error, /stopped reacting/);
  assert.equal((await b.ok('get_page_content', { tab_id: free })).title, 'Free');
  assert.equal((await within(6000, () => b.ok('close_tab', { tab_id: tab }))).closed, true);
});
