// navigate and new_tab: every way that a navigation can end, with what the client is told and where the tab really is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b, tab;
before(async () => {
  b = await start({
    pages: {
      '/': '<title>Home</title><p>home</p><a id="x">x</a>',
      '/two': '<title>Two</title>',
      '/replace': '<title>R</title><script>location.replace("/two")</script>',
      '/onload': '<title>O</title><script>onload = () => { location = "/two" }</script>',
      '/meta': '<title>M</title><meta http-equiv="refresh" content="0;url=/two">',
      '/push': '<title>P</title><script>history.pushState(0, "", "/pushed")</script>',
      '/picture': '<title>Picture</title><p>text</p><img src="/never.png">',
      '/then-download': '<title>Thanks</title><script>onload = () => { location = "/file.bin" }</script>',
      '/form': '<title>Form</title><form method="post" action="/answer"><button>Order</button></form>',
      '/ask': '<title>Ask</title><button>x</button><script>addEventListener("beforeunload", (e) => { e.preventDefault(); e.returnValue = "x" })</script>',
    },
    routes: {
      '/slow': { delay: 700, body: '<title>Slow</title>' },
      '/never.png': { hang: true },
      '/204': { status: 204 },
      '/answer': { body: '<title>Ordered</title>' },
      '/file.bin': { body: 'x', headers: { 'content-disposition': 'attachment; filename=f.bin' } },
      '/drop': { drop: true },
      '/redirect': { redirect: '{{cross}}/redirect2', status: 301 },
      '/redirect2': { redirect: '/two?via=2', status: 307, delay: 100 },
      '/round': { redirect: '/round', status: 302 },
      '/500': { status: 500, body: '' },
      '/hang': { hang: true },
      '/404': { status: 404, body: '<title>Not there</title>' },
      '/endless': { hang: true, first: '<title>Endless</title><p>text' },
    },
  });
  tab = await b.open('/');
});
after(() => b?.stop());

const go = (path, frame) => b.call('navigate', { tab_id: tab, url: path.startsWith('/') ? b.base + path : path }, frame);
const where = async () => (await b.ok('list_tabs')).tabs.find((t) => t.tab_id === tab).url;

test('a page: address, title, status', async () => {
  const { result } = await go('/two');
  assert.deepEqual(result, { tab_id: tab, url: `${b.base}/two`, title: 'Two', loaded: true, status: 200 });
  assert.equal(await b.page(tab, 'document.title'), 'Two');
});

test('a chain of redirects over two hosts ends at the final address, requested once', async () => {
  const { result } = await go('/redirect');
  assert.equal(result.url, `${b.cross}/two?via=2`);
  assert.equal(result.title, 'Two');
  assert.equal(b.site.count('/redirect'), 1);
});

for (const path of ['/replace', '/onload', '/meta']) {
  test(`a page that sends on by itself (${path}) is followed`, async () => {
    const { result } = await go(path);
    assert.equal(result.url, `${b.base}/two`);
    assert.equal(result.title, 'Two');
  });
}

test('a fragment of the same page, there and back', async () => {
  await go('/');
  await b.page(tab, 'document.body.dataset.kept = "yes"');
  const { result } = await go('/#x');
  assert.equal(result.url, `${b.base}/#x`);
  assert.equal(result.loaded, true);
  assert.equal((await go('/#y')).result.url, `${b.base}/#y`);
  assert.equal(await b.page(tab, 'document.body.dataset.kept'), 'yes', 'the document stayed');
});

test('an address that the page rewrites while it loads', async () => {
  const { result } = await go('/push');
  assert.equal(result.url, `${b.base}/pushed`);
  assert.equal(result.loaded, true);
});

test('a late answer is waited for', async () => {
  assert.equal((await go('/slow')).result.title, 'Slow');
});

test('an error status is a page like any other, and says so', async () => {
  const { result } = await go('/404');
  assert.equal(result.status, 404);
  assert.equal(result.title, 'Not there');
});

test('redirects without an end, and an error without a page, are errors with Chrome\'s reason', async () => {
  for (const [path, reason] of [['/round', /ERR_TOO_MANY_REDIRECTS/], ['/500', /ERR_HTTP_RESPONSE_CODE_FAILURE/]]) {
    const answer = await go(path);
    assert.equal(answer.code, 'NAVIGATION_FAILED');
    assert.match(answer.error, reason);
  }
  await go('/two');
});

test('204: no page comes, the tab stays, the answer comes', async () => {
  await go('/two');
  const answer = await go('/204');
  assert.equal(answer.code, 'NAVIGATION_FAILED');
  assert.match(answer.error, /no page/);
  assert.equal(await where(), `${b.base}/two`);
});

