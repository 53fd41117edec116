// How far a target reaches: light DOM, then shadow roots of both kinds, then child frames, also of other sites.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/shadow': `<p id="both">light</p><my-form>slotted <b>words</b></my-form><my-closed></my-closed><button id="light">Light</button><script src="/__page.js"></script><script>
    customElements.define('my-inner', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<button><span>Order now</span></button>'; } });
    customElements.define('my-form', class extends HTMLElement { connectedCallback() { const r = this.attachShadow({ mode: 'open' });
      r.innerHTML = '<label for="u">User</label><input id="u"><select id="lang" aria-label="Language"><option value="en">English</option><option value="de">Deutsch</option></select><my-inner></my-inner><p id="both">shadow</p><div contenteditable id="ed"></div><p class="said">Before <slot></slot></p>';
      r.querySelector('my-inner').addEventListener('click', () => say('order', [r.querySelector('#u').value, r.querySelector('#lang').value])); } });
    customElements.define('my-closed', class extends HTMLElement { connectedCallback() { const r = this.attachShadow({ mode: 'closed' }); r.innerHTML = '<input id="secret-field"><input type="checkbox" id="box">'; window.closed_ = r; } });</script>`,
  '/late-light': `<my-x></my-x><script>
    customElements.define('my-x', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<button id="go">Shadow</button>'; } });
    setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button id="go">Light</button>'), 120);</script>`,
  '/frames': `<h1>Outer</h1><button id="both" onclick="say('both','top')">Both</button><script src="/__page.js"></script><div id="slot"></div><iframe id="b" src="{{cross}}/inner?b"></iframe><script>
    // Made first, but put before the other: the order is that of the document.
    const f = document.createElement('iframe'); f.src = '/inner?a'; document.querySelector('#slot').append(f);</script>`,
  '/inner': `<script src="/__page.js"></script><input id="name" value=""><input type="checkbox" id="agree"><select id="kind"><option value="1">First</option><option value="2">Second</option></select><button id="both" onclick="say('both', location.search)">Both</button>
    <button class="which" onclick="say('which', location.search)">Which</button><iframe src="/deep" style="height:40px"></iframe>`,
  '/deep': '<button id="deep" onclick="say(\'deep\', 1)">Deep</button><script src="/__page.js"></script><div id="list" style="height:20px;overflow:auto"><div style="height:900px"></div></div>',
  '/late-frame': '<script>setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<iframe src=/deep></iframe>"), 900)</script><p>wait</p><iframe src="/empty"></iframe>',
  '/empty': '',
  '/sandbox': `<iframe sandbox="allow-scripts" srcdoc="<button id=sb>In</button>"></iframe>`,
  '/blank-in-frame': '<iframe src="{{cross}}/has-link"></iframe><iframe src="/has-link?same"></iframe>',
  '/has-link': '<a id="out" target="_blank" href="{{base}}/two">Out</a>',
  '/two': '<h1>Two</h1>',
  '/under': '<iframe src="/deep" style="width:300px;height:100px"></iframe><div id="cookie" style="position:absolute;left:0;top:0;width:400px;height:200px;background:#ccc">Cookies</div>',
  '/keys': '<iframe src="{{cross}}/key-frame"></iframe>',
  '/key-frame': '<input id="k"><script src="/__page.js"></script><script>k.addEventListener("keydown", (e) => say("key", e.key));</script>',
};

let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());
const at = (tab) => ({ ok: (m, value, more = {}) => b.ok(m, { tab_id: tab, target: typeof value === 'string' ? { value } : value, ...more }), fails: (m, value, more = {}) => b.fails(m, { tab_id: tab, target: { value }, ...more }) });

