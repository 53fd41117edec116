// What seed 1 says and no other test asks of a page: old spellings, focus, a person's own tabs, tables as a page has them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/old': `<title>Old</title><input id="i"><input id="c" type="checkbox"><select id="s"><option value="a">A</option><option value="b">B</option></select><input id="full" value="x"><button id="go">Go</button>
    <div id="box" style="height:50px;overflow:auto"><div style="height:500px"></div></div><script>
    window.n = 0; window.keys = []; document.querySelector('#go').onclick = () => n++; document.querySelector('#i').addEventListener('keydown', (e) => keys.push(e.key));</script>`,
  '/two': '<title>Two</title>',
  '/spa': `<title>App</title><h1>First</h1><button id="go">Go</button><script>document.querySelector('#go').onclick = () => { history.pushState(0, '', '/spa/next'); document.querySelector('h1').textContent = 'Next'; };</script>`,
  '/behind': `<title>Behind</title><body><script>window.n = 0; setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<button id="go" disabled onclick="n++">Go</button>');
    setTimeout(() => { document.querySelector('#go').disabled = false; }, 300); }, 500);</script>`,
  '/tables': `<title>Tables</title><table><thead><tr><th rowspan="2">Name</th><th colspan="2">Size</th></tr><tr><th>W</th><th style="text-align:right">H</th></tr></thead>
    <tbody><tr><td rowspan="2">a</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr><tr><td colspan="3">all</td></tr></tbody></table>
    <p>between</p><table><tr><td>x</td><td>y</td></tr><tr><td>z|</td><td><a href="l">l</a></td></tr></table>`,
  '/mine': '<title>Mine</title><button id="go">Go</button>',
  '/ask': '<title>Ask</title><button>x</button><script>addEventListener("beforeunload", (e) => { e.preventDefault(); e.returnValue = "x"; })</script>',
};

let b;
before(async () => { b = await start({ pages, routes: { '/drop': { drop: true } } }); });
after(() => b?.stop());

/** A tab as a person opens it: not through the bridge. */
async function opened(url) {
  await b.chromium.cdp.send('Target.createTarget', { url });
  for (const end = Date.now() + 10_000; ; await new Promise((r) => setTimeout(r, 50))) {
    const tab = (await b.ok('list_tabs')).tabs.find((t) => t.url === url && t.title !== '' && t.title !== url);
    if (tab) return tab;
    assert.ok(Date.now() < end, url);
  }
}

test('a selector alone, as older clients send it, for every method that takes a target', async () => {
  const tab = await b.open('/old');
  const old = (method, selector, more = {}) => b.ok(method, { tab_id: tab, selector, ...more });
  await old('set_value', '#i', { value: 'old' });
  await old('check', '#c');
  await old('select_option', '#s', { value: 'b' });
  await old('clear', '#full');
  await old('press_key', '#i', { key: 'F2' });
  await old('scroll', '#box', { dy: 40 });
  await old('click', '#go');
  assert.equal((await old('get_value', '#i')).value, 'old');
  assert.deepEqual(await b.inPage('/old', `['#i', '#s', '#full'].map((id) => document.querySelector(id).value)`), ['old', 'b', '']);
  assert.deepEqual(await b.inPage('/old', '[document.querySelector("#c").checked, document.querySelector("#box").scrollTop, n, keys.join()]'), [true, 40, 1, 'F2']);
});

test('a page that goes on within itself: its address is told, the document stays', async () => {
  const tab = await b.open('/spa');
  await b.inPage('/spa', 'window.kept = 1');
  await b.ok('click', { tab_id: tab, target: { value: '#go' } });
  assert.deepEqual(await b.inPage('/spa/next', '[location.pathname, kept]'), ['/spa/next', 1]);
  const { url, text } = await b.ok('get_page_content', { tab_id: tab });
  assert.equal(url, `${b.base}/spa/next`);
  assert.match(text, /^Next/);
});

test('behind another tab, where timers and frames stand still: what comes late and is disabled at first is clicked once', async () => {
  const tab = await b.open('/behind');
  await b.open('/two?front');
  const { clicked } = await b.ok('click', { tab_id: tab, target: { value: '#go' }, timeout: 15_000 });
  assert.equal(clicked.id, 'go');
  assert.deepEqual(await b.inPage('/behind', '[n, document.visibilityState]'), [1, 'hidden']);
});

test('tables of a page: spans, alignment, several header rows and none', async () => {
  const tab = await b.open('/tables');
  const { markdown } = await b.ok('get_page_markdown', { tab_id: tab, full: true });
  assert.equal(markdown, [
    '| Name | Size W | Size H |', '| --- | --- | ---: |', '| a | 1 | 2 |', '| a | 3 | 4 |', '| all |  |  |', '', 'between', '',
    '|  |  |', '| --- | --- |', '| x | y |', `| z\\| | [l](${b.base}/l) |`,
  ].join('\n'));
});

test('a picture of a page that no script may enter: without its sizes', async () => {
  const tab = await b.open('/old?gone');
  assert.equal((await b.fails('navigate', { tab_id: tab, url: `${b.base}/drop` })).code, 'NAVIGATION_FAILED');
  const { width, height, size, data } = await b.ok('screenshot', { tab_id: tab });
  assert.deepEqual([width, height, size], [null, null, data.length - 'data:image/png;base64,'.length]);
});

test('an agent\'s window opens and is worked in without the focus; foreground and activate_tab take it', async () => {
  // A headless browser calls every window focused, so what Chrome was asked for is what counts.
  await b.chromium.inWorker(`void (() => {
    globalThis.asked = [];
    for (const name of ['create', 'update']) {
      const real = chrome.windows[name].bind(chrome.windows);
      chrome.windows[name] = (...args) => { asked.push([name, args.at(-1).focused]); return real(...args); };
    }
  })()`);
  const asked = () => b.chromium.inWorker('globalThis.asked');
  const agent = await b.client({ client_id: 'mcp-77-f' });
  const { tab_id: tab } = await agent.ok('new_tab', { url: `${b.base}/old?agent` });
  await agent.ok('set_value', { target: { value: '#i' }, value: 'agent' });
  await agent.ok('screenshot');
  await agent.ok('navigate', { url: `${b.base}/two?agent` });
  assert.deepEqual(await asked(), [['create', false]]);
  await agent.ok('screenshot', { foreground: true });
  assert.deepEqual((await asked()).slice(1), [['update', true]]);
  await agent.ok('activate_tab', { tab_id: tab });
  assert.deepEqual((await asked()).slice(2), [['update', true]]);
  assert.equal((await agent.ok('close_agent_window')).closed, true);
  agent.close();
});

test('a person\'s tab is left alone by all who do not name it', async () => {
  const mine = await opened(`${b.base}/mine`);
  assert.equal(mine.owner, undefined);
  await b.inPage('/mine', 'void (window.kept = "yes", addEventListener("click", () => { kept = "clicked"; }))');
  const agent = await b.client({ client_id: 'mcp-78-g' });
  assert.equal((await agent.fails('click', { target: { value: '#go' }, timeout: 300 })).code, 'TAB_NOT_FOUND');
  await agent.ok('navigate', { url: `${b.base}/two?own` });
  await agent.ok('get_page_markdown', { url: `${b.base}/two?read` });
  await agent.ok('close_agent_window');
  await agent.ok('close_auto_tabs', { owner: 'mcp-78-g' });
  await b.ok('close_auto_tabs');
  assert.equal(await b.inPage('/mine', 'kept'), 'yes');
  agent.close();
});

// Last, and on the other site: the question may stay open until the tab is closed.
test('a person\'s page that asks whether it may be left: answered in time, and truly', async () => {
  const { tab_id: tab } = await opened(`${b.cross}/ask`);
  // Its title may be known before the rest of it is parsed.
  await b.ok('wait_for', { tab_id: tab, target: { value: 'button' }, state: 'attached' });
  await b.inPage('/ask', 'document.querySelector("button").click()');
  const from = Date.now();
  const answer = await b.call('navigate', { tab_id: tab, url: `${b.cross}/two?left` });
  assert.ok(Date.now() - from < 15_000);
  const { url } = (await b.ok('list_tabs')).tabs.find((t) => t.tab_id === tab);
  assert.deepEqual([answer.code, url], answer.success ? [undefined, `${b.cross}/two?left`] : ['PAGE_BLOCKED', `${b.cross}/ask`]);
  assert.equal((await b.ok('close_tab', { tab_id: tab })).closed, true);
});