test('a data: address: Chrome leads no page there, which is said; a new tab shows it', async () => {
  await go('/two');
  const address = 'data:text/html,<title>Data</title>';
  const answer = await b.fails('navigate', { tab_id: tab, url: address });
  assert.equal(answer.code, 'NAVIGATION_FAILED');
  assert.match(answer.error, /no tab from a page to a data: address; a new tab .*still at .*\/two$/);
  const { tab_id, title } = await b.ok('navigate', { url: address, new_tab: true });
  assert.equal(title, 'Data');
  await b.ok('close_tab', { tab_id });
});

test('a download instead of a page is named as such', async () => {
  await go('/two');
  const answer = await go('/file.bin');
  assert.equal(answer.code, 'NAVIGATION_FAILED');
  assert.match(answer.error, /download/);
  assert.equal(await where(), `${b.base}/two`);
});

test('a page that then sets off a download has arrived', async () => {
  const { result } = await go('/then-download');
  assert.equal(result.title, 'Thanks');
});

for (const [name, url, reason] of [
  ['a refused connection', 'http://127.0.0.1:1/', /ERR_/],
  ['an unknown host', 'http://nope.invalid/', /ERR_NAME_NOT_RESOLVED/],
  ['a connection that is cut', '/drop', /ERR_EMPTY_RESPONSE/],
]) {
  test(`${name} is an error with Chrome's reason, and the tab can be used again`, async () => {
    const answer = await go(url);
    assert.equal(answer.code, 'NAVIGATION_FAILED');
    assert.match(answer.error, reason);
    assert.equal((await b.fails('run_script', { tab_id: tab, code: '1' })).code, 'RESTRICTED_PAGE');
    assert.equal((await go('/')).result.title, 'Home');
  });
}

test('a server that never answers: an error before the deadline, and the tab can be led away', async () => {
  const answer = await go('/hang', { timeout_ms: 2000 });
  assert.equal(answer.code, 'NAVIGATION_FAILED');
  assert.match(answer.error, /in time/);
  assert.equal((await go('/')).result.title, 'Home');
});

test('a picture that never comes: loaded is false, the page can be read', async () => {
  const { result } = await go('/picture', { timeout_ms: 3000 });
  assert.equal(result.title, 'Picture');
  assert.equal(result.loaded, false);
  assert.equal(await b.page(tab, 'document.querySelector("p").textContent'), 'text');
});

test('HTML that never ends: loaded is false', async () => {
  const { result } = await go('/endless', { timeout_ms: 3000 });
  assert.equal(result.loaded, false);
  assert.match(result.url, /endless/);
});

test('wait_until domcontentloaded does not wait for the picture', async () => {
  const { result } = await b.call('navigate', { tab_id: tab, url: `${b.base}/picture`, wait_until: 'domcontentloaded' });
  assert.equal(result.title, 'Picture');
  assert.equal(await b.page(tab, 'document.querySelector("p").textContent'), 'text');
});

test('a page that asks whether it may be left does not hold a client\'s own tab', async () => {
  await go('/ask');
  await b.inPage('/ask', 'document.querySelector("button").click(); navigator.userActivation.hasBeenActive');
  assert.equal((await go('/two')).result.title, 'Two');
});

test('chrome:// and back', async () => {
  assert.match((await go('chrome://version')).result.url, /^chrome:\/\/version/);
  const answer = await b.fails('run_script', { tab_id: tab, code: '1' });
  assert.equal(answer.code, 'RESTRICTED_PAGE');
  assert.equal(answer.maybe_executed, undefined);
  assert.equal((await go('/')).result.title, 'Home');
});

test('addresses without a scheme, and what is none', async () => {
  assert.equal((await go(b.base.slice('http://'.length) + '/two')).result.title, 'Two');
  for (const url of ['', 'not an address', 'javascript:alert(1)', 'http://']) {
    assert.equal((await b.fails('navigate', { tab_id: tab, url })).code, 'INVALID_PARAMS', url);
  }
});

test('a navigation by another client ends a wait in the old page', async () => {
  await go('/');
  const script = b.call('run_script', { tab_id: tab, code: 'new Promise(() => {})' });
  const other = await b.client();
  await other.ok('navigate', { tab_id: tab, url: `${b.base}/two` });
  const answer = await script;
  assert.equal(answer.code, 'NAVIGATION_FAILED');
  assert.equal(answer.maybe_executed, true);
  other.close();
});

