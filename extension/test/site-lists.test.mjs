// The user's site lists: what they deny is not worked on, read, pictured, listed or told of, for whoever asks and however the tab got there
// (T124, T125, T126).
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { load } from './harness/bundle.mjs';
import { start } from './harness/start.mjs';

const SECRET = 'canary-of-the-denied-site';
const denied = `<title>${SECRET}</title><h1>${SECRET}</h1><button id="b">${SECRET}</button><input value="${SECRET}"><script>console.log('${SECRET}')</script>`;
const link = (id, href, more = '') => `<a id="${id}" href="${href}" ${more}>${id}</a> `;
let b;
let agent;
before(async () => {
  b = await start({
    daemon: 'hub', flags: ['--host-resolver-rules=MAP *.test 127.0.0.1'],
    pages: {
      '/': `<title>Fine</title><h1>fine</h1><input id="i" value="v">${link('to-denied', '{{cross}}/denied?q=path-of-it')}${link('to-hop', '/hop')}
        <button id="popup" onclick="window.open('{{cross}}/denied')">popup</button>
        <button id="several" onclick="for (const url of ['/back?1', '/back?2', '{{cross}}/denied?q=path-of-it', 'http://:::words of the page']) try { window.open(url); } catch { /* as natively */ }">several</button>`,
      '/denied': denied,
      '/meta': '<title>Meta</title><meta http-equiv="refresh" content="0; url={{cross}}/denied"><h1>meta</h1>',
      '/frames': '<title>Frames</title><h1>outer text</h1><iframe id="f" src="{{cross}}/denied" width="300" height="200"></iframe>',
      '/counter': '<title>Counter</title><h1>outer text</h1><iframe src="{{cross}}/denied" width="1" height="1"></iframe><p style="height:3000px">long</p>',
      '/blanks': `<title>Blanks</title><button onclick="const w = window.open('about:blank'); w.document.body.innerHTML = '<h1>${SECRET}</h1>'; w.document.title = '${SECRET}'">open</button>`,
      '/empties': '<title>Empties</title><button onclick="window.open(\'about:blank\')">open</button>',
      '/asks': `<title>Asks</title><script>fetch('{{cross}}/data?of=it').catch(() => {}); console.log('a word of the allowed page')</script>
        <iframe src="{{cross}}/denied"></iframe>`,
      '/leaves': '<title>Leaves</title><input id="i" onkeydown="location.href = \'{{cross}}/listens\'">',
      '/listens': '<script src="/__page.js"></script><h1>listens</h1><script>let keys = ""; addEventListener("keydown", (e) => say("keys", (keys += e.key)))</script>',
      '/spies': `<title>Spies</title><iframe srcdoc="<script>fetch('{{base}}/back?path-of-it')</script>"></iframe><img src="{{base}}/missing?path-of-it">
        <script>try { new WebSocket('{{base}}/socket?path-of-it'.replace('http', 'ws')); } catch {}</script>`,
      '/own': `<title>Own</title><img src="/missing?of-its-own"><script>new WebSocket('{{base}}/socket?of-its-own'.replace('http', 'ws')); new Worker('/work.js');
        fetch('{{cross}}/closed?path-of-it').catch(() => {}); console.log('its own word')</script>`,
      '/back': '<title>Back</title><h1>back</h1>',
    },
    routes: {
      '/slow': { body: '<title>Slow</title><p>came late</p>', delay: 1500 },
      '/hop': { redirect: '{{cross}}/denied?secret=1' },
      '/data': { body: '{}', type: 'application/json', headers: { 'access-control-allow-origin': '*' } },
      '/work.js': { body: 'setTimeout(() => fetch("/data?worker"), 300)', type: 'text/javascript' },
      '/hop-file': { redirect: '{{cross}}/file' },
      '/file': { body: SECRET, headers: { 'content-disposition': `attachment; filename="${SECRET}.txt"` } },
    },
  });
  agent = await b.client({ client_id: 'agent-a' });
});
after(() => b?.stop());
beforeEach(() => limit({ deny: ['localhost'] }));

