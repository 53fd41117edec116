// The bridge's own doors: no page of theirs is opened for a client, and where a tab gets to one by itself, nothing is done or read there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b, health;
before(async () => {
  b = await start({ daemon: 'real', pages: { '/': '<title>Home</title><p>free</p>' } });
  health = `${/http:\/\/127\.0\.0\.1:\d+/.exec(b.daemon.log())[0]}/health`;
  b.site.routes['/away'] = { redirect: health };
  b.site.routes['/script'] = { body: `<script>location = '${health}'</script>` };
  b.site.pages['/framed'] = `<p>around</p><iframe src="${health}"></iframe>`;
});
after(() => b?.stop());

const denied = ({ code, error }) => { assert.equal(code, 'PERMISSION_DENIED', error); assert.match(error, /^forbidden: url/); assert.doesNotMatch(error, /version/); };

test('by its address, however it is written, also as only a browser reads it', async () => {
  const tab = await b.open('/');
  const port = new URL(health).port;
  for (const url of [health, `localhost:${port}/health`, `http://127.1:${port}/`, `http://[::1]:${port}/`, `http://ⓛocalhost:${port}/health`, `http://１２７.0.0.1:${port}/`, `http://127.0.0.1:${b.daemon.port}/`]) {
    denied(await b.fails('navigate', { tab_id: tab, url }));
    denied(await b.fails('new_tab', { url }));
  }
  assert.equal((await b.ok('get_page_content', { tab_id: tab })).title, 'Home');
});

test('over a redirect or a script: nothing is read or done there, and the tab can be led on', async () => {
  for (const path of ['/away', '/script']) {
    const tab = await b.open('/');
    await b.call('navigate', { tab_id: tab, url: b.base + path });
    assert.match((await b.ok('list_tabs')).tabs.find((t) => t.tab_id === tab).url, /\/health$/);
    for (const [method, params] of [['get_page_content', {}], ['get_a11y_tree', {}], ['click', { target: { value: 'body' }, timeout: 300 }], ['run_script', { code: '1' }]]) denied(await b.fails(method, { tab_id: tab, ...params }));
    await b.ok('navigate', { tab_id: tab, url: `${b.base}/` });
    assert.equal((await b.ok('get_page_content', { tab_id: tab })).title, 'Home');
  }
});

test('in a frame it is not looked into', async () => {
  const tab = await b.open('/framed');
  assert.equal((await b.fails('click', { tab_id: tab, target: { by: 'text', value: 'bridged' }, timeout: 500 })).code, 'ELEMENT_NOT_FOUND');
});
