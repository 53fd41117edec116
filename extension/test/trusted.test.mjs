// Trusted input: the page sees the browser's own events, at the right element, in frames three sites deep, behind other tabs, and
// never at something that moved into the way.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const LOG = `<script>window.log = []; for (const t of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu', 'keydown', 'keyup', 'beforeinput', 'input', 'wheel'])
  addEventListener(t, (e) => log.push([t, e.target.id || e.target.localName, e.isTrusted, e.button ?? e.key ?? e.data, e.detail, (e.altKey ? 'a' : '') + (e.ctrlKey ? 'c' : '') + (e.metaKey ? 'm' : '') + (e.shiftKey ? 's' : '')].join(' ')), true);</script>`;
const pages = {
  '/': `<!doctype html><title>Input</title>${LOG}<button id="go">Go</button><input id="f"><textarea id="t" rows="3"></textarea><input id="pw" type="password">
    <div id="e" contenteditable style="min-height:20px;border:1px solid">mine</div><div id="far" style="margin-top:3000px"><button id="low">Low</button></div>`,
  '/moving': `<!doctype html>${LOG}<style>button { position: absolute; top: 50px; width: 120px; height: 40px }</style><button id="right" style="left:20px">Right</button>
    <script>right.addEventListener('mousemove', () => { if (window.moved) return; window.moved = true;
      right.style.left = '300px'; const w = document.createElement('button'); w.id = 'wrong'; w.textContent = 'Wrong'; w.style.left = '20px'; document.body.append(w); }, { once: true });</script>`,
  '/lost': `<!doctype html><style>button { position: absolute; top: 50px; width: 120px; height: 40px }</style><button id="redrawn" style="left:20px">A</button><button id="shifted" style="left:220px">B</button><button id="shadowed" style="left:420px">C</button><x-c style="position:absolute;top:150px"></x-c><select id="s" style="position:absolute;top:250px"><option>1<option>2</select>
    <script>window.clicks = 0; redrawn.onmousedown = () => { redrawn.outerHTML = redrawn.outerHTML; }; shifted.onmousedown = () => { shifted.style.top = '400px'; }; for (const el of [redrawn, shifted]) el.onclick = () => clicks++;
    customElements.define('x-c', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'closed' }).innerHTML = '<button id=in>In</button>'; } });</script>`,
  '/late': `<!doctype html>${LOG}<button id="go" disabled>Go</button><div id="cover" style="position:fixed;inset:0;background:#eee">Loading</div>
    <script>setTimeout(() => { go.disabled = false; }, 200); setTimeout(() => cover.remove(), 500);</script>`,
  '/covered': `<!doctype html>${LOG}<button id="go">Go</button><div id="cover" style="position:fixed;inset:0">x</div>`,
  '/frames': '<!doctype html><title>Top</title><h1 style="margin:40px">Top</h1><iframe src="http://b.test:{{port}}/two" width="600" height="400" style="border:5px solid;margin:30px;padding:7px"></iframe>',
  '/below': '<!doctype html><div style="height:1500px">space</div><iframe src="http://b.test:{{port}}/four" height="100" style="border:5px solid;padding:7px"></iframe><div style="height:1500px">space</div><div style="position:fixed;left:0;right:0;bottom:0;height:200px;background:#eee">bar</div>',
  '/two': '<!doctype html><title>Two</title><p>Two</p><div style="height:500px">space</div><iframe src="http://c.test:{{port}}/three" width="500" height="300"></iframe>',
  '/three': '<!doctype html><title>Three</title><p>Three</p><iframe src="http://d.test:{{port}}/four" width="400" height="200" style="transform:scale(.8);transform-origin:0 0"></iframe>',
  '/four': `<!doctype html><title>Four</title><script src="/__page.js"></script><button id="deep" onclick="say('deep', event.isTrusted)">Deep</button><input id="in" oninput="say('typed', this.value)">
    <div id="hov" onmouseenter="say('hovered', event.isTrusted)">hover</div>`,
  '/links': '<!doctype html><a id="blank" href="/moving" target="_blank">Blank</a><a id="self" href="/late">Self</a>',
  '/drag': `<!doctype html>${LOG}<style>#box { width: 50px; height: 50px; background: red; position: absolute; left: 10px; top: 10px; touch-action: none }</style><div id="box"></div><div id="zone" style="position:absolute;left:300px;top:200px;width:100px;height:100px;background:#ddd"></div>
    <input id="range" type="range" min="0" max="100" value="0" style="position:absolute;top:400px;left:20px;width:300px"><script>
    box.addEventListener('pointerdown', (e) => { box.setPointerCapture(e.pointerId); const dx = e.clientX - box.offsetLeft, dy = e.clientY - box.offsetTop;
      box.onpointermove = (m) => { box.style.left = m.clientX - dx + 'px'; box.style.top = m.clientY - dy + 'px'; }; box.onpointerup = () => { box.onpointermove = null; window.dropped = [box.offsetLeft, box.offsetTop]; }; });</script>`,
  '/board': `<!doctype html><style>.c { padding: 8px; background: #dfd } #done { min-height: 100px; border: 1px solid; margin-top: 1200px }</style><div id="todo"><div class="c" id="c1" draggable="true">One</div><div class="c" id="c2" draggable="true">Two</div></div><div id="done"></div><script>
    window.events = []; for (const t of ['dragstart', 'dragenter', 'dragover', 'drop', 'dragend']) document.addEventListener(t, (e) => { if (events.at(-1) !== t) events.push(t); });
    document.addEventListener('dragstart', (e) => e.dataTransfer.setData('text/plain', e.target.id)); done.addEventListener('dragover', (e) => e.preventDefault());
    done.addEventListener('drop', (e) => { e.preventDefault(); done.append(document.getElementById(e.dataTransfer.getData('text/plain'))); });</script>`,
  '/menu': '<!doctype html><style>#sub { display: none } #m:hover #sub { display: block }</style><div id="m" style="width:200px">Menu<div id="sub"><button id="item" onclick="window.picked = event.isTrusted">Item</button></div></div>',
  '/scroll': '<!doctype html><title>S</title><div id="box" style="height:200px;overflow:auto;border:1px solid"><div style="height:2000px">long</div></div><div style="height:3000px"></div><script>window.wheels = 0; addEventListener("wheel", (e) => { if (e.isTrusted) wheels++; });</script>',
  '/rect': '<!doctype html><style>canvas { position: absolute; left: 100px; top: 80px }</style><canvas id="c" width="200" height="100"></canvas><script>window.hits = []; for (const t of ["click", "contextmenu", "auxclick", "dblclick"]) c.addEventListener(t, (e) => hits.push([t, e.offsetX, e.offsetY, e.isTrusted].join(" ")));</script>',
};

let b;
before(async () => {
  b = await start({ pages, flags: ['--host-resolver-rules=MAP *.test 127.0.0.1'] });
  for (const [path, body] of Object.entries(b.site.pages)) b.site.pages[path] = body.replaceAll('{{port}}', b.site.port);
});
after(() => b?.stop());
const css = (value) => ({ by: 'css', value });
const log = (part) => b.inPage(part, 'log');

test('a trusted click is one to the page, pressed, released and clicked once', async () => {
  const tab = await b.open('/?click');
  const { clicked } = await b.ok('click', { tab_id: tab, target: css('#go'), trusted: true });
  assert.equal(clicked.id, 'go');
  assert.deepEqual(await log('/?click'), ['pointerdown go true 0 0 ', 'mousedown go true 0 1 ', 'pointerup go true 0 0 ', 'mouseup go true 0 1 ', 'click go true 0 1 ']);
});

test('mouse_click: the button is left, right or middle, as CDP knows them (seed 2 §4.4)', async () => {
  const tab = await b.open('/rect');
  for (const [button, count, seen] of [['left', 1, ['click']], ['right', 1, ['contextmenu']], ['middle', 1, ['auxclick']], ['left', 2, ['click', 'click', 'dblclick']]]) {
    await b.inPage('/rect', 'void (hits.length = 0)');
    const done = await b.ok('mouse_click', { tab_id: tab, x: 150, y: 100, button, click_count: count });
    assert.deepEqual([done.x, done.y, done.button, done.click_count], [150, 100, button, count]);
    const hits = await b.inPage('/rect', 'hits');
    for (const kind of seen) assert.ok(hits.includes(`${kind} 50 20 true`), `${button}: ${hits}`);
  }
  assert.equal((await b.fails('mouse_click', { tab_id: tab, x: 150, y: 100, button: 'mouseLeft' })).code, 'INVALID_PARAMS');
  assert.equal((await b.fails('mouse_click', { tab_id: tab, x: 5000, y: 100 })).code, 'INVALID_PARAMS');
});

test('button, count and held keys', async () => {
  const tab = await b.open('/?buttons');
  await b.ok('click', { tab_id: tab, target: css('#go'), trusted: true, button: 'right' });
  assert.ok((await log('/?buttons')).includes('contextmenu go true 2 0 '));
  await b.ok('click', { tab_id: tab, target: css('#go'), trusted: true, click_count: 2, modifiers: ['shift', 'alt'] });
  const seen = await log('/?buttons');
  assert.ok(seen.includes('dblclick go true 0 2 as'), seen.join());
  assert.ok(seen.includes('click go true 0 1 as'));
});

test('waits until it can be clicked, and scrolls to it', async () => {
  const tab = await b.open('/late');
  await b.ok('click', { tab_id: tab, target: css('#go'), trusted: true });
  assert.equal((await log('/late')).filter((l) => l.startsWith('click go true')).length, 1);
  const far = await b.open('/?far');
  await b.ok('click', { tab_id: far, target: css('#low'), trusted: true });
  assert.ok((await log('/?far')).includes('click low true 0 1 '));
});

test('what stays covered is not clicked, and the cover is named', async () => {
  const tab = await b.open('/covered');
  const { code, error } = await b.fails('click', { tab_id: tab, target: css('#go'), trusted: true, timeout: 600 });
  assert.equal(code, 'ELEMENT_NOT_ACTIONABLE');
  assert.match(error, /covered by <div id="cover">/);
  assert.deepEqual(await log('/covered'), []);
});

test('an element that runs away from the pointer is aimed at again; what takes its place is never pressed', async () => {
  const tab = await b.open('/moving');
  await b.ok('click', { tab_id: tab, target: css('#right'), trusted: true });
  const seen = await log('/moving');
  assert.ok(seen.includes('click right true 0 1 '), seen.join());
  assert.ok(!seen.some((l) => l.includes('wrong')), seen.join());
});

test('a press after which the page has the element elsewhere, or has drawn it anew: no click comes of it, and it is said', async () => {
  const tab = await b.open('/lost');
  const click = (id) => b.ok('click', { tab_id: tab, target: css(id), trusted: true });
  assert.match((await click('#redrawn')).note, /took the element away when it was pressed/);
  assert.match((await click('#shifted')).note, /moved or hid it before the click/);
  assert.equal(await b.inPage('/lost', 'clicks'), 0);
  for (const id of ['#shadowed', '#in', '#s']) assert.equal((await click(id)).note, undefined, id);
});

test('a frame of another site, three deep, scaled and scrolled: clicked, typed into, hovered', async () => {
  const tab = await b.open(`http://a.test:${b.site.port}/frames`);
  const done = await b.ok('click', { tab_id: tab, target: css('#deep'), trusted: true });
  assert.match(done.frame, /d\.test.*\/four$/);
  assert.equal(await b.site.heard('deep'), true);
  await b.ok('hover', { tab_id: tab, target: css('#hov') });
  assert.equal(await b.site.heard('hovered'), true);
  const typed = await b.ok('type_text', { tab_id: tab, target: css('#in'), text: 'Hi ü 你' });
  assert.deepEqual([typed.value, await b.site.heard('typed', (v) => v === 'Hi ü 你')], ['Hi ü 你', 'Hi ü 你']);
  assert.match(typed.frame, /\/four$/);
});