const limit = (policy) => b.daemon.hub().tell({ type: 'policy', policy });
/** Refused for the site's sake, and nothing of it in the answer but its host. */
function refused(answer, host = 'localhost') {
  assert.equal(answer.code, 'PERMISSION_DENIED', JSON.stringify(answer));
  assert.match(answer.error, new RegExp(`^forbidden: domain ${host.replaceAll('.', '\\.')} is (?:not )?on the user's (?:deny|allow) list;`));
  silent(answer);
}
const silent = (answer) => assert.doesNotMatch(JSON.stringify(answer), new RegExp(`${SECRET}|path-of-it|secret=1|/denied|of=it`));
const openDenied = async () => {
  limit({});
  const tab = await b.open(`${b.cross}/denied`);
  limit({ deny: ['localhost'] });
  return tab;
};

test('patterns are compared with the host that the browser reads', async () => {
  const { SiteLists } = await load('policy/sites.ts');
  const denies = (pattern, url) => new SiteLists([], [pattern]).refusal(url) !== undefined;
  for (const [pattern, url] of [
    ['example.com', 'HTTPS://EXAMPLE.com./x'], ['EXAMPLE.com.', 'http://example.com'], ['example.com', 'https://allowed@example.com/'], ['example.com', 'http:\\\\example.com'],
    ['*.example.com', 'http://example.com'], ['*.example.com', 'http://a.b.example.com:81'], ['münchen.test', 'http://xn--mnchen-3ya.test/'], ['xn--mnchen-3ya.test', 'http://MÜNCHEN.test'],
    ['127.0.0.1', 'http://2130706433/'], ['127.1', 'http://127.0.0.1:8080'], ['127.0.0.1', 'http://[::ffff:127.0.0.1]/'], ['https://example.com', 'wss://example.com'], ['[::1]', 'http://[0:0:0:0:0:0:0:1]/'], ['example.com:443', 'https://example.com'], ['example.com:8080', 'ws://example.com:8080'],
    ['https://example.com', 'https://example.com:8443/'], ['example.com', 'blob:https://example.com/1-2'], ['example.com', 'view-source:http://example.com/'], ['example.com', 'http://ex%61mple.com/'], ['example.com', 'http://ｅｘａｍｐｌｅ.com'],
  ]) assert.ok(denies(pattern, url), `${pattern} ${url}`);
  for (const [pattern, url] of [
    ['example.com', 'http://a.example.com'], ['*.example.com', 'http://evilexample.com'], ['*.example.com', 'http://example.com.evil.test'], ['example.com', 'http://example.com@evil.test/'], ['example.com:8080', 'http://example.com'],
    ['https://example.com', 'http://example.com'], ['a.test', 'http://а.test'], ['example.com', 'about:blank'], ['example.com', 'chrome://example.com'], ['example.com', 'file:///example.com'],
  ]) assert.ok(!denies(pattern, url), `${pattern} ${url}`);
  const both = new SiteLists(['*.a.test'], ['bad.a.test']);
  assert.equal(both.refusal('http://x.a.test'), undefined);
  assert.match(both.refusal('http://bad.a.test'), /is on the user's deny list/);
  assert.match(both.refusal('http://b.test'), /is not on the user's allow list/);
  assert.match(both.refusal('data:text/html,x'), /of no site/);
  assert.equal(both.refusal('about:blank'), undefined);
  assert.match(new SiteLists(['::nonsense::'], []).refusal('http://a.test'), /not on/);
});

test('no method works in a tab of a denied site, for persons and agents; closing one\'s own and leading it away do', async () => {
  const tab = await openDenied();
  const el = { target: { value: '#b' } };
  const all = {
    activate_tab: {}, navigate: undefined, click: el, click_at: { x: 5, y: 5 }, press_key: { key: 'a' }, run_script: { code: 'document.title' }, scrape: { item: 'body', fields: { t: 'h1' } }, scroll: { dy: 10 }, set_value: { target: { value: 'input' }, value: 'x' },
    check: el, select_option: { ...el, value: 'x' }, clear: { target: { value: 'input' } }, get_value: { target: { value: 'input' } }, get_page_content: {}, get_page_markdown: {}, get_a11y_tree: {}, screenshot: {}, snapshot: {}, network: { action: 'start' }, console: {},
    wait_for: { text: SECRET }, go_back: {}, go_forward: {}, reload: {}, mouse_click: { x: 5, y: 5 }, type_text: { text: 'x' }, send_keys: { keys: 'a' }, insert_text: { text: 'x' }, hover: el, drag: { from: { x: 1, y: 1 }, to: { x: 9, y: 9 } },
    save_as_pdf: {}, handle_dialog: { accept: true },
  };
  delete all.navigate;
  for (const [method, params] of Object.entries(all)) refused(await b.fails(method, { ...params, tab_id: tab }));
  const steps = await b.ok('batch', { steps: [{ method: 'get_page_content', params: { tab_id: tab } }] });
  assert.equal(steps.results[0].code, 'PERMISSION_DENIED');
  silent(steps);
  for (const client of [b.main, agent]) {
    const frame = client === agent ? { class: 'agent' } : {};
    const { tabs } = await client.ok('list_tabs', {}, frame);
    assert.ok(!tabs.some((t) => t.tab_id === tab));
    silent(tabs);
    assert.equal((await client.ok('find_tab', { query: SECRET }, frame)).count, 0);
    assert.equal((await client.ok('find_tab', { url_contains: 'denied' }, frame)).count, 0);
  }
  refused(await b.fails('navigate', { tab_id: tab, url: `${b.cross}/denied` }));
  assert.equal((await b.ok('navigate', { tab_id: tab, url: `${b.base}/` })).title, 'Fine');
  refused(await b.fails('go_back', { tab_id: tab }));
  await b.ok('close_tab', { tab_id: tab });
  const other = await openDenied();
  // Not another's, nor one that no client opened; a command line is a new client each time.
  assert.equal((await agent.fails('close_tab', { tab_id: other }, { class: 'agent' })).code, 'PERMISSION_DENIED');
  const again = await b.client({ client_id: 'c9-0123456789' });
  assert.equal((await again.ok('close_tab', { tab_id: other })).closed, true);
  limit({});
  await b.chromium.cdp.send('Target.createTarget', { url: `${b.cross}/denied?users` });
  let users;
  while (!users) users = (await b.ok('list_tabs')).tabs.find((t) => t.url.endsWith('?users'))?.tab_id;
  limit({ deny: ['localhost'] });
  for (const [method, params] of [['close_tab', {}], ['navigate', { url: `${b.base}/` }]]) refused(await b.fails(method, { ...params, tab_id: users }));
  limit({});
  await b.ok('close_tab', { tab_id: users });
});

test('navigate and new_tab: refused before anything is sent, and told by the host alone after a redirect', async () => {
  const before = b.site.count('/denied');
  for (const [method, params] of [['navigate', {}], ['new_tab', {}], ['get_page_markdown', {}]]) {
    for (const url of [`${b.cross}/denied`, `http://LOCALHOST.:${b.site.port}/denied`, `http://x@localhost:${b.site.port}/denied`]) refused(await b.fails(method, { ...params, url }));
  }
  assert.equal(b.site.count('/denied'), before);
  const tab = await b.open('/');
  const tabs = async () => (await b.chromium.targets((t) => t.type === 'page')).length;
  for (const where of ['/hop', '/meta']) {
    refused(await b.fails('navigate', { tab_id: tab, url: b.base + where }));
    refused(await b.fails('get_page_content', { tab_id: tab }));
    await b.ok('navigate', { tab_id: tab, url: `${b.base}/back` });
  }
  const open = await tabs();
  refused(await b.fails('new_tab', { url: `${b.base}/hop` }));
  assert.equal(await tabs(), open);
  // Back to where it was before the list was made.
  limit({});
  await b.ok('navigate', { tab_id: tab, url: `${b.cross}/denied` });
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/back` });
  limit({ deny: ['localhost'] });
  refused(await b.fails('go_back', { tab_id: tab }));
  refused(await b.fails('get_page_content', { tab_id: tab }));
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/back` });
  const file = await b.fails('navigate', { tab_id: tab, url: `${b.base}/hop-file` });
  assert.equal(file.code, 'PERMISSION_DENIED');
  silent(file);
  await b.ok('close_tab', { tab_id: tab });
});

