// Real windows on a screen of their own: covered and minimised ones, the debugger's bar with its Cancel, the print preview and the
// password prompt, none of which a headless browser has.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startDisplay } from './harness/display.mjs';
import { pixel } from './harness/png.mjs';
import { start } from './harness/start.mjs';

const SAY = '<script src="/__page.js"></script>';
const pages = {
  '/': `<!doctype html><title>Page</title><style>body { margin: 0; background: rgb(255, 0, 0) } #low { position: absolute; top: 1500px; left: 30px; width: 80px; height: 40px; background: rgb(0, 0, 255) }</style>
    <button id="go" onclick="window.n = (window.n ?? 0) + 1">Go</button><input id="f"><div style="height:2000px"></div><div id="low"></div>`,
  '/cover': '<!doctype html><title>Cover</title><body style="background:rgb(0,0,0)">',
  '/print': `<!doctype html><title>Print</title>${SAY}<button id="p" onclick="say('before', 1); print(); say('after', 1)">print</button>`,
};
const routes = { '/secret': { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: '<!doctype html><title>Refused</title>refused' } };
let display, b;
before(async () => {
  display = await startDisplay({ width: 1600, height: 1200 });
  b = await start({ pages, routes, headful: true, occlusion: true, bar: true, env: display.env, daemon: 'real' });
});
after(async () => {
  await b?.stop();
  await display?.stop();
});
const worker = async (expression) => JSON.parse(await b.chromium.inWorker(`(async () => JSON.stringify((await (${expression})) ?? null))()`));
const until = async (what, ask, ms = 10_000) => {
  for (const end = Date.now() + ms; ;) {
    if (await ask()) return;
    if (Date.now() > end) throw new Error(`did not come: ${what}`);
    await new Promise((r) => setTimeout(r, 25));
  }
};
const attached = (part) => worker(`chrome.debugger.getTargets().then((all) => all.filter((t) => t.attached && t.url.includes(${JSON.stringify(part)})).length)`);
const paint = (part, color) => b.inPage(part, `void (document.body.style.background = '${color}')`);
const state = (id) => worker(`chrome.windows.get(${id}).then((w) => w.state)`);

async function shot(tab, x, y, more = {}) {
  const { data, width, height } = await b.ok('screenshot', { tab_id: tab, ...more });
  return { at: pixel(Buffer.from(data.slice(data.indexOf(',') + 1), 'base64'), x, y), width, height };
}
/** A window of its own. The window manager heeds the place and size only afterwards. */
async function show(path, bounds) {
  const made = await worker(`chrome.windows.create({ url: ${JSON.stringify(b.base + path)}, focused: true }).then((w) => ({ id: w.id, tab: w.tabs[0].id }))`);
  await worker(`chrome.windows.update(${made.id}, ${JSON.stringify(bounds)})`);
  await until('its place', () => worker(`chrome.windows.get(${made.id}).then((w) => w.left === ${bounds.left} && w.width === ${bounds.width})`));
  return made;
}
async function open(part) {
  const { id, tab } = await show(`/${part}`, { left: 100, top: 100, width: 800, height: 600 });
  await until('the page', async () => (await b.call('get_value', { tab_id: tab, target: { value: '#f' } })).success);
  return { id, tab };
}
async function cover() {
  const { id } = await show('/cover', { left: 20, top: 20, width: 1200, height: 1000 });
  return { id, uncover: () => worker(`chrome.windows.remove(${id})`) };
}

