// The overlay: a person sees where somebody acts, and nobody else does: not the page's hit test, not what reads or looks for elements, not
// the bridge's own pictures.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPopup, popupShows } from './harness/popup.mjs';
import { pixel } from './harness/png.mjs';
import { start } from './harness/start.mjs';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const html = `<!doctype html><title>Overlay</title><style>body { margin: 0; background: #fff } button, input { position: absolute; left: 100px; width: 200px; height: 60px; border: 0; background: #ddd }</style>
<button id="go" style="top: 100px" onclick="clicks++">Go</button><input id="name" style="top: 200px"><div id="from" style="position: absolute; top: 300px; width: 50px; height: 50px; background: #ccc"></div>
<form id="odd" style="position: absolute; top: 420px; left: 20px; width: 60px; height: 30px"><input type="hidden" name="getBoundingClientRect"></form>
<dialog id="modal"><button id="in-modal" style="position: static" onclick="clicks++">Inside</button></dialog>
<script>
  window.clicks = 0; window.came = 0; window.open = [];
  new MutationObserver((records) => { for (const r of records) for (const n of r.addedNodes) if (n.localName === 'bridged-overlay') { came++; open.push(n.shadowRoot); } }).observe(document, { childList: true, subtree: true });
</script>`;

let b;
let tab;
let session;
before(async () => {
  b = await start({ daemon: 'hub', pages: { '/': html, '/frame': `<title>f</title><iframe src="/" width="600" height="500"></iframe>` } });
  tab = await b.open('/');
  session = await attach(`${b.base}/`);
});
after(() => b?.stop());

