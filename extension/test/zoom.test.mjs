// Points and pictures where a CSS pixel is not a pixel of the screen: two to one as on a HiDPI screen, and at the user's own zoom.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pixel } from './harness/png.mjs';
import { start } from './harness/start.mjs';

const pages = {
  '/': `<!doctype html><title>Zoom</title><style>* { margin: 0 } .at { position: absolute } #box { left: 100px; top: 60px; width: 80px; height: 40px; background: rgb(0,255,0) } #low { left: 40px; top: 1500px; width: 120px; height: 60px; background: rgb(0,0,255) }
    #card { left: 20px; top: 400px; width: 60px; height: 30px; background: #ccc } #zone { left: 200px; top: 390px; width: 100px; height: 60px; background: #eee } #knob { left: 20px; top: 130px; width: 30px; height: 30px; background: #999 }</style>
    <div style="height:3000px;background:rgb(255,0,0)"></div><div class="at" id="box"></div><div class="at" id="low"></div><div class="at" id="knob"></div><div class="at" id="card" draggable="true">card</div><div class="at" id="zone"></div>
    <input class="at" id="f" style="left:300px;top:60px"><iframe class="at" src="{{cross}}/in" style="left:20px;top:200px;border:5px solid" width="300" height="150"></iframe>
    <script>window.at = []; addEventListener('click', (e) => at.push([Math.round(e.clientX), Math.round(e.clientY), e.target.id].join()));
      zone.ondragover = (e) => e.preventDefault(); zone.ondrop = (e) => { e.preventDefault(); window.dropped = true; };
      box.onmouseenter = () => { window.over = true; }; knob.onpointerdown = (e) => { knob.setPointerCapture(e.pointerId); knob.onpointerup = (u) => { window.let_go = [Math.round(u.clientX), Math.round(u.clientY)]; }; };</script>`,
  '/in': `<!doctype html><style>* { margin: 0 }</style><script src="/__page.js"></script><button style="margin:30px 0 0 40px;width:80px;height:30px;border:0;background:rgb(255,255,0);color:rgb(255,255,0)" onclick="count('in' + event.isTrusted)">In</button>`,
};
let b;
before(async () => { b = await start({ pages, flags: ['--force-device-scale-factor=2'] }); });
after(() => b?.stop());
const near = (a, z, by = 1) => assert.ok(Math.abs(a - z) <= by, `${a} is not ${z}`);

for (const zoom of [1, 1.5, 0.5]) {
  test(`two screen pixels a CSS pixel, zoom ${zoom}: points hit, pictures have the screen's pixels`, async () => {
    const part = `/?${zoom}`;
    const tab = await b.open(part);
    const page = (code) => b.inPage(part, code);
    await b.chromium.inWorker(`chrome.tabs.setZoomSettings(${tab}, { scope: 'per-tab' }).then(() => chrome.tabs.setZoom(${tab}, ${zoom}))`);
    const dpr = 2 * zoom;
    for (let i = 0; i < 200 && (await page('devicePixelRatio')) !== dpr; i++) await new Promise((r) => setTimeout(r, 20));
    assert.equal(await page('devicePixelRatio'), dpr);
    const view = await page('[innerWidth, innerHeight]');
    const picture = async (params, wanted) => {
      const { data, width, height } = await b.ok('screenshot', { tab_id: tab, ...params });
      const png = Buffer.from(data.slice(data.indexOf(',') + 1), 'base64');
      const [w, h] = [png.readUInt32BE(16), png.readUInt32BE(20)];
      if (wanted) assert.deepEqual([width, height], wanted);
      near(w, width * dpr, 2);
      near(h, height * dpr, 2);
      return { at: (x, y) => pixel(png, Math.floor(x * dpr), Math.floor(y * dpr)), width, height };
    };

    await b.ok('click_at', { tab_id: tab, x: 140, y: 80 });
    await b.ok('mouse_click', { tab_id: tab, x: 141, y: 81 });
    await b.ok('click', { tab_id: tab, target: { value: '#box' }, trusted: true });
    assert.deepEqual(await page('at'), ['140,80,box', '141,81,box', '140,80,box']);
    const { nodes } = await b.ok('snapshot', { tab_id: tab });
    const { bounds } = nodes.find((n) => n.name === 'In');
    near(bounds.x, 65);
    near(bounds.y, 235);
    b.said.intrue = 0;
    await b.ok('mouse_click', { tab_id: tab, x: bounds.x + 40, y: bounds.y + 15 });
    await b.ok('click', { tab_id: tab, target: { by: 'text', value: 'In' }, trusted: true });
    await b.heard('intrue', (n) => n === 2);
    await b.ok('hover', { tab_id: tab, target: { value: '#box' } });
    assert.equal(await page('over'), true);
    assert.equal((await b.ok('drag', { tab_id: tab, from: { value: '#card' }, to: { value: '#zone' } })).kind, 'html5');
    assert.equal(await page('dropped'), true);
    await b.ok('drag', { tab_id: tab, from: { value: '#knob' }, to: { x: 210, y: 170 } });
    assert.deepEqual(await page('let_go'), [210, 170]);
    assert.equal((await b.ok('type_text', { tab_id: tab, target: { value: '#f' }, text: 'hi' })).value, 'hi');

    const seen = await picture({}, view);
    assert.deepEqual([seen.at(140, 62), seen.at(300, 150)], [[0, 255, 0], [255, 0, 0]]);
    const whole = await picture({ full_page: true });
    near(whole.height, 3000, 2);
    assert.deepEqual([whole.at(140, 62), whole.at(100, 1530), whole.at(100, 2990)], [[0, 255, 0], [0, 0, 255], [255, 0, 0]]);
    const one = await picture({ target: { value: '#low' } }, [120, 60]);
    assert.deepEqual([one.at(1, 1), one.at(118, 58)], [[0, 0, 255], [0, 0, 255]]);
    const inside = await picture({ target: { by: 'text', value: 'In' } }, [80, 30]);
    assert.deepEqual([inside.at(2, 2), inside.at(77, 27)], [[255, 255, 0], [255, 255, 0]]);

    await b.page(tab, 'scrollTo(0, 0)');
    near((await b.ok('scroll', { tab_id: tab, dy: 300, trusted: true })).moved.dy, 300);
    assert.deepEqual(await page('[innerWidth, innerHeight, devicePixelRatio]'), [...view, dpr]);
    await b.ok('close_tab', { tab_id: tab });
  });
}