test('acts that lead to a denied site say so by its origin, and the next operation is refused', async () => {
  for (const [target, way] of [['#to-denied', 'navigated'], ['#to-hop', 'navigated'], ['#popup', 'opened']]) {
    const tab = await b.open('/');
    const done = await b.call('click', { tab_id: tab, target: { value: target }, trusted: true });
    // The link itself stands on the page that was clicked.
    if (done.success) delete done.result.clicked;
    silent(done);
    if (done.success && way === 'opened') {
      const [{ tab_id: opened }] = done.result.opened;
      refused(await b.fails('get_page_content', { tab_id: opened }));
      refused(await b.fails('screenshot', { tab_id: opened }));
      await b.ok('close_tab', { tab_id: opened });
    } else {
      refused(await b.fails('get_page_content', { tab_id: tab }));
    }
    await b.call('close_tab', { tab_id: tab });
  }
  const tab = await b.open('/');
  refused(await b.fails('click', { tab_id: tab, target: { value: '#to-denied' }, new_tab: true }));
  await b.ok('close_tab', { tab_id: tab });
});

test('of windows that did not open a denied one is named by its site, and what is no address not at all', async () => {
  const tab = await b.open('/');
  const { opened, note } = await b.ok('click', { tab_id: tab, target: { value: '#several' } });
  assert.match(note, /did not open: http:\/\/127\.0\.0\.1:\d+\/back\?2, http:\/\/localhost:\d+; it may/);
  for (const id of [opened[0].tab_id, tab]) await b.ok('close_tab', { tab_id: id });
});

