// Keys go where the focus is when they come. A page that is left, closed, taken away or held up by a dialog in the middle of them hears no more of
// them: then none is told as pressed that nobody heard, and the next page gets none that was meant for this one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const HEARS = (key) => `<!doctype html><title>${key}</title><script>
  const count = (what) => navigator.sendBeacon('/__say', JSON.stringify({ key: what, count: true }));
  addEventListener('keydown', (e) => { count('${key}'); if (e.key === 'Enter') count('${key}-enter'); });</script>`;
const pages = {
  '/': '<title>Free</title>',
  '/leaves': `${HEARS('leaves')}<input id="f" autofocus><script>f.onkeydown = (e) => { if (e.key === '!') location.href = '/next'; }</script>`,
  '/next': `${HEARS('next')}<input autofocus>`,
  '/form': `${HEARS('form')}<form action="/sent"><input id="f" name="q" autofocus></form>`,
  '/sent': '<title>Sent</title>',
  '/closed': `${HEARS('closed')}<input id="f" autofocus>`,
  '/around': `${HEARS('around')}<iframe src="{{cross}}/inner" style="width:300px;height:100px"></iframe><script>onmessage = () => document.querySelector('iframe').remove();</script>`,
  '/inner': `${HEARS('inner')}<input id="g"><script>g.onkeydown = (e) => { if (e.key === '!') parent.postMessage('away', '*'); }</script>`,
  '/asks': `${HEARS('asks')}<input id="f" autofocus><script>f.onkeydown = (e) => { if (e.key === 'a') alert('Now?'); }</script>`,
  '/quick': `${HEARS('quick')}<input id="f" autofocus><script>f.onkeydown = (e) => { if (e.key === 'x') location.href = '/sent'; }</script>`,
};
const TAIL = 'b'.repeat(60);
let b;
before(async () => { b = await start({ pages }); await b.open('/'); });
after(() => b?.stop());

const focused = async (path, value = '#f') => {
  const tab = await b.open(path);
  await b.ok('click', { tab_id: tab, target: { value } });
  return tab;
};
const said = (key) => b.said[key] ?? 0;

for (const [method, keys] of [['type_text', { text: `ab!${TAIL}`, delay_ms: 20 }], ['send_keys', { keys: ['a', 'b', '!', ...TAIL].join(', ') }]]) {
  test(`${method}: the page is left in the middle: an error says so at once, and the next page gets none of the rest`, async () => {
    for (const key of ['leaves', 'next']) b.said[key] = 0;
    const tab = await focused('/leaves');
    const answer = await b.call(method, { tab_id: tab, ...keys });
    if (answer.success) {
      // Keys are quick: the page may have had them all before it was left.
      assert.equal(method, 'send_keys');
      await b.site.heard('leaves', (n) => n === 63);
    } else {
      assert.deepEqual([answer.code, answer.maybe_executed], ['NAVIGATION_FAILED', true], answer.error);
      assert.match(answer.error, /page that had the focus .* was left while keys were sent: \d+ of 63 had been sent/);
    }
    await b.ok('wait_for', { tab_id: tab, url: '/next' });
    // One may have been on its way.
    assert.ok(said('next') <= 1, `${said('next')} keys in the next page`);
  });
}

test('the key that takes the page away is the last: it was pressed, and where it led is told', async () => {
  let tab = await focused('/form');
  const sent = await b.ok('send_keys', { tab_id: tab, keys: 'x, Enter' });
  assert.deepEqual([sent.keys, /\/sent\?q=x$/.test(sent.navigated)], [['x', 'Enter'], true]);
  tab = await focused('/form');
  const typed = await b.ok('type_text', { tab_id: tab, text: 'y\n' });
  assert.match(typed.navigated, /\/sent\?q=y$/);
  await b.site.heard('form-enter', (n) => n === 2);
  tab = await focused('/quick');
  await b.ok('send_keys', { tab_id: tab, keys: 'x' });
  await b.site.heard('quick');
});

test('the tab is closed by another client in the middle: whoever types in it is told at once', async () => {
  const other = await b.client();
  for (const [method, params] of [['type_text', { text: TAIL, delay_ms: 40 }], ['send_keys', { keys: [...TAIL.repeat(8)].join(', ') }], ['type_text', { text: '你'.repeat(60), delay_ms: 40 }]]) {
    b.said.closed = 0;
    const tab = await focused('/closed');
    const typing = b.call(method, { tab_id: tab, ...params });
    if (method === 'type_text' && params.text !== TAIL) await b.ok('get_value', { tab_id: tab, target: { value: '#f' } });
    else await b.site.heard('closed', (n) => n > 1);
    await other.ok('close_tab', { tab_id: tab });
    const closed = Date.now();
    const answer = await typing;
    assert.deepEqual([answer.code, answer.maybe_executed], ['TAB_NOT_FOUND', true], JSON.stringify(answer));
    assert.ok(Date.now() - closed < 2000, `${Date.now() - closed} ms later`);
  }
  other.close?.();
});

test('the frame with the focus is taken away in the middle: what comes after is not typed into the page around it', async () => {
  const tab = await focused('/around', '#g');
  const answer = await b.call('type_text', { tab_id: tab, text: `ab!${TAIL}`, delay_ms: 20 });
  assert.deepEqual([answer.code, answer.maybe_executed], ['NAVIGATION_FAILED', true], JSON.stringify(answer));
  assert.match(answer.error, /frame that had the focus/);
  await b.page(tab, '1');
  assert.ok(said('around') <= 1, `${said('around')} keys in the page around`);
});

test('a dialog opens at one of several keys: the rest is not pressed, now or when the dialog has gone', async () => {
  const tab = await focused('/asks');
  const { code, error, maybe_executed } = await b.fails('send_keys', { tab_id: tab, keys: 'c, a, b, b, b' });
  assert.deepEqual([code, maybe_executed], ['DIALOG_OPEN', true]);
  assert.match(error, /Now\?.*2 of 5 had been sent by then/);
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
  await b.ok('send_keys', { tab_id: tab, keys: 'Shift' });
  await b.site.heard('asks', (n) => n >= 3);
  assert.equal(await b.inPage('/asks', 'f.value'), 'ca');
  const last = await b.ok('send_keys', { tab_id: tab, keys: 'a' });
  assert.equal(last.dialog.message, 'Now?');
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
});

test('a page that extensions cannot work on hears nothing for us, and gets its keys all the same', async () => {
  const tab = await b.open('data:text/html,<input id="closed" autofocus>');
  await b.ok('send_keys', { tab_id: tab, keys: 'a, b' });
  assert.equal(await b.inPage('data:text/html', 'document.querySelector("#closed").value'), 'ab');
});