async function attach(url) {
  const [{ targetId }] = await b.chromium.targets((t) => t.type === 'page' && t.url === url);
  return (await b.chromium.cdp.send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
}
const cdp = (method, params) => b.chromium.cdp.send(method, params, session);
const page = async (expression) => (await cdp('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })).result.value;

/** What hangs in the overlay's shadow root now: class names with their boxes. */
async function drawn() {
  const { root } = await cdp('DOM.getDocument', { depth: -1, pierce: true });
  const find = (node) => (node.nodeName === 'BRIDGED-OVERLAY' ? node : [...(node.children ?? []), ...(node.contentDocument ? [node.contentDocument] : [])].map(find).find(Boolean));
  const host = find(root);
  if (!host) return undefined;
  const [shadow] = host.shadowRoots;
  const named = async ({ nodeId, attributes }) => {
    const name = attributes[attributes.indexOf('class') + 1];
    const { model } = await cdp('DOM.getBoxModel', { nodeId }).catch(() => ({}));
    return [name, model && { x: model.border[0], y: model.border[1], width: model.width, height: model.height }];
  };
  return { kind: shadow.shadowRootType, ...Object.fromEntries(await Promise.all(shadow.children.map(named))) };
}

async function shown(want = (d) => d !== undefined) {
  for (let i = 0; i < 40; i++) {
    const now = await drawn();
    if (want(now)) return now;
    await sleep(25);
  }
  throw new Error(`the overlay shows ${JSON.stringify(await drawn())}`);
}
/** Out of the document, as a page might take it: what is seen next is new. */
const clear = () => page('document.querySelector("bridged-overlay")?.remove()');
const gone = async () => { for (let i = 0; i < 200; i++) { if (await page('!document.querySelector("bridged-overlay")')) return; await sleep(30); } throw new Error('the overlay stays'); };

async function setSwitches(on) {
  const popup = await openPopup(b);
  for (const id of ['box', 'cursor']) {
    await popupShows(b, popup, id, on ? /^Off$/ : /^On$/);
    await b.chromium.evaluate(popup, `document.getElementById('${id}').click()`);
    await popupShows(b, popup, id, on ? /^On$/ : /^Off$/);
    assert.equal(await b.chromium.evaluate(popup, `document.getElementById('${id}').getAttribute('aria-checked')`), String(on));
  }
  await b.chromium.cdp.send('Target.closeTarget', { targetId: popup });
  await b.ok('activate_tab', { tab_id: tab });
}

test('off by default in a browser without a window', async () => {
  assert.match(await b.chromium.inWorker('navigator.userAgent'), /HeadlessChrome/);
  await b.ok('click', { tab_id: tab, target: { value: '#go' } });
  assert.deepEqual(await page('new Promise((r) => setTimeout(r, 100)).then(() => [clicks, came])'), [1, 0]);
});

test('switched on in the popup, and kept', async () => {
  await setSwitches(true);
  assert.deepEqual(await b.chromium.inWorker('chrome.storage.local.get("overlay")'), { overlay: { box: true, cursor: true } });
});

test('a box around the element and the pointer on it, in a closed shadow root', async () => {
  await b.ok('click', { tab_id: tab, target: { value: '#go' } });
  const { kind, box, cursor, ripple } = await shown();
  assert.equal(kind, 'closed');
  assert.deepEqual(box, { x: 96, y: 96, width: 208, height: 68 });
  assert.ok(cursor && ripple, 'no pointer');
  assert.ok(Math.abs(cursor.x - 200) < 5 && Math.abs(cursor.y - 130) < 5, JSON.stringify(cursor));
  assert.deepEqual(await page('[clicks, open.every((root) => root === null)]'), [2, true]);
});

test('a series of acts brings it into the document once, and then it goes', async () => {
  await gone();
  const before = await page('came');
  for (let i = 0; i < 4; i++) await b.ok('click', { tab_id: tab, target: { value: '#go' } });
  await shown();
  assert.equal(await page('came') - before, 1);
  await gone();
});

test('it is in nobody\'s way: hit test, looking for elements, reading', async () => {
  const look = async () => {
    const [content, markdown, tree, snapshot] = [
      await b.ok('get_page_content', { tab_id: tab }), await b.ok('get_page_markdown', { tab_id: tab }), await b.ok('get_a11y_tree', { tab_id: tab }), await b.ok('snapshot', { tab_id: tab, mode: 'full', include_hidden: true }),
    ];
    return JSON.stringify([content, markdown, tree, snapshot]);
  };
  const without = await look();
  const act = async () => { await b.ok('click', { tab_id: tab, target: { value: '#go' } }); await shown(); };
  await act();
  assert.equal(await page('document.elementFromPoint(200, 130).id'), 'go');
  assert.equal(await page('document.elementsFromPoint(200, 130).some((e) => e.localName.startsWith("bridged"))'), false);
  await act();
  assert.equal(await look(), without);
  for (const target of [{ value: 'bridged-overlay' }, { by: 'xpath', value: '//*[@popover]' }, { value: '.ripple' }]) {
    await act();
    assert.equal((await b.fails('get_value', { tab_id: tab, target, timeout: 300 })).code, 'ELEMENT_NOT_FOUND');
  }
});

test('the bridge\'s pictures are without it', async () => {
  for (const params of [{}, { full_page: true }, { target: { value: 'body' } }]) {
    let sure = false;
    for (let i = 0; i < 8 && !sure; i++) {
      await b.ok('click', { tab_id: tab, target: { value: '#go' } });
      await shown();
      const { data } = await b.ok('screenshot', { tab_id: tab, ...params });
      const now = Buffer.from((await cdp('Page.captureScreenshot', { format: 'png' })).data, 'base64');
      // Only where it was still in view afterwards does its absence say anything.
      sure = pixel(now, 97, 110).some((c) => c < 240);
      if (params.target) continue;
      assert.deepEqual(pixel(Buffer.from(data.slice(data.indexOf(',') + 1), 'base64'), 97, 110), [255, 255, 255], JSON.stringify(params));
    }
    assert.ok(sure || params.target, `never in view for ${JSON.stringify(params)}`);
  }
});

test('the browser\'s own input is shown too', async () => {
  await clear();
  await b.ok('click', { tab_id: tab, target: { value: '#go' }, trusted: true });
  assert.ok((await shown((d) => d?.box && d.cursor)).ripple);
  await clear();
  await b.ok('mouse_click', { tab_id: tab, x: 500, y: 400 });
  const { box } = await shown((d) => Math.abs(d?.cursor?.x - 500) < 5 && Math.abs(d.cursor.y - 400) < 5);
  assert.equal(box, undefined);
  await clear();
  await b.ok('drag', { tab_id: tab, from: { value: '#from' }, to: { x: 600, y: 100 } });
  await shown((d) => d?.box);
});

test('a field that is filled in gets a box and no pointer; a dialog does not hide it', async () => {
  await gone();
  await b.ok('set_value', { tab_id: tab, target: { value: '#name' }, value: 'x' });
  const { box, cursor } = await shown((d) => d?.box);
  assert.equal(box.y, 196);
  assert.equal(cursor, undefined);
  await page('modal.showModal()');
  await b.ok('click', { tab_id: tab, target: { value: '#in-modal' } });
  await shown((d) => d?.cursor);
  assert.equal(await page('document.querySelector("bridged-overlay").matches(":popover-open")'), true);
  await page('modal.close()');
});

test('who moves as little as possible sees it come and go without motion', async () => {
  await cdp('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] });
  await clear();
  await b.ok('click', { tab_id: tab, target: { value: '#go' } });
  await shown();
  const { root } = await cdp('DOM.getDocument', { depth: -1, pierce: true });
  const host = root.children.at(-1).children.find((n) => n.nodeName === 'BRIDGED-OVERLAY');
  for (const { nodeId } of host.shadowRoots[0].children) {
    const { computedStyle } = await cdp('CSS.enable').then(() => cdp('CSS.getComputedStyleForNode', { nodeId }));
    assert.equal(computedStyle.find((p) => p.name === 'animation-name').value, 'none');
  }
  // On paper it is not.
  await cdp('Emulation.setEmulatedMedia', { media: 'print', features: [] });
  assert.equal(await page('getComputedStyle(document.querySelector("bridged-overlay")).display'), 'none');
  await cdp('Emulation.setEmulatedMedia', { media: '', features: [] });
});

test('a form whose control hides the form\'s own method is shown as well', async () => {
  await clear();
  await b.ok('click', { tab_id: tab, target: { value: '#odd' } });
  assert.equal((await shown((d) => d?.box)).box.y, 416);
});

test('in a child frame it is drawn in the frame', async () => {
  const framed = await b.open('/frame');
  await b.ok('click', { tab_id: framed, target: { value: '#go' } });
  const there = `document.querySelector('iframe').contentDocument.querySelector('bridged-overlay') !== null`;
  for (let i = 0; i < 40 && !(await b.chromium.inPage('/frame', there)); i++) await sleep(25);
  assert.equal(await b.chromium.inPage('/frame', there), true);
  await b.ok('close_tab', { tab_id: framed });
  await b.ok('activate_tab', { tab_id: tab });
});

test('switched off again, nothing is drawn', async () => {
  await setSwitches(false);
  await clear();
  const before = await page('came');
  await b.ok('click', { tab_id: tab, target: { value: '#go' } });
  assert.equal(await page('new Promise((r) => setTimeout(r, 100)).then(() => came)'), before);
});
