// press_key: the events of a key as pages read them, new and old, and what a key does by itself.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const LOG = '<script>window.log = []; for (const t of ["keydown", "keypress", "keyup"]) document.addEventListener(t, (e) => log.push({ type: t, key: e.key, code: e.code, keyCode: e.keyCode, which: e.which, charCode: e.charCode, mods: [e.ctrlKey, e.shiftKey, e.altKey, e.metaKey].map(Number).join(""), on: e.target.id }));</script>';
const pages = {
  '/keys': `${LOG}<input id="i"><ul id="list" tabindex="0"><li>One</li></ul><div id="div">x</div>`,
  '/form': `<form id="f"><input id="q" name="q"><input id="other" name="o"><button id="go">Go</button></form><form id="g"><input id="alone"></form><form id="h"><input id="h1"><input id="h2"></form><form id="d"><input id="d1"><button disabled>No</button></form><input id="kept" form="f"><textarea id="t"></textarea><script>
    window.log = []; document.addEventListener('submit', (e) => { e.preventDefault(); log.push('submit ' + e.target.id + ' ' + (e.submitter?.id ?? '')); }); document.addEventListener('click', (e) => log.push('click ' + e.target.id)); kept.addEventListener('keydown', (e) => { if (e.key === 'Enter') e.preventDefault(); });</script>`,
  '/leads': '<form action="/two"><input id="q" name="q"></form>',
  '/two': '<title>Two</title>',
  '/typing': '<input id="i" value="ab"><textarea id="t"></textarea><div id="e" contenteditable></div><input id="ro" readonly value="r"><input id="num" type="number" value="1"><input id="day" type="date"><input id="own"><script>own.addEventListener("keydown", (e) => { e.preventDefault(); own.value += "<" + e.key + ">"; });</script>',
  '/space': '<button id="b" onclick="window.n = (window.n ?? 0) + 1">B</button><input id="c" type="checkbox"><details id="d"><summary id="s">S</summary>x</details><a id="a" href="#there">A</a><label><input type="radio" name="r" id="r1" checked>1</label><label><input type="radio" name="r" id="r2">2</label><select id="sel"><option>A<option>B</select>',
  '/tab': '<input id="a"><button id="b">B</button><div tabindex="-1" id="skip">x</div><button disabled>no</button><a href="#" id="c">C</a><input id="first" tabindex="1"><x-y></x-y><script>customElements.define("x-y", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<button id=in>In</button>"; } });</script>',
  '/choose': `<input type="range" id="r" min="10" max="50" step="4" value="30"><input type="range" id="rtl" dir="rtl" value="50"><input type="range" id="any" step="any" value="50"><input type="number" id="n" step="any" value="1.5" max="3"><input type="number" id="ro" readonly value="1"><select id="s"><option>Apple</option><option disabled>Avocado</option><option>Banana</option><option>blueberry</option><option>Cherry</option></select><select id="m" multiple><option>A</option><option>B</option><option>C</option></select>
    <script>window.log = []; for (const t of ['input', 'change']) document.addEventListener(t, (e) => log.push(t + ' ' + e.target.id));</script>`,
  '/long': '<div style="height:5000px">x</div>',
  '/change': `<form onsubmit="event.preventDefault()"><input id="a"><button>Go</button></form><input id="lone"><x-f></x-f><script>customElements.define('x-f', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<input id=in>'; } });
    window.log = []; for (const on of [document, document.querySelector('x-f').shadowRoot]) for (const t of ['change', 'submit']) on.addEventListener(t, (e) => log.push(t + ' ' + (e.target.id || 'form') + ' ' + (e.target.value ?? '')));</script>`,
  '/dialog': '<dialog id="d">Hi<button>x</button></dialog><div id="p" popover>pop</div><script>d.showModal(); window.log = []; d.addEventListener("cancel", () => log.push("cancel")); d.addEventListener("close", () => log.push("close"));</script>',
};

let b;
let tab;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());
const press = (key, id, more = {}) => b.ok('press_key', { tab_id: tab, key, ...(id ? { target: { value: `#${id}` } } : {}), ...more });