test('a frame of another site that is out of view, where a bar covers the edge of the view', async () => {
  const tab = await b.open('/below');
  b.site.said.deep = undefined;
  await b.ok('click', { tab_id: tab, target: css('#deep'), trusted: true });
  assert.equal(await b.heard('deep'), true);
  await b.inPage('/below', 'document.body.insertAdjacentHTML("beforeend", "<div id=veil style=\\"position:fixed;inset:0\\">x</div>")');
  const { code, error } = await b.fails('click', { tab_id: tab, target: css('#deep'), trusted: true, timeout: 500 });
  assert.equal(code, 'ELEMENT_NOT_ACTIONABLE');
  assert.match(error, /covered there by <div id="veil">/);
});

test('the same in a tab that lies behind another, without bringing it to the front', async () => {
  const tab = await b.open('/?behind');
  const front = await b.open('/rect');
  await b.ok('click', { tab_id: tab, target: css('#go'), trusted: true });
  assert.equal((await b.ok('type_text', { tab_id: tab, target: css('#f'), text: 'behind' })).value, 'behind');
  assert.ok((await log('/?behind')).includes('click go true 0 1 '));
  const { tabs } = await b.ok('list_tabs');
  assert.equal(tabs.find((t) => t.tab_id === front).active, true);
  assert.equal(tabs.find((t) => t.tab_id === tab).active, false);
  await b.ok('close_tab', { tab_id: front });
});