test('a fully covered window: its page as it is now, not as it was last drawn; it stays covered', async () => {
  const { id, tab } = await open('?covered');
  assert.deepEqual((await shot(tab, 300, 200)).at, [255, 0, 0]);
  const over = await cover();
  const height = await b.inPage('?covered', 'innerHeight');
  await until('the page to be asleep', () => b.inPage('?covered', 'document.visibilityState === "hidden"'));
  for (const [color, rgb] of [['rgb(0,255,0)', [0, 255, 0]], ['rgb(255,255,0)', [255, 255, 0]], ['rgb(0,255,255)', [0, 255, 255]]]) {
    await paint('?covered', color);
    const seen = await shot(tab, 300, 200);
    assert.deepEqual(seen.at, rgb);
    // The debugger's bar comes with the first one, and takes some of the view.
    await until('the bar', () => b.inPage('?covered', `innerHeight < ${height}`));
    if (color !== 'rgb(0,255,0)') assert.deepEqual([seen.width, seen.height], await b.inPage('?covered', '[innerWidth, innerHeight]'));
  }
  await paint('?covered', 'rgb(255,0,255)');
  assert.deepEqual((await shot(tab, 300, 1900, { full_page: true })).at, [255, 0, 255]);
  assert.deepEqual((await shot(tab, 10, 10, { target: { value: '#low' } })).at, [0, 0, 255]);
  // Trusted input works there too, and nothing is brought to the front.
  await b.ok('click', { tab_id: tab, target: { value: '#go' }, trusted: true });
  assert.equal((await b.ok('type_text', { tab_id: tab, target: { value: '#f' }, text: 'covered' })).value, 'covered');
  await until('the other window to be in front again', () => worker(`chrome.windows.get(${over.id}).then((w) => w.focused)`));
  assert.equal(await b.inPage('?covered', 'n'), 1);
  await over.uncover();
  await worker(`chrome.windows.remove(${id})`);
});

test('a minimised window: its page as it is now, and it stays minimised', async () => {
  const { id, tab } = await open('?small');
  await worker(`chrome.windows.update(${id}, { state: 'minimized' })`);
  await until('the window to be minimised', async () => (await state(id)) === 'minimized' && (await b.inPage('?small', 'document.visibilityState')) === 'hidden');
  for (const [color, rgb] of [['rgb(0,255,0)', [0, 255, 0]], ['rgb(255,255,0)', [255, 255, 0]]]) {
    await paint('?small', color);
    assert.deepEqual((await shot(tab, 300, 200)).at, rgb);
  }
  await paint('?small', 'rgb(255,0,255)');
  assert.deepEqual((await shot(tab, 300, 1900, { full_page: true })).at, [255, 0, 255]);
  await b.ok('click', { tab_id: tab, target: { value: '#go' }, trusted: true });
  assert.equal(await b.inPage('?small', 'n'), 1);
  await b.ok('mouse_click', { tab_id: tab, x: 300, y: 300 });
  assert.equal((await b.ok('type_text', { tab_id: tab, target: { value: '#f' }, text: 'small' })).value, 'small');
  await until('the window to be minimised again', async () => (await state(id)) === 'minimized');
  await worker(`chrome.windows.remove(${id})`);
});

test('a tab behind another in a covered window: shown in its window, taken as it is', async () => {
  const { id, tab } = await open('?back');
  await worker(`chrome.tabs.create({ windowId: ${id}, url: ${JSON.stringify(`${b.base}/cover?front`)} }).then(() => 1)`);
  const over = await cover();
  await until('the window to be asleep', () => b.inPage('/cover?front', 'document.visibilityState === "hidden"'));
  await paint('?back', 'rgb(0,255,0)');
  assert.deepEqual((await shot(tab, 300, 200)).at, [0, 255, 0]);
  await over.uncover();
  await worker(`chrome.windows.remove(${id})`);
});

/** Presses Cancel in the bar under the window's toolbar, as a person does: with the mouse. */
async function pressCancel(part) {
  const [left, bottom, width] = await b.inPage(part, '[screenX, screenY + outerHeight - innerHeight, outerWidth]');
  await until('the bar', async () => (await b.inPage(part, 'outerHeight - innerHeight')) > 120);
  const top = await b.inPage(part, 'screenY + outerHeight - innerHeight');
  assert.ok(top >= bottom);
  // The words and the button stand in the middle, the button to their right: how far depends on the font.
  for (const right of [153, 140, 170, 125, 190, 110, 210]) {
    display.xdotool('mousemove', left + width / 2 + right, top - 30, 'click', 1);
    for (let i = 0; i < 12; i++) {
      if (!(await attached(part))) return;
      await new Promise((r) => setTimeout(r, 25));
    }
  }
  throw new Error('Cancel was not found in the bar');
}