test('an empty page that a denied one has written into is the denied one\'s', async () => {
  limit({});
  const opener = await b.open(`${b.cross}/blanks`);
  await b.ok('click', { tab_id: opener, target: { value: 'button' }, trusted: true });
  const blank = await blankOf();
  limit({ deny: ['localhost'] });
  for (const [method, params] of [['get_page_content', {}], ['screenshot', {}], ['mouse_click', { x: 5, y: 5 }], ['snapshot', {}]]) refused(await b.fails(method, { ...params, tab_id: blank.tab_id }));
  silent((await b.ok('list_tabs')).tabs);
  // One's own empty tab stays usable.
  const own = (await b.ok('new_tab', {})).tab_id;
  assert.ok((await b.ok('list_tabs')).tabs.some((t) => t.tab_id === own));
  assert.equal((await b.fails('get_page_content', { tab_id: own })).code, 'RESTRICTED_PAGE');
  assert.equal((await b.ok('navigate', { tab_id: own, url: `${b.base}/` })).title, 'Fine');
  limit({});
  for (const id of [blank.tab_id, opener, own]) await b.ok('close_tab', { tab_id: id });
});

test('empty pages that do not say whose they are hold the list of tabs up once, not each', async () => {
  limit({});
  const opener = await b.open('/empties');
  const all = [];
  for (let i = 0; i < 5; i++) all.push((await b.ok('click', { tab_id: opener, target: { value: 'button' }, trusted: true })).opened[0].tab_id);
  limit({ deny: ['localhost'] });
  await b.inPage('/empties', 'setTimeout(() => { for (const end = Date.now() + 8000; Date.now() < end;); document.title = "again"; }, 0)');
  const from = performance.now();
  await b.ok('list_tabs');
  assert.ok(performance.now() - from < 4000, `${performance.now() - from}`);
  limit({});
  for (const id of [...all, opener]) await b.ok('close_tab', { tab_id: id });
});

async function blankOf() {
  for (let i = 0; i < 100; i++) {
    const found = (await b.ok('list_tabs')).tabs.find((t) => t.url === 'about:blank' && t.title === SECRET);
    if (found) return found;
    await new Promise((r) => setTimeout(r, 30));
  }
  throw new Error(JSON.stringify((await b.ok('list_tabs')).tabs));
}

