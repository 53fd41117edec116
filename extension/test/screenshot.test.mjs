// screenshot: the visible part of the right tab, in the format asked for, also several at once and in a tab behind.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pixel } from './harness/png.mjs';
import { start } from './harness/start.mjs';

let b;
const page = (color) => `<title>${color}</title><style>body{margin:0;background:${color}}</style><div style="height:3000px;background:linear-gradient(${color} 500px,blue 500px)"></div>`;
before(async () => { b = await start({ pages: { '/': page('red'), '/lime': page('lime') } }); });
after(() => b?.stop());

const bytes = (data) => Buffer.from(data.slice(data.indexOf(',') + 1), 'base64');

test('a PNG of the view: size, colours, scroll position, sizes told', async () => {
  const tab = await b.open('/');
  const shot = await b.ok('screenshot', { tab_id: tab });
  assert.equal(shot.mime, 'image/png');
  assert.equal(shot.title, 'red');
  assert.equal(shot.size, shot.data.length - 'data:image/png;base64,'.length);
  assert.equal(shot.width, await b.inPage(b.base, 'innerWidth'));
  assert.equal(shot.height, await b.inPage(b.base, 'innerHeight'));
  assert.deepEqual(pixel(bytes(shot.data), 50, 50), [255, 0, 0]);
  await b.page(tab, 'scrollTo(0, 1000)');
  assert.deepEqual(pixel(bytes((await b.ok('screenshot', { tab_id: tab })).data), 50, 50), [0, 0, 255]);
});

test('several whole pages and prints of one tab at once: one after the other, and each is had', async () => {
  const tab = await b.open('/');
  const pages = [1, 2, 3].map(() => b.ok('screenshot', { tab_id: tab, full_page: true }));
  const prints = [1, 2].map(() => b.ok('save_as_pdf', { tab_id: tab }));
  for (const { height } of await Promise.all(pages)) assert.ok(height >= 3000, String(height));
  for (const { size } of await Promise.all(prints)) assert.ok(size > 500, String(size));
});

test('JPEG with a quality', async () => {
  const tab = await b.open('/');
  const low = await b.ok('screenshot', { tab_id: tab, format: 'jpeg', quality: 1 });
  const high = await b.ok('screenshot', { tab_id: tab, format: 'jpeg', quality: 100 });
  assert.deepEqual([...bytes(low.data).subarray(0, 2)], [0xff, 0xd8]);
  assert.ok(low.size < high.size);
  for (const quality of [-1, 101, 50.5]) assert.equal((await b.fails('screenshot', { tab_id: tab, format: 'jpeg', quality })).code, 'INVALID_PARAMS', String(quality));
});

test('a tab behind another one is shown and taken; several at once each get their own', async () => {
  const red = await b.open('/');
  const lime = await b.open('/lime');
  const shots = await Promise.all([red, lime, red, lime].map((tab_id) => b.ok('screenshot', { tab_id })));
  assert.deepEqual(shots.map((s) => pixel(bytes(s.data), 50, 50)), [[255, 0, 0], [0, 255, 0], [255, 0, 0], [0, 255, 0]]);
});

test('a page that Chrome lets nobody capture is an error that says so', async () => {
  const { tab_id: tab } = await b.ok('new_tab', { url: 'chrome://version' });
  const answer = await b.fails('screenshot', { tab_id: tab });
  assert.equal(answer.code, 'RESTRICTED_PAGE');
});