test('shadow roots, open and closed, and nested', async () => {
  const p = at(await b.open('/shadow'));
  const filled = await p.ok('set_value', '#u', { value: 'kim' });
  assert.deepEqual([filled.value, filled.shadow], ['kim', true]);
  await p.ok('select_option', { by: 'role', value: 'combobox', name: 'Language' }, { text: 'Deutsch' });
  await p.ok('click', { by: 'text', value: 'Order now' });
  assert.deepEqual(await b.heard('order'), ['kim', 'de']);
  assert.equal((await p.ok('get_value', { by: 'label', value: 'User' })).value, 'kim');
  await p.ok('set_value', '#secret-field', { value: 'in' });
  assert.equal((await p.ok('check', '#box')).checked, true);
  assert.deepEqual(await b.inPage('/shadow', '[closed_.querySelector("input").value, closed_.querySelector("#box").checked]'), ['in', true]);
  assert.equal((await p.ok('set_value', '#ed', { value: 'rich text' })).value, 'rich text');
  assert.deepEqual((await p.ok('click', { by: 'text', value: 'Before slotted words' })).clicked, { tag: 'p', text: 'Before slotted words' }, 'with what is put into its slot');
  const light = await p.ok('get_value', '#both');
  assert.deepEqual([light.value, light.shadow], ['light', undefined]);
});

test('what the light DOM gets a moment later comes before what a shadow root has already', async () => {
  const p = at(await b.open('/late-light'));
  const { clicked } = await p.ok('click', '#go');
  assert.equal(clicked.text, 'Light');
});

test('child frames in the order of the document, index over all of them, top first', async () => {
  const p = at(await b.open('/frames'));
  const filled = await p.ok('set_value', '#name', { value: 'In the frame' });
  assert.match(filled.frame, /\/inner\?a$/);
  assert.equal((await p.ok('check', '#agree')).checked, true);
  assert.equal((await p.ok('select_option', '#kind', { text: 'Second' })).value, '2');
  assert.equal((await p.ok('get_value', '#name')).value, 'In the frame');
  await p.ok('click', '#both');
  assert.equal(await b.heard('both'), 'top');
  await p.ok('click', { value: '.which', index: 1 });
  assert.equal(await b.heard('which', (v) => v === '?b'), '?b');
  await p.ok('click', { by: 'text', value: 'Which', index: 0 });
  assert.equal(await b.heard('which', (v) => v === '?a'), '?a');
  assert.match((await b.fails('click', { tab_id: (await b.ok('list_tabs')).tabs.find((t) => t.url.endsWith('/frames')).tab_id, target: { value: '.which', index: 2 }, timeout: 500 })).error, /2 in all/);
  await p.ok('click', '#deep');
  assert.equal(await b.heard('deep'), 1);
  const scrolled = await p.ok('scroll', '#list', { dy: 100 });
  assert.deepEqual([scrolled.moved.dy, scrolled.frame.endsWith('/deep')], [100, true]);
  const missing = await p.fails('click', '#in-neither', { timeout: 500 });
  assert.equal(missing.code, 'ELEMENT_NOT_FOUND');
  assert.match(missing.error, /its 4 frames/);
});

test('a frame that comes later, and one that is sandboxed', async () => {
  await at(await b.open('/late-frame')).ok('click', '#deep');
  assert.equal((await at(await b.open('/sandbox')).ok('click', '#sb')).clicked.text, 'In');
});

test('a link to a new tab inside a frame opens in this tab', async () => {
  for (const index of [0, 1]) {
    const tab = await b.open(`/blank-in-frame?${index}`);
    const before = (await b.ok('list_tabs')).tabs.length;
    await b.ok('click', { tab_id: tab, target: { value: '#out', index } });
    assert.equal((await b.ok('get_value', { tab_id: tab, target: { value: 'h1' } })).value, 'Two');
    assert.equal((await b.ok('list_tabs')).tabs.length, before);
  }
});

test('what lies over a frame covers what is in it', async () => {
  const tab = await b.open('/under');
  const { code, error } = await b.fails('click', { tab_id: tab, target: { value: '#deep' }, timeout: 700 });
  assert.equal(code, 'ELEMENT_NOT_ACTIONABLE');
  assert.match(error, /covered by <div id="cookie">/);
});

test('a key goes to the frame that has the focus', async () => {
  const tab = await b.open('/keys');
  await b.ok('click', { tab_id: tab, target: { value: '#k' } });
  const { frame, element } = await b.ok('press_key', { tab_id: tab, key: 'z' });
  assert.deepEqual([frame.endsWith('/key-frame'), element.id, await b.heard('key')], [true, 'k', 'z']);
});
