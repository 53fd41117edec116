// scrape: records by selectors, gaps and all; waits for what comes late; broken selectors are told at once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const LIST = '<div class="hit" data-n="1"><h3>  Blue\n lamp </h3><a href="p/1?a=b" title="T">See</a><img src="lamp.png"><span class="price" data-sku="L-1">12,50 €</span><p class="desc">Small</p></div>' +
  '<div class="hit" data-n="2"><h3>Red “lamp”</h3><a href="http://shop.example.test/p/2"><b>See</b></a><input value="typed"><input type="password" value="secret"></div><div class="hit"><h3></h3></div>';
const pages = {
  '/list/': `<!doctype html><title>Shop</title><div id="list">${LIST}</div><script src="/__page.js"></script>`,
  '/late/': `<!doctype html><title>Late</title><div id="list"></div><script>addEventListener('DOMContentLoaded', () => setTimeout(() => { list.innerHTML = '<p class=hit>first</p>';
    setTimeout(() => list.insertAdjacentHTML('beforeend', '<p class=hit>second</p>'), 80) }, 400))</script>`,
  '/class/': '<!doctype html><title>Class</title><div id=a>x</div><script>setTimeout(() => { a.className = "hit" }, 300)</script>',
  '/empty/': '<!doctype html><title>Empty</title>',
  '/goes/': '<!doctype html><title>Goes</title><script>setTimeout(() => location.replace("/list/"), 300)</script>',
};

let b, tab;
before(async () => { b = await start({ pages }); tab = await b.open('/list/'); });
after(() => b?.stop());

test('texts and attributes; what an item does not have is null; only where a link leads is made absolute', async () => {
  const result = await b.ok('scrape', { tab_id: tab, item: '.hit', fields: { title: 'h3', link: 'a@href', hint: 'a@title', img: 'img@src', price: '.price', sku: '.price@data-sku', n: '@data-n', all: '' } });
  assert.equal(result.count, 3);
  assert.equal(result.tab_id, tab);
  assert.deepEqual(result.items[0], { title: 'Blue lamp', link: `${b.base}/list/p/1?a=b`, hint: 'T', img: 'lamp.png', price: '12,50 €', sku: 'L-1', n: '1', all: result.items[0].all });
  assert.match(result.items[0].all, /^Blue lamp[\s\S]*Small$/);
  assert.deepEqual(result.items[1], { title: 'Red “lamp”', link: 'http://shop.example.test/p/2', hint: null, img: null, price: null, sku: null, n: '2', all: result.items[1].all });
  assert.deepEqual(result.items[2], { title: '', link: null, hint: null, img: null, price: null, sku: null, n: null, all: '' });
});

test('the older spelling: title, link, desc; fields wins', async () => {
  const old = await b.ok('scrape', { tab_id: tab, item: '.hit', title: 'h3', link: 'a', desc: '.desc' });
  assert.deepEqual(old.items[0], { title: 'Blue lamp', url: `${b.base}/list/p/1?a=b`, description: 'Small' });
  assert.deepEqual(old.items[1], { title: 'Red “lamp”', url: 'http://shop.example.test/p/2', description: null });
  const inner = await b.ok('scrape', { tab_id: tab, item: '.hit', link: 'a b' });
  assert.equal(inner.items[1].url, 'http://shop.example.test/p/2', 'the link around what was named');
  const both = await b.ok('scrape', { tab_id: tab, item: '.hit', fields: { t: 'h3' }, title: 'a' });
  assert.deepEqual(both.items[1], { t: 'Red “lamp”' });
});

test('what a field holds is read, a password is not', async () => {
  const { items } = await b.ok('scrape', { tab_id: tab, item: '[data-n="2"]', fields: { a: 'input', b: 'input[type=password]', c: 'input[value="a@b"]' } });
  assert.deepEqual(items, [{ a: 'typed', b: null, c: null }]);
});

test('items that come late are waited for, and the whole list of them', async () => {
  const late = await b.open('/late/');
  const { items } = await b.ok('scrape', { tab_id: late, item: '.hit', fields: { t: '' }, timeout: 8000 });
  assert.deepEqual(items.map((i) => i.t), ['first', 'second']);
});

test('an element that only later matches is waited for as well', async () => {
  const { count } = await b.ok('scrape', { tab_id: await b.open('/class/'), item: '.hit', timeout: 8000 });
  assert.equal(count, 1);
});

test('a page that leads on is followed', async () => {
  const { count } = await b.ok('scrape', { tab_id: await b.open('/goes/'), item: '.hit', timeout: 8000 });
  assert.equal(count, 3);
});

test('nothing there is an empty list once the time is over', async () => {
  const from = Date.now();
  const { count, items } = await b.ok('scrape', { tab_id: await b.open('/empty/'), item: '.hit', timeout: 700 });
  assert.deepEqual([count, items], [0, []]);
  assert.ok(Date.now() - from >= 700);
});

test('broken selectors are refused at once, with their name', async () => {
  const from = Date.now();
  const item = await b.fails('scrape', { tab_id: tab, item: '.hit[', fields: { a: 'b' }, timeout: 20_000 });
  const field = await b.fails('scrape', { tab_id: tab, item: '.hit', fields: { price: 'b[[@x' }, timeout: 20_000 });
  assert.ok(Date.now() - from < 10_000);
  assert.equal(item.code, 'INVALID_PARAMS');
  assert.match(item.error, /item .*\.hit\[/);
  assert.equal(field.code, 'INVALID_PARAMS');
  assert.match(field.error, /fields\.price/);
});