test('names, codes and the codes that older pages read', async () => {
  tab = await b.open('/keys');
  for (const [key, code, keyCode, char] of [['a', 'KeyA', 65, 97], ['Z', 'KeyZ', 90, 90], ['7', 'Digit7', 55, 55], ['/', 'Slash', 191, 47], ['?', 'Slash', 191, 63], [' ', 'Space', 32, 32], ['Enter', 'Enter', 13, 13], ['Escape', 'Escape', 27], ['F5', 'F5', 116], ['ArrowDown', 'ArrowDown', 40], ['Delete', 'Delete', 46], ['语', '', 0, 35821]]) {
    await b.inPage('/keys', 'log.length = 0');
    const { element } = await press(key, 'list');
    assert.equal(element.id, 'list');
    const log = await b.inPage('/keys', 'log');
    assert.deepEqual(log.map((l) => l.type), char ? ['keydown', 'keypress', 'keyup'] : ['keydown', 'keyup'], key);
    assert.deepEqual([log[0].key, log[0].code, log[0].keyCode, log[0].which, log[0].charCode, log[0].on], [key, code, keyCode, keyCode, 0, 'list'], key);
    if (char) assert.deepEqual([log[1].keyCode, log[1].which, log[1].charCode], [char, char, char], key);
  }
});

test('modifiers are held down around the key, in order', async () => {
  tab = await b.open('/keys?mod');
  const result = await press('k', 'list', { modifiers: ['ctrl', 'shift'] });
  assert.deepEqual([result.key, result.modifiers], ['k', ['ctrl', 'shift']]);
  const log = await b.inPage('?mod', 'log');
  assert.deepEqual(log.map((l) => `${l.type} ${l.key} ${l.mods}`), ['keydown Control 1000', 'keydown Shift 1100', 'keydown k 1100', 'keyup k 1100', 'keyup Shift 1000', 'keyup Control 0000']);
  assert.deepEqual([log[2].code, log[2].keyCode], ['KeyK', 75]);
});

test('without a target the key goes to what has the focus, or the body; other spellings of names are understood', async () => {
  tab = await b.open('/keys?where');
  assert.equal((await press('Escape')).element.tag, 'body');
  await press('x', 'i');
  assert.equal((await press('esc')).element.id, 'i');
  assert.equal((await b.inPage('?where', 'log.at(-1).key')), 'Escape');
  for (const key of ['Entr', 'ctrl+a', 'hello']) assert.equal((await b.fails('press_key', { tab_id: tab, key })).code, 'INVALID_PARAMS', key);
  assert.equal((await b.fails('press_key', { tab_id: tab, key: 'a', modifiers: ['hyper'] })).code, 'INVALID_PARAMS');
});

test('Enter submits as a form says, once, and not where the page keeps it', async () => {
  tab = await b.open('/form');
  for (const [id, expected] of [['q', ['click go', 'submit f go']], ['alone', ['submit g ']], ['h1', []], ['d1', []], ['kept', []], ['t', []]]) {
    await b.inPage('/form', 'log.length = 0');
    const { prevented } = await press('Enter', id);
    assert.deepEqual(await b.inPage('/form', 'log'), expected, id);
    assert.equal(prevented, id === 'kept' ? true : undefined);
  }
  assert.equal(await b.inPage('/form', 't.value'), '\n');
});

test('Enter tells the page of typed text by one change before anything else comes of it, whoever typed it', async () => {
  tab = await b.open('/change');
  const heard = () => b.inPage('/change', 'log.splice(0)');
  await press('x', 'a');
  await press('Enter');
  await press('Enter');
  assert.deepEqual(await heard(), ['change a x', 'submit form ', 'submit form ']);
  await b.ok('click', { tab_id: tab, target: { value: '#lone' } });
  assert.deepEqual(await heard(), [], 'not told once more when the focus leaves');
  await b.ok('type_text', { tab_id: tab, target: { value: '#lone' }, text: 'by the browser' });
  await press('Enter');
  await press('!');
  await press('y', 'in');
  await press('Enter');
  assert.deepEqual(await heard(), ['change lone by the browser', 'change lone by the browser!', 'change in y']);
  await b.ok('set_value', { tab_id: tab, target: { value: '#a' }, value: 'set' });
  await press('Enter');
  assert.deepEqual(await heard(), ['change a set', 'submit form ']);
  await b.ok('type_text', { tab_id: tab, target: { value: '#a' }, text: '!' });
  await b.ok('send_keys', { tab_id: tab, keys: 'Backspace' });
  await press('Enter');
  assert.deepEqual(await heard(), ['submit form '], 'what was typed and taken back is no change');
});

test('wait_load waits for the page that the key leads to', async () => {
  tab = await b.open('/leads');
  const { loaded, url, title } = await press('Enter', 'q', { wait_load: true });
  assert.deepEqual([loaded, new URL(url).pathname, title], [true, '/two', 'Two']);
  const { loaded: none } = await press('Enter', null, { wait_load: true });
  assert.equal(none, false);
});