test('frames of a denied site in an allowed page are neither read nor acted in, and no picture shows them', async () => {
  const tab = await b.open('/frames');
  for (const [method, params] of [['get_page_content', {}], ['get_a11y_tree', {}], ['snapshot', { include_hidden: true }], ['get_page_markdown', {}], ['scrape', { item: 'body', fields: { b: 'button' } }]]) silent(await b.call(method, { ...params, tab_id: tab }));
  assert.equal((await b.fails('click', { tab_id: tab, target: { value: '#b' }, timeout: 300 })).code, 'ELEMENT_NOT_FOUND');
  assert.equal((await b.fails('wait_for', { tab_id: tab, text: SECRET, timeout: 300 })).code, 'TIMEOUT');
  assert.match((await b.fails('screenshot', { tab_id: tab })).error, /^forbidden: domain localhost .*a picture would show/);
  assert.equal((await b.fails('screenshot', { tab_id: tab, full_page: true })).code, 'PERMISSION_DENIED');
  assert.equal((await b.fails('save_as_pdf', { tab_id: tab })).code, 'PERMISSION_DENIED');
  const { x, y } = await b.page(tab, '(({ x, y }) => ({ x, y }))(document.querySelector("iframe").getBoundingClientRect())');
  assert.equal((await b.fails('mouse_click', { tab_id: tab, x: x + 20, y: y + 20 })).code, 'PERMISSION_DENIED');
  assert.equal((await b.fails('click_at', { tab_id: tab, x: x + 20, y: y + 20 })).success, false);
  await b.page(tab, 'document.querySelector("iframe").focus()');
  assert.equal((await b.fails('send_keys', { tab_id: tab, keys: 'a' })).success, false);
  await b.ok('mouse_click', { tab_id: tab, x: 20, y: 20 });
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/counter` });
  assert.ok((await b.ok('screenshot', { tab_id: tab })).data.length > 1000);
  await b.ok('close_tab', { tab_id: tab });
});

test('requests and messages of a denied site are not told, also those recorded before it was denied', async () => {
  const tab = await b.open('/back');
  await b.ok('network', { tab_id: tab, action: 'start' });
  await b.ok('console', { tab_id: tab });
  limit({});
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/asks`, wait_until: 'network_idle' });
  const all = JSON.stringify([await b.ok('network', { tab_id: tab, action: 'get' }), await b.ok('console', { tab_id: tab })]);
  assert.match(all, /\/denied/);
  assert.match(all, new RegExp(SECRET));
  const hidden = (await b.ok('network', { tab_id: tab, action: 'get', filter: 'denied' })).events[0].request_id;
  limit({ deny: ['localhost'] });
  const [net, words] = [await b.ok('network', { tab_id: tab, action: 'get' }), await b.ok('console', { tab_id: tab })];
  silent([net, words]);
  assert.ok(net.events.some((e) => e.url.endsWith('/asks')));
  assert.deepEqual(words.messages.map((m) => m.text).filter((t) => /word of the/.test(t)), ['a word of the allowed page']);
  assert.equal((await b.fails('network', { tab_id: tab, action: 'get', request_id: hidden })).code, 'INVALID_PARAMS');
  await b.ok('network', { tab_id: tab, action: 'stop' });
  await b.ok('close_tab', { tab_id: tab });
});

