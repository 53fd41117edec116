// Before an act: an element is waited for until it can be acted on as a person could, and if it never can, the reason is told.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

// What a page does later: by its own timer, or when its server answers. Chrome slows a hidden page's timers down as it sees fit, its network not.
const LATER = '<script>const later = (f, ms) => { if (location.search === "?server") fetch("/after").then(f); else setTimeout(f, ms); }</script>';
const NO = (body) => `${LATER}<body onclick="window.stray = (window.stray ?? 0) + (event.target.id === 'go' ? 0 : 1)">${body}<script>window.n = 0; document.querySelector('#go')?.addEventListener('click', () => n++);</script>`;

const pages = {
  '/late': NO('<script>later(() => document.body.insertAdjacentHTML("beforeend", "<button id=late onclick=\'n++\'>Late</button>"), 700)</script>'),
  '/toast': NO('<button id="go" style="position:fixed;bottom:10px;right:10px">Go</button><div id="toast" style="position:fixed;right:0;bottom:0;width:300px;height:100px;background:#ccc">Toast</div><script>later(() => toast.remove(), 900)</script>'),
  '/covered': NO('<button id="go">Go</button><div id="veil" style="position:fixed;inset:0;background:#0008"></div>'),
  '/through': NO('<button id="go">Go</button><div style="position:fixed;inset:0;pointer-events:none;background:#0004"></div>'),
  '/partly': NO('<button id="go" style="width:300px;height:60px">Go</button><div style="position:absolute;left:100px;top:0;width:120px;height:80px;background:#ccc"></div>'),
  '/disabled': NO('<button id="go" disabled>Go</button><script>later(() => { go.disabled = false; }, 700)</script>'),
  '/onblur': NO('<input id="field"><button id="go" disabled>Go</button><script>field.onblur = () => { go.disabled = !field.value; }</script>'),
  '/never': NO(`<fieldset id="fs" disabled><legend>L</legend><button id="go">Go</button></fieldset><button id="aria" aria-disabled="true">Aria</button><div inert><button id="inert">Inert</button></div>
    <button disabled id="outer"><span id="inner">Inner</span></button><button id="hidden" hidden>Hidden</button><div style="visibility:hidden"><button id="invisible">Invisible</button></div>
    <div style="display:none" id="box"><button id="boxed">Boxed</button></div><span id="empty"></span><details><summary>S</summary><button id="folded">Folded</button></details><button id="deaf" style="pointer-events:none">Deaf</button>
    <button id="away" style="position:absolute;left:-9999px">Away</button>`),
  '/modal': '<input id="field"><select id="list"><option>a<option>b</select><dialog id="d"><input id="inside"></dialog><x-d></x-d><script>window.keys = 0; field.onkeydown = () => keys++; customElements.define("x-d", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<dialog id=deep><button>OK</button></dialog>"; } }); d.showModal();</script>',
  '/stacked': `<input id="field"><dialog id="third"><input id="in3"><input type="checkbox" id="box3"></dialog><dialog id="first"><input id="in1"><select id="list1"><option>a<option>b</select><input type="checkbox" id="box1"></dialog>
    <dialog id="second"><input id="in2"><select id="list2"><option>a<option>b</select></dialog><div id="pop" popover="manual" style="inset:auto 0 0 auto"><input id="inpop"></div>
    <script>window.told = []; addEventListener('input', (e) => told.push(e.target.id)); first.showModal(); second.showModal(); third.showModal(); pop.showPopover();</script>`,
  '/legend': NO('<fieldset disabled><legend><button id="go">Go</button></legend></fieldset>'),
  '/slide': NO('<style>@keyframes in { from { transform: translateX(-400px) } to { transform: none } } #go { animation: in 900ms linear; position:absolute; left: 20px }</style><button id="go">Go</button><script>go.addEventListener("click", () => { window.at = go.getBoundingClientRect().x; });</script>'),
  '/spin': NO('<style>@keyframes p { from { transform: scale(1) } to { transform: scale(1.1) } } #go { animation: p 300ms infinite alternate; }</style><button id="go">Go</button>'),
  '/far': NO('<div style="height:3000px"></div><div id="box" style="height:200px;overflow:auto"><div style="height:1500px"></div><button id="go">Go</button><div style="height:500px"></div></div><div style="height:3000px"></div><script>go.addEventListener("click", () => { const r = go.getBoundingClientRect(); window.seen = r.top >= 0 && r.bottom <= innerHeight; });</script>'),
  '/header': NO('<div style="position:fixed;left:0;right:0;top:0;height:45vh;background:#eee" id="head">Header</div><div style="position:fixed;left:0;right:0;bottom:0;height:20vh;background:#eee">Footer</div><div style="height:150vh"></div><button id="go">Go</button><div style="height:300vh"></div>'),
  '/edge': NO('<div style="height:calc(100vh - 25px)"></div><button id="go" style="height:40px">Go</button><div style="height:300vh"></div><script>go.addEventListener("click", () => { const r = go.getBoundingClientRect(); window.whole = r.bottom <= innerHeight; });</script>'),
  '/observer': NO('<div style="height:3000px"></div><button id="go" data-off>Go</button><script>new IntersectionObserver((es) => { if (es.some((e) => e.isIntersecting)) delete go.dataset.off; }).observe(go); go.addEventListener("click", () => { window.woken = !("off" in go.dataset); });</script>'),
  '/redrawn': `<div id="root"></div><script>window.n = 0; let i = 0; const draw = () => { root.innerHTML = '<button class="b" ' + (i++ < 8 ? 'disabled' : '') + ' onclick="n++">Go</button>'; if (i < 30) setTimeout(draw, 60); }; draw();</script>`,
  '/other': '<title>Other</title><button id="go" onclick="window.n = 1">Go</button>',
};

