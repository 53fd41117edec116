// Pictures and PDFs by the debugger: whole pages, elements, tabs behind others, frames; and with two device pixels a CSS pixel.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pixel } from './harness/png.mjs';
import { start } from './harness/start.mjs';

const STYLE = '<style>* { margin: 0 } div { width: 100% } #box { position: absolute; left: 40px; top: 1500px; width: 120px; height: 60px; background: rgb(0, 255, 0) } #tall { height: 900px; width: 50px; background: rgb(255, 0, 255) }</style>';
const pages = {
  '/': `<!doctype html><title>Long</title>${STYLE}<div style="height:1000px;background:rgb(255,0,0)"></div><div style="height:2000px;background:rgb(0,0,255)"></div><div id="box"></div>`,
  '/tall': `<!doctype html><title>Tall</title>${STYLE}<p>x</p><div id="tall"></div><p>y</p>`,
  '/endless': `<!doctype html><title>Endless</title>${STYLE}<div style="height:40000px;background:rgb(255,0,0)"></div>`,
  '/frame': `<!doctype html><title>Frame</title>${STYLE}<div style="height:300px"></div><iframe src="{{cross}}/inner" style="border:10px solid black;margin-left:20px" width="300" height="200"></iframe>`,
  '/inner': '<!doctype html><style>* { margin: 0 }</style><div style="height:700px"></div><div id="in" style="width:80px;height:40px;background:rgb(255,255,0)"></div>',
  '/plain': '<!doctype html><title>Paper</title><body style="background:red"><h1>Printed</h1>',
  '/print': '<!doctype html><title>Paper</title><style>@page { size: 300px 400px }</style><body style="background:red"><h1>Printed</h1>',
};
const bytes = (data) => Buffer.from(data.slice(data.indexOf(',') + 1), 'base64');
const size = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)];