test("the person's Cancel in the bar: a clear word to the call under way and the next ones, no second try, and later it works again", async () => {
  const { id, tab } = await open('?cancel');
  const click = (more = {}) => ({ tab_id: tab, target: { value: '#go' }, ...more });
  await b.ok('click', click({ trusted: true }));
  assert.equal(await attached('?cancel'), 1);
  const typing = b.call('type_text', { tab_id: tab, target: { value: '#f' }, text: 'x'.repeat(400), delay_ms: 40 });
  await until('the first letters', () => b.inPage('?cancel', 'f.value.length > 2'));
  await pressCancel('?cancel');
  const cut = await typing;
  assert.deepEqual([cut.success, cut.code, cut.maybe_executed], [false, 'DENIED_BY_USER', true]);
  assert.match(cut.error, /Cancel.*5 more minutes.*click, set_value/);
  for (const [method, params] of [['click', click({ trusted: true })], ['send_keys', { tab_id: tab, keys: 'x' }], ['save_as_pdf', { tab_id: tab }], ['screenshot', { tab_id: tab, full_page: true }]]) {
    assert.equal((await b.fails(method, params)).code, 'DENIED_BY_USER', method);
    assert.equal(await attached('http'), 0);
  }
  // What needs no debugger works on, in the next call.
  await b.ok('click', click());
  assert.equal(await b.inPage('?cancel', 'n'), 2);
  assert.deepEqual((await shot(tab, 300, 200)).at, [255, 0, 0]);
  // Five minutes later, which are over here as soon as the worker reads them so.
  await worker(`chrome.storage.session.get('debugger').then((s) => chrome.storage.session.set({ debugger: { ...s.debugger, cancelledAt: Date.now() - 5 * 60_000 - 1 } }))`);
  await b.chromium.restartWorker();
  await b.ready();
  await b.ok('click', click({ trusted: true }));
  assert.equal(await b.inPage('?cancel', 'n'), 3);
  await worker(`chrome.windows.remove(${id})`);
});

test('print() opens the print preview, which is no dialog of the page: told as blocked in 5 s, other tabs go on, Escape ends it', async () => {
  const { id, tab } = await open('?print');
  const free = await b.open('/?free');
  await worker(`chrome.tabs.update(${tab}, { active: true })`);
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/print` });
  await worker(`chrome.windows.update(${id}, { focused: true })`);
  const from = Date.now();
  const { code, error, maybe_executed } = await b.fails('click', { tab_id: tab, target: { value: '#p' }, trusted: true });
  assert.deepEqual([code, maybe_executed], ['PAGE_BLOCKED', true]);
  assert.match(error, /print preview/);
  assert.ok(Date.now() - from < 9000);
  await b.heard('before');
  assert.equal(b.said.after, undefined);
  assert.equal((await b.ok('get_page_content', { tab_id: free })).title, 'Page');
  assert.equal((await b.fails('handle_dialog', { tab_id: tab, accept: true })).code, 'PAGE_BLOCKED');
  display.xdotool('key', 'Escape');
  assert.equal(await b.heard('after'), 1);
  assert.equal((await b.ok('get_page_content', { tab_id: tab })).title, 'Print');
  await worker(`chrome.windows.remove(${id})`);
});

test('HTTP authentication: the call is answered at once, the person is asked in the window, and other tabs go on', async () => {
  const { id, tab } = await open('?auth');
  const free = await b.open('/?free2');
  await worker(`chrome.tabs.update(${tab}, { active: true })`);
  await worker(`chrome.windows.update(${id}, { focused: true })`);
  const { code, error } = await b.fails('navigate', { tab_id: tab, url: `${b.base}/secret` }, { timeout_ms: 8000 });
  assert.equal(code, 'NAVIGATION_FAILED');
  assert.match(error, /ERR_INVALID_AUTH_CREDENTIALS/);
  assert.equal((await b.ok('get_page_content', { tab_id: free })).title, 'Page');
  // Chrome's own prompt stands in the window now; what a person types there is sent.
  assert.equal(b.site.count('/secret'), 1);
  await until('the name and password to be sent', async () => {
    display.xdotool('type', 'kim');
    display.xdotool('key', 'Tab');
    display.xdotool('type', 'secret');
    display.xdotool('key', 'Return');
    for (let i = 0; i < 20 && b.site.count('/secret') < 2; i++) await new Promise((r) => setTimeout(r, 25));
    return b.site.count('/secret') > 1;
  });
  await worker(`chrome.windows.remove(${id})`);
});