test('a tab that is closed while it loads', async () => {
  const doomed = await b.open('/');
  const loading = b.call('navigate', { tab_id: doomed, url: `${b.base}/hang` });
  const other = await b.client();
  await other.ok('close_tab', { tab_id: doomed });
  assert.equal((await loading).code, 'TAB_NOT_FOUND');
  other.close();
});

test('new_tab at an address that cannot be loaded leaves no tab behind', async () => {
  const count = (await b.ok('list_tabs')).tabs.length;
  assert.equal((await b.fails('new_tab', { url: `${b.base}/drop` })).code, 'NAVIGATION_FAILED');
  assert.equal((await b.ok('list_tabs')).tabs.length, count);
});

test('a download instead of a page in a new tab is named as such, and no tab stays', async () => {
  const count = (await b.ok('list_tabs')).tabs.length;
  for (const [method, params] of [['new_tab', {}], ['navigate', { new_tab: true }]]) {
    const answer = await b.fails(method, { ...params, url: `${b.base}/file.bin` });
    assert.equal(answer.code, 'NAVIGATION_FAILED');
    assert.match(answer.error, /is a download, not a page \(complete: /, method);
  }
  const empty = await b.fails('navigate', { url: `${b.base}/204`, new_tab: true });
  assert.equal(empty.code, 'NAVIGATION_FAILED');
  assert.match(empty.error, /led to no page .*; the tab shows no page$/);
  assert.equal((await b.fails('navigate', { url: `${b.base}/drop`, new_tab: true })).code, 'NAVIGATION_FAILED');
  assert.equal((await b.ok('list_tabs')).tabs.length, count);
});

test('navigate with new_tab opens a tab of the caller', async () => {
  const { result } = await b.call('navigate', { url: `${b.base}/two`, new_tab: true });
  assert.notEqual(result.tab_id, tab);
  assert.equal(result.title, 'Two');
  assert.deepEqual((await b.ok('close_tab', { tab_id: result.tab_id })), { closed: true, tab_id: result.tab_id });
});

test('the answer to a form is not reloaded behind the person\'s back, and that is said', async () => {
  const page = await b.open('/form');
  await b.ok('click', { tab_id: page, target: { value: 'button' } });
  await b.ok('wait_for', { tab_id: page, url: '/answer' });
  const count = b.site.count('/answer');
  const { code, error } = await b.fails('reload', { tab_id: page });
  assert.deepEqual([code, b.site.count('/answer')], ['NAVIGATION_FAILED', count]);
  assert.match(error, /answer to a form/);
  assert.equal((await b.ok('navigate', { tab_id: page, url: `${b.base}/two` })).title, 'Two');
});

test('back, forward and reload, over documents and within one', async () => {
  await go('/');
  await go('/two');
  await b.page(tab, 'history.pushState(0, "", "/pushed"); 1');
  const step = async (method) => (await b.ok(method, { tab_id: tab })).url;
  assert.equal(await step('go_back'), `${b.base}/two`);
  assert.equal(await step('go_back'), `${b.base}/`);
  assert.equal(await b.page(tab, 'document.title'), 'Home');
  assert.equal(await step('go_forward'), `${b.base}/two`);
  assert.equal(await b.page(tab, 'document.title'), 'Two');
  const count = b.site.count('/two');
  assert.equal(await step('reload'), `${b.base}/two`);
  assert.equal(b.site.count('/two'), count + 1);
  const fresh = await b.open('/');
  assert.equal((await b.fails('go_forward', { tab_id: fresh })).code, 'NAVIGATION_FAILED');
});

test('back from an address that could not be loaded, and forward to it again', async () => {
  const t = await b.open('/two');
  const at = async (method) => { const r = await b.call(method, { tab_id: t }); return r.success ? r.result.url : r.error; };
  assert.equal((await b.fails('navigate', { tab_id: t, url: `${b.base}/drop` })).code, 'NAVIGATION_FAILED');
  assert.equal(await at('go_back'), `${b.base}/two`);
  assert.match(await at('go_forward'), /could not be loaded: net::ERR_EMPTY_RESPONSE/);
  assert.match(await at('go_forward'), /no page to go forward to/);
  assert.equal(await at('go_back'), `${b.base}/two`);
});

test('where there is no page to go back or forward to, it is said that nothing happened', async () => {
  const t = await b.open('/two');
  for (const method of ['go_back', 'go_forward']) {
    const { code, error, maybe_executed } = await b.fails(method, { tab_id: t });
    assert.deepEqual([code, maybe_executed], ['NAVIGATION_FAILED', undefined], error);
  }
});