let b;
before(async () => { b = await start({ pages, routes: { '/after': { delay: 700, body: 'now' } } }); });
after(() => b?.stop());

const click = async (path, value = '#go', more = {}) => {
  const tab = await b.open(path);
  return { tab, answer: await b.call('click', { tab_id: tab, target: { value }, ...more }) };
};
const works = async (path, expression = 'n', expected = 1, value = '#go') => {
  const { answer } = await click(path, value);
  assert.equal(answer.success, true, answer.error);
  assert.equal(await b.inPage(path, expression), expected);
};

test('an element that comes later is waited for', () => works('/late', 'n', 1, '#late'));

test('what lies over the element for a moment is waited out, and never clicked', async () => {
  await works('/toast');
  assert.equal(await b.inPage('/toast', 'window.stray ?? 0'), 0);
});

test('what covers the element for good is named', async () => {
  const { answer } = await click('/covered', '#go', { timeout: 400 });
  assert.equal(answer.code, 'ELEMENT_NOT_ACTIONABLE');
  assert.match(answer.error, /covered by <div id="veil">/);
  assert.equal(await b.inPage('/covered', 'n + (window.stray ?? 0)'), 0);
});

test('a veil that lets the pointer through does not count, and a free part is enough', async () => {
  await works('/through');
  await works('/partly');
});

test('disabled, then enabled', () => works('/disabled'));

test('a button that is enabled only when the filled field has lost the focus, as a press on it takes it', async () => {
  for (const trusted of [false, true]) {
    const tab = await b.open(`/onblur?${trusted}`);
    await b.ok('set_value', { tab_id: tab, target: { value: '#field' }, value: 'x' });
    await b.ok('click', { tab_id: tab, target: { value: '#go' }, trusted });
    assert.equal(await b.inPage(`/onblur?${trusted}`, 'n'), 1);
  }
  const tab = await b.open('/onblur?empty');
  await b.ok('click', { tab_id: tab, target: { value: '#field' } });
  assert.match((await b.fails('click', { tab_id: tab, target: { value: '#go' }, timeout: 800 })).error, /it is disabled/);
});

test('why an element cannot be clicked', async () => {
  const tab = await b.open('/never');
  for (const [id, why] of [['go', /disabled by its <fieldset id="fs">/], ['aria', /aria-disabled/], ['inert', /inert/], ['inner', /inside <button id="outer">, which is disabled/], ['hidden', /display: none/],
    ['invisible', /visibility: hidden/], ['boxed', /hidden by <div id="box">/], ['empty', /no size/], ['folded', /closed <details/], ['deaf', /pointer-events: none/], ['away', /cannot be scrolled into view/]]) {
    const { code, error } = await b.fails('click', { tab_id: tab, target: { value: `#${id}` }, timeout: 80 });
    assert.equal(code, 'ELEMENT_NOT_ACTIONABLE', id);
    assert.match(error, why, id);
  }
  assert.equal(await b.inPage('/never', 'n + (window.stray ?? 0)'), 0);
});

test('what is behind a modal dialog takes no value and no key', async () => {
  const tab = await b.open('/modal');
  const acts = { set_value: { value: 'x' }, press_key: { key: 'x' }, type_text: { text: 'x' } };
  const refused = async (method, id, dialog) => {
    const { code, error } = await b.fails(method, { tab_id: tab, target: { value: id }, timeout: 100, ...(acts[method] ?? { text: 'b' }) });
    assert.equal(code, 'ELEMENT_NOT_ACTIONABLE', method);
    assert.match(error, new RegExp(`behind the open <dialog id="${dialog}"`), method);
  };
  for (const method of ['set_value', 'press_key', 'type_text', 'select_option']) await refused(method, method === 'select_option' ? '#list' : '#field', 'd');
  await b.ok('set_value', { tab_id: tab, target: { value: '#inside' }, value: 'in' });
  await b.ok('press_key', { tab_id: tab, target: { value: 'body' }, key: 'Escape' });
  await b.ok('set_value', { tab_id: tab, target: { value: '#field' }, value: 'out' });
  await b.inPage('/modal', 'document.querySelector("x-d").shadowRoot.getElementById("deep").showModal()');
  await refused('set_value', '#field', 'deep');
  assert.deepEqual(await b.inPage('/modal', '[field.value, list.value, inside.value, keys]'), ['out', 'a', 'in', 0]);
});