test('a link that asks for a new tab leads on in this one; a plain one says where it went', async () => {
  const tab = await b.open('/links');
  const done = await b.ok('click', { tab_id: tab, target: css('#blank'), trusted: true });
  assert.equal(done.opened, undefined);
  assert.match(done.navigated, /\/moving$/);
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/links` });
  assert.match((await b.ok('click', { tab_id: tab, target: css('#self'), trusted: true })).navigated, /\/late$/);
});

test('type_text: trusted keys, shifted ones, lines, other scripts; what was there stays', async () => {
  const tab = await b.open('/?typing');
  assert.equal((await b.ok('type_text', { tab_id: tab, target: css('#f'), text: 'Ab!1' })).value, 'Ab!1');
  const seen = await log('/?typing');
  assert.ok(seen.includes('keydown f true A 0 s') && seen.includes('keydown f true b 0 ') && seen.includes('input f true b 0 '), seen.join('\n'));
  assert.equal((await b.ok('type_text', { tab_id: tab, text: 'é漢👍🏽' })).value, 'Ab!1é漢👍🏽');
  assert.equal((await b.ok('type_text', { tab_id: tab, target: css('#t'), text: 'one\ntwo' })).value, 'one\ntwo');
  assert.equal((await b.ok('type_text', { tab_id: tab, target: css('#e'), text: ' and more' })).value, 'mine and more');
  assert.equal((await b.ok('type_text', { tab_id: tab, target: css('#pw'), text: 'secret' })).value, '••••••');
  const long = 'The quick brown fox. '.repeat(40);
  assert.equal((await b.ok('type_text', { tab_id: tab, target: css('#t'), text: long })).value, `one\ntwo${long}`);
});

test('type_text says so when nothing of it got there', async () => {
  const tab = await b.open('/?eaten');
  await b.inPage('/?eaten', 'void f.addEventListener("beforeinput", (e) => e.preventDefault())');
  const { code, maybe_executed } = await b.fails('type_text', { tab_id: tab, target: css('#f'), text: 'lost' });
  assert.deepEqual([code, maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true]);
});

test('insert_text puts all in at once, without keys', async () => {
  const tab = await b.open('/?insert');
  await b.ok('click', { tab_id: tab, target: css('#f'), trusted: true });
  await b.inPage('/?insert', 'void (log.length = 0)');
  assert.equal((await b.ok('insert_text', { tab_id: tab, text: '你好, wörld' })).value, '你好, wörld');
  assert.deepEqual(await log('/?insert'), ['beforeinput f true 你好, wörld 0 ', 'input f true 你好, wörld 0 ']);
});

test('send_keys: shortcuts edit, Tab moves on, Enter submits, copy and paste', async () => {
  const tab = await b.open('/?keys');
  await b.ok('type_text', { tab_id: tab, target: css('#f'), text: 'hello world' });
  const value = () => b.inPage('/?keys', 'f.value');
  assert.deepEqual((await b.ok('send_keys', { tab_id: tab, keys: 'Control+A, Control+C, Delete' })).keys, ['Control+a', 'Control+c', 'Delete']);
  assert.equal(await value(), '');
  await b.ok('send_keys', { tab_id: tab, keys: 'Mod+V, Shift+1' });
  assert.equal(await value(), 'hello world!');
  await b.ok('send_keys', { tab_id: tab, keys: 'Control+Backspace, Control+Backspace' });
  assert.equal(await value(), 'hello ');
  await b.ok('send_keys', { tab_id: tab, keys: 'Control+Z' });
  assert.notEqual(await value(), 'hello ');
  await b.ok('send_keys', { tab_id: tab, keys: 'Tab, x' });
  assert.equal(await b.inPage('/?keys', 't.value'), 'x');
  assert.equal((await b.fails('send_keys', { tab_id: tab, keys: 'Hyperspace+A' })).code, 'INVALID_PARAMS');
});

test('hover opens what opens under the pointer, and it stays open for the next act', async () => {
  const tab = await b.open('/menu');
  await b.ok('hover', { tab_id: tab, target: css('#m') });
  await b.ok('click', { tab_id: tab, target: css('#item'), trusted: true });
  assert.equal(await b.inPage('/menu', 'picked'), true);
});

test('drag by pointer events: a box and a slider; between targets and points', async () => {
  const tab = await b.open('/drag');
  const done = await b.ok('drag', { tab_id: tab, from: css('#box'), to: css('#zone') });
  assert.deepEqual([done.kind, done.element.id, done.to.id], ['pointer', 'box', 'zone']);
  const [x, y] = await b.inPage('/drag', 'dropped');
  assert.ok(Math.abs(x - 325) <= 2 && Math.abs(y - 225) <= 2, `${x} ${y}`);
  await b.ok('drag', { tab_id: tab, from: { x: 30, y: 410 }, to: { x: 320, y: 410 } });
  assert.ok((await b.inPage('/drag', 'Number(range.value)')) > 90);
});

test('drag by HTML5 events, to a goal that is out of view at first', async () => {
  const tab = await b.open('/board');
  const done = await b.ok('drag', { tab_id: tab, from: css('#c2'), to: css('#done') });
  assert.equal(done.kind, 'html5');
  assert.deepEqual(await b.inPage('/board', '[...done.children].map((c) => c.id)'), ['c2']);
  assert.deepEqual(await b.inPage('/board', '[...new Set(events)].filter((e) => e !== "dragenter")'), ['dragstart', 'dragover', 'drop', 'dragend']);
});

test('scroll with the wheel: the page and a container in it hear it', async () => {
  const tab = await b.open('/scroll');
  const page = await b.ok('scroll', { tab_id: tab, dy: 600, trusted: true });
  assert.deepEqual([page.moved.dy, await b.inPage('/scroll', '[scrollY, wheels]')], [600, [600, 1]]);
  const box = await b.ok('scroll', { tab_id: tab, dy: 300, target: css('#box'), trusted: true });
  assert.deepEqual([box.moved.dy, box.element.id, await b.inPage('/scroll', 'document.querySelector("#box").scrollTop')], [300, 'box', 300]);
});