test('characters go into fields and editors, unless the page takes them itself', async () => {
  tab = await b.open('/typing');
  await press('c', 'i');
  await press('d', 'i', { modifiers: ['shift'] });
  await press('x', 'i', { modifiers: ['ctrl'] });
  await press('Backspace', 'i');
  for (const id of ['t', 'e', 'ro', 'own']) await press('y', id);
  assert.deepEqual(await b.inPage('/typing', '[i.value, t.value, e.innerText, ro.value, own.value]'), ['abc', 'y', 'y', 'r', '<y>']);
  await press('a', 'i', { modifiers: ['ctrl'] });
  await press('Delete', 'i');
  assert.equal(await b.inPage('/typing', 'i.value'), '');
  await press('ArrowUp', 'num');
  assert.equal(await b.inPage('/typing', 'num.value'), '2');
  assert.match((await press('1', 'day')).note, /not changed by it: set_value/);
});

test('Space and Enter press what has the focus; arrows choose', async () => {
  tab = await b.open('/space');
  await press(' ', 'b');
  await press('Enter', 'b');
  await press(' ', 'c');
  await press('Enter', 's');
  await press('Enter', 'a');
  await press('ArrowDown', 'r1');
  await press('ArrowDown', 'sel');
  assert.deepEqual(await b.inPage('/space', '[n, c.checked, d.open, location.hash, r2.checked, sel.value]'), [2, true, true, '#there', true, 'B']);
});

test('Tab goes round, through shadow roots, and back', async () => {
  tab = await b.open('/tab');
  const order = [];
  for (let i = 0; i < 6; i++) {
    await press('Tab');
    order.push(await b.inPage('/tab', '(document.activeElement.shadowRoot?.activeElement ?? document.activeElement).id'));
  }
  assert.deepEqual(order, ['first', 'a', 'b', 'c', 'in', 'first']);
  await press('Tab', null, { modifiers: ['shift'] });
  assert.equal(await b.inPage('/tab', 'document.activeElement.shadowRoot.activeElement.id'), 'in');
});

test('the page scrolls by its keys, and Escape closes what is open', async () => {
  tab = await b.open('/long');
  await press('End');
  const end = await b.inPage('/long', 'scrollY');
  assert.ok(end > 4000);
  await press('PageUp');
  assert.ok((await b.inPage('/long', 'scrollY')) < end);
  await press('Home');
  assert.equal(await b.inPage('/long', 'scrollY'), 0);
  tab = await b.open('/dialog');
  await press('Escape');
  assert.equal(await b.inPage('/dialog', 'd.open'), false);
  await b.inPage('/dialog', 'p.showPopover()');
  await press('Escape');
  assert.equal(await b.inPage('/dialog', 'p.matches(":popover-open")'), false);
});

test('sliders, number fields and lists go by their keys as they do when the browser itself gets the key', async () => {
  tab = await b.open('/choose');
  const KEYS = {
    r: 'ArrowUp ArrowLeft PageUp End ArrowRight PageDown Home ArrowDown', rtl: 'ArrowRight ArrowUp ArrowLeft Home End', any: 'ArrowUp PageDown End', n: 'ArrowUp ArrowDown', ro: 'ArrowUp',
    s: 'b b b End ArrowUp Home ArrowDown PageDown PageUp End ArrowDown ArrowLeft ArrowRight', m: 'ArrowDown ArrowDown ArrowRight End Home',
  };
  const run = async (method, id) => {
    await b.inPage('/choose', `(() => { for (const e of document.querySelectorAll('input')) e.value = e.defaultValue; s.selectedIndex = 0; m.selectedIndex = -1; document.getElementById('${id}').focus(); log.length = 0; return 1; })()`);
    const values = [];
    for (const key of KEYS[id].split(' ')) {
      await b.ok(method, method === 'send_keys' ? { tab_id: tab, keys: key } : { tab_id: tab, key });
      values.push(`${key} ${await b.inPage('/choose', `document.getElementById('${id}').value`)}`);
    }
    return [values, await b.inPage('/choose', 'log')];
  };
  for (const id of Object.keys(KEYS)) {
    // The browser's own first: it remembers where it last was in a list.
    const [asBrowser, heard] = await run('send_keys', id);
    const [values, events] = await run('press_key', id);
    assert.deepEqual(values, asBrowser, id);
    assert.deepEqual(events, heard, `${id}: told only when something changes`);
  }
});
