// An act that leads to another page is answered when that page is there: whoever acts or reads next does so in it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b;
before(async () => {
  b = await start({
    pages: {
      '/form': '<title>Order</title><form action="/thanks"><input id="who" name="who"><button id="send">Send</button></form>'
        + '<a id="slow" href="/slow">slow</a><a id="file" href="/file.bin">file</a><a id="hang" href="/hang">hang</a>',
      '/thanks': '<title>Thanks</title><p>Dear you',
      '/slow': '<title>Slow</title><p>Slow page',
    },
    routes: {
      '/slow': { delay: 900 },
      '/file.bin': { body: 'x', headers: { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' } },
      '/hang': { hang: true },
    },
  });
});
after(() => b?.stop());

test('a submitted form: what is read next is the page that it led to', async () => {
  for (let i = 0; i < 10; i++) {
    const tab = await b.open('/form');
    await b.ok('set_value', { tab_id: tab, target: { value: '#who' }, value: `x${i}` });
    const clicked = await b.ok('click', { tab_id: tab, target: { value: '#send' } });
    assert.match(clicked.navigated, /\/thanks/);
    assert.match((await b.ok('get_page_content', { tab_id: tab })).text, /Dear you/);
    await b.ok('close_tab', { tab_id: tab });
  }
});

test('a link to a slow server: the answer comes with the page', async () => {
  const tab = await b.open('/form');
  const clicked = await b.ok('click', { tab_id: tab, target: { value: '#slow' } });
  assert.match(clicked.navigated, /\/slow/);
  assert.equal((await b.ok('get_page_content', { tab_id: tab })).title, 'Slow');
});

test('a link to a download, and one that is never answered, hold nothing up', async () => {
  const tab = await b.open('/form');
  await b.ok('click', { tab_id: tab, target: { value: '#file' } });
  assert.equal((await b.ok('get_page_content', { tab_id: tab })).title, 'Order');
  const t0 = Date.now();
  await b.ok('click', { tab_id: tab, target: { value: '#hang' } });
  assert.ok(Date.now() - t0 < 20_000);
  assert.equal((await b.ok('get_value', { tab_id: tab, target: { value: '#who' } })).value, '');
});