test('the legend of a disabled fieldset is not disabled', () => works('/legend'));

test('an element that slides in is clicked when it has arrived; one that never rests is not waited for', async () => {
  await works('/slide', 'at', 20);
  await works('/spin');
});

test('scrollers inside scrollers bring the element into view', () => works('/far', 'seen', true));

test('a header and a footer that stay in place do not hide it', async () => {
  await works('/header');
  assert.equal(await b.inPage('/header', 'window.stray ?? 0'), 0);
});

test('an element that is cut by the edge of the view is brought in whole', () => works('/edge', 'whole', true));

test('what wakes up on being seen has been woken before the click', () => works('/observer', 'woken', true));

test('an element that is drawn anew again and again is clicked once', () => works('/redrawn', 'n', 1, '.b'));

test('in a tab in the background, too', async () => {
  for (const path of ['/late', '/toast', '/disabled', '/slide', '/far']) {
    const tab = await b.open(`${path}?server`);
    await b.open('/other');
    const value = path === '/late' ? '#late' : '#go';
    await b.ok('click', { tab_id: tab, target: { value } });
    assert.equal(await b.inPage(`${path}?server`, 'n'), 1, path);
  }
});

test('an element that never comes: told in time, with what was looked for', async () => {
  const from = Date.now();
  const { answer } = await click('/other', '#never', { timeout: 500 });
  assert.equal(answer.code, 'ELEMENT_NOT_FOUND');
  assert.match(answer.error, /css "#never" was not found \(waited \d+ ms\)/);
  assert.ok(Date.now() - from >= 500);
});

test('one deadline: the timeout of the request cuts that of the method', async () => {
  const tab = await b.open('/other');
  const answer = await b.call('click', { tab_id: tab, target: { value: '#never' }, timeout: 60000 }, { timeout_ms: 1200 });
  assert.equal(answer.success, false);
  assert.match(answer.error, /#never/);
});

test('a wait goes on in the next page of the same site, and ends on another site', async () => {
  const tab = await b.open('/late');
  const waiting = b.call('click', { tab_id: tab, target: { value: 'button#go' }, timeout: 6000 });
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/other` });
  const went = await waiting;
  assert.equal(went.success, true, went.error);
  const there = b.call('click', { tab_id: tab, target: { value: '#never' }, timeout: 6000 });
  await b.ok('navigate', { tab_id: tab, url: `${b.cross}/late` });
  const ended = await there;
  assert.equal(ended.code, 'NAVIGATION_FAILED');
  assert.match(ended.error, /while the element was waited for/);
});

test('of modal dialogs that stand open over one another only the one on top is acted in, whatever their order in the page and wherever the focus is', async () => {
  const tab = await b.open('/stacked');
  const at = (value) => ({ tab_id: tab, target: { value }, timeout: 300 });
  const told = () => b.inPage('/stacked', 'told.splice(0)');
  const behind = async (method, id, more, dialog) => {
    const { code, error } = await b.fails(method, { ...at(id), ...more });
    assert.equal(code, 'ELEMENT_NOT_ACTIONABLE', error);
    assert.match(error, method === 'check' ? /./ : new RegExp(`behind the open <dialog id="${dialog}">`));
  };
  for (const id of ['#field', '#in1', '#in2', '#inpop']) await behind('set_value', id, { value: 'x' }, 'third');
  await behind('select_option', '#list1', { text: 'b' }, 'third');
  await behind('press_key', '#in2', { key: 'x' }, 'third');
  await behind('check', '#box1', { checked: true }, 'third');
  await b.inPage('/stacked', 'document.activeElement.blur()');
  await b.ok('set_value', { ...at('#in3'), value: 'x' });
  await b.ok('check', { ...at('#box3'), checked: true });
  assert.deepEqual(await told(), ['in3', 'box3']);
  await b.inPage('/stacked', 'third.close()');
  await behind('set_value', '#in1', { value: 'x' }, 'second');
  await b.ok('select_option', { ...at('#list2'), text: 'b' });
  await b.ok('set_value', { ...at('#in2'), value: 'x' });
  await b.inPage('/stacked', 'second.close()');
  await b.ok('select_option', { ...at('#list1'), text: 'b' });
  await b.inPage('/stacked', 'first.close()');
  await b.ok('set_value', { ...at('#inpop'), value: 'x' });
  await b.ok('set_value', { ...at('#field'), value: 'x' });
  assert.deepEqual(await told(), ['list2', 'in2', 'list1', 'inpop', 'field']);
});