test('what a denied page asks for without saying whose it is is not told either; an allowed one\'s own is', async () => {
  const tab = await b.open('/back');
  await b.ok('network', { tab_id: tab, action: 'start' });
  await b.ok('console', { tab_id: tab });
  limit({});
  await b.ok('navigate', { tab_id: tab, url: `${b.cross}/spies`, wait_until: 'network_idle' });
  const record = async () => [await b.ok('network', { tab_id: tab, action: 'get' }), await b.ok('console', { tab_id: tab })];
  const of = (events, part) => events.filter((e) => e.url?.includes(part)).length;
  const [all, said] = await record();
  for (const part of ['/back?path-of-it', '/missing?path-of-it', '/socket?path-of-it']) assert.equal(of(all.events, part), 1, part);
  assert.equal(of(said.messages, '/missing?path-of-it'), 1);
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/own`, wait_until: 'network_idle' });
  for (const end = Date.now() + 5000; of((await record())[0].events, '/data?worker') < 1; await new Promise((r) => setTimeout(r, 30))) assert.ok(Date.now() < end, 'the worker asked');
  assert.match(JSON.stringify((await record())[1]), /CORS/);
  limit({ deny: ['localhost'] });
  const [net, words] = await record();
  silent([net, words]);
  for (const part of ['/own', '/missing?of-its-own', '/socket?of-its-own', '/data?worker']) assert.equal(of(net.events, part), 1, part);
  assert.equal(of(words.messages, '/missing?of-its-own'), 1);
  assert.ok(words.messages.some((m) => m.text === 'its own word'));
  await b.ok('close_tab', { tab_id: tab });
});

test('a wait does not go over to a denied site, nor tells its address', async () => {
  const tab = await b.open('/');
  await b.page(tab, 'void setTimeout(() => document.querySelector("#to-denied").click(), 500)');
  const waiting = b.fails('wait_for', { tab_id: tab, url: 'path-of-it', timeout: 4000 });
  const reading = b.fails('wait_for', { tab_id: tab, text: SECRET, timeout: 4000 });
  refused(await waiting);
  refused(await reading);
  await b.ok('close_tab', { tab_id: tab });
});

test('keys do not go on to a denied site to which one of them led the tab', async () => {
  const text = 'the rest of a long text that is nobody else\'s '.repeat(4);
  for (const [method, params] of [['type_text', { text, delay_ms: 10, target: { value: '#i' } }], ['send_keys', { keys: [...text.replace(/\W/g, '').slice(0, 60)].join(', ') }]]) {
    const tab = await b.open('/leaves');
    await b.page(tab, 'document.querySelector("#i").focus()');
    const answer = await b.fails(method, { ...params, tab_id: tab });
    refused(answer);
    assert.equal(answer.maybe_executed, true);
    // One may have been on its way.
    assert.ok((b.said.keys ?? '').length <= 1, `${method}: ${b.said.keys}`);
    await b.ok('close_tab', { tab_id: tab });
    delete b.said.keys;
  }
});

test('an allow list shuts out every other site', async () => {
  limit({ allow: ['*.fine.test', '127.0.0.1'], deny: ['bad.fine.test'] });
  const at = (host) => `http://${host}:${b.site.port}/`;
  refused(await b.fails('new_tab', { url: at('other.test') }), 'other.test');
  refused(await b.fails('new_tab', { url: at('evilfine.test') }), 'evilfine.test');
  refused(await b.fails('new_tab', { url: at('bad.fine.test.') }), 'bad.fine.test');
  refused(await b.fails('new_tab', { url: at('münchen.test') }), 'xn--mnchen-3ya.test');
  for (const host of ['fine.test', 'a.FINE.test']) {
    const { tab_id: tab, title } = await b.ok('new_tab', { url: at(host) });
    assert.equal(title, 'Fine');
    assert.equal((await b.ok('get_value', { tab_id: tab, target: { value: '#i' } })).value, 'v');
    await b.ok('close_tab', { tab_id: tab });
  }
  // A page that is on its way is waited for as ever.
  const slow = (await b.ok('new_tab', {})).tab_id;
  await b.ok('navigate', { tab_id: slow, url: `http://fine.test:${b.site.port}/slow`, wait_until: 'none' });
  assert.match(JSON.stringify(await b.ok('get_page_content', { tab_id: slow })), /came late/);
  await b.ok('close_tab', { tab_id: slow });
  // A list that is changed counts from the next operation on.
  const { tab_id: tab } = await b.ok('new_tab', { url: at('fine.test') });
  limit({ allow: ['other.test'] });
  refused(await b.fails('get_value', { tab_id: tab, target: { value: '#i' } }), 'fine.test');
  limit({});
  assert.equal((await b.ok('get_value', { tab_id: tab, target: { value: '#i' } })).value, 'v');
  await b.ok('close_tab', { tab_id: tab });
});