for (const dpr of [1, 2]) {
  test(`${dpr} device pixel(s) a CSS pixel`, async (t) => {
    const b = await start({ pages, flags: dpr === 1 ? [] : [`--force-device-scale-factor=${dpr}`] });
    const shot = (tab, more = {}) => b.ok('screenshot', { tab_id: tab, ...more });
    try {
      await t.test('full_page: from top to end, at the right size, with the scroll position as it was', async () => {
        const tab = await b.open('/');
        await b.page(tab, 'scrollTo(0, 400)');
        const before = await b.page(tab, '[innerWidth, innerHeight, document.documentElement.clientWidth]');
        const done = await shot(tab, { full_page: true });
        const png = bytes(done.data);
        assert.deepEqual([done.width, done.height], [before[2], 3000]);
        assert.deepEqual(size(png), [done.width * dpr, done.height * dpr]);
        assert.deepEqual([pixel(png, 300 * dpr, 10), pixel(png, 300 * dpr, 1200 * dpr), pixel(png, 100 * dpr, 1530 * dpr), pixel(png, 300 * dpr, 2990 * dpr)], [[255, 0, 0], [0, 0, 255], [0, 255, 0], [0, 0, 255]]);
        assert.equal(await b.page(tab, 'scrollY'), 400);
        assert.deepEqual(await b.page(tab, '[innerWidth, innerHeight, document.documentElement.clientWidth]'), before);
      });
      await t.test('the view: width and height in CSS pixels', async () => {
        const tab = await b.open('/');
        const done = await shot(tab);
        assert.deepEqual(size(bytes(done.data)), [done.width * dpr, done.height * dpr]);
      });
      await t.test('one element, out of view at first, and nothing around it', async () => {
        const tab = await b.open('/');
        const done = await shot(tab, { target: { value: '#box' } });
        const png = bytes(done.data);
        assert.deepEqual([done.width, done.height, done.element.id], [120, 60, 'box']);
        assert.deepEqual(size(png), [120 * dpr, 60 * dpr]);
        assert.deepEqual([pixel(png, 0, 0), pixel(png, 120 * dpr - 1, 60 * dpr - 1)], [[0, 255, 0], [0, 255, 0]]);
      });
      await t.test('an element that is taller than the view', async () => {
        const tab = await b.open('/tall');
        const png = bytes((await shot(tab, { target: { value: '#tall' } })).data);
        assert.deepEqual(size(png), [50 * dpr, 900 * dpr]);
        assert.deepEqual([pixel(png, 2, 2), pixel(png, 2, 899 * dpr)], [[255, 0, 255], [255, 0, 255]]);
      });
      await t.test('an element in a frame of another site', async () => {
        const tab = await b.open('/frame');
        const done = await shot(tab, { target: { value: '#in' } });
        const png = bytes(done.data);
        assert.deepEqual(size(png), [80 * dpr, 40 * dpr]);
        assert.deepEqual([pixel(png, 1, 1), pixel(png, 79 * dpr, 39 * dpr)], [[255, 255, 0], [255, 255, 0]]);
        assert.match(done.frame, /\/inner$/);
      });
      await t.test('mouse_click hits the same points', async () => {
        const tab = await b.open('/tall?click');
        await b.inPage('/tall?click', 'void addEventListener("click", (e) => { window.at = [e.clientX, e.clientY, e.target.id]; })');
        await b.ok('mouse_click', { tab_id: tab, x: 20, y: 101 });
        assert.deepEqual(await b.inPage('/tall?click', 'at'), [20, 101, 'tall']);
      });
      if (dpr === 1) {
        await t.test('a tab behind another one is taken without being shown', async () => {
          const tab = await b.open('/');
          const front = await b.open('/tall');
          for (let i = 0; i < 4; i++) {
            const png = bytes((await shot(tab, { full_page: true })).data);
            assert.deepEqual(pixel(png, 300, 2990), [0, 0, 255]);
          }
          assert.equal((await b.ok('list_tabs')).tabs.find((x) => x.tab_id === front).active, true);
        });
        await t.test('a page that is too long is cut, and this is said', async () => {
          const tab = await b.open('/endless');
          const done = await shot(tab, { full_page: true, format: 'jpeg', quality: 10 });
          assert.deepEqual([done.height, done.truncated], [16384, true]);
        });
        await t.test('both at once, and what is not there, are errors', async () => {
          const tab = await b.open('/');
          assert.equal((await b.fails('screenshot', { tab_id: tab, full_page: true, target: { value: '#box' } })).code, 'INVALID_PARAMS');
          assert.equal((await b.fails('screenshot', { tab_id: tab, target: { value: '#none' }, timeout: 300 })).code, 'ELEMENT_NOT_FOUND');
        });
        await t.test('save_as_pdf: papers, both ways round, in a tab behind', async () => {
          const tab = await b.open('/print');
          await b.open('/tall');
          const media = async (params) => {
            const { data, mime, size: told, title } = await b.ok('save_as_pdf', { tab_id: tab, ...params });
            const pdf = bytes(data);
            assert.deepEqual([mime, title, pdf.subarray(0, 5).toString(), told], ['application/pdf', 'Paper', '%PDF-', pdf.length]);
            return /\/MediaBox \[([^\]]+)\]/.exec(pdf.toString('latin1'))[1].split(' ').slice(2).map((n) => Math.round(Number(n)));
          };
          assert.deepEqual(await media({}), [225, 300]);
          const [width, height] = await media({ paper: 'a4' });
          assert.ok(Math.abs(width - 595) <= 1 && Math.abs(height - 842) <= 1, `${width} ${height}`);
          await b.ok('navigate', { tab_id: tab, url: `${b.base}/plain` });
          assert.deepEqual(await media({ paper: 'letter', landscape: true }), [792, 612]);
          assert.deepEqual(await media({}), [612, 792]);
          const sizes = [];
          for (const print_background of [true, false]) sizes.push((await b.ok('save_as_pdf', { tab_id: tab, print_background })).size);
          assert.notEqual(sizes[0], sizes[1]);
          const { tab_id: closed } = await b.ok('new_tab', { url: 'chrome://version' });
          assert.equal((await b.fails('save_as_pdf', { tab_id: closed })).code, 'RESTRICTED_PAGE');
        });
      }
    } finally {
      await b.stop();
    }
  });
}
