// set_value, clear and get_value in plain fields: what the page hears, what it keeps, and what is refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/fields': `<form><input id="text"><input id="email" type="email"><input id="num" type="number" min="0" max="10"><input id="range" type="range" min="0" max="50" step="5"><input id="color" type="color">
    <input id="date" type="date"><input id="time" type="time"><input id="month" type="month"><input id="week" type="week"><input id="local" type="datetime-local"><textarea id="area"></textarea><input id="search" type="search" value="old">
    <input id="max" maxlength="5"><input id="ro" readonly value="fixed"><input id="dis" disabled><input id="pw" type="password"><input id="shown" type="text" autocomplete="current-password"><input id="cb" type="checkbox"><input id="file" type="file"><input id="sub" type="submit"><div id="div">x</div>
    <select id="sel"><option value="a">Alpha</option><option value="b">Beta</option></select><label id="lab">Nick <input id="nick"></label><input id="req" type="url"></form><script>
    window.log = []; for (const t of ['focusin', 'beforeinput', 'input', 'change']) document.addEventListener(t, (e) => log.push([e.type, e.target.id, e.target.value, e.inputType ?? '', e.data ?? '']));</script>`,
  // As React does it: an own value property on the element notes what was set through it; a change that it knows already is no change.
  '/framework': `<input id="i"><input id="upper"><input id="phone"><input id="digits"><input id="stuck" value="mine"><output id="state"></output><script>
    const native = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value'); const state = {};
    function own(id, next) { const el = document.getElementById(id); let known = el.value;
      Object.defineProperty(el, 'value', { configurable: true, get() { return native.get.call(this); }, set(v) { known = String(v); native.set.call(this, v); } });
      document.addEventListener('input', (e) => { if (e.target !== el) return; const now = native.get.call(el); if (now === known) return; known = now; state[id] = next(now); el.value = state[id]; }); }
    own('i', (v) => v); own('upper', (v) => v.toUpperCase()); own('digits', (v) => v.replace(/\\D/g, '')); own('stuck', () => 'mine');
    own('phone', (v) => { const d = v.replace(/\\D/g, ''); return d.length > 6 ? '(' + d.slice(0, 3) + ') ' + d.slice(3, 6) + '-' + d.slice(6) : d; });</script>`,
  '/redraw': `<div id="root"><input id="i"></div><script>document.addEventListener('input', (e) => { const v = e.target.value; root.innerHTML = '<input id="i">'; root.firstChild.value = v; });</script>`,
  // Drawn anew on focus: with the same name; as a field that takes nothing; as something else.
  '/onfocus': `<div id="root"><input id="same"><input id="closed"><input id="other"></div><script>const swap = (id, html) => document.getElementById(id).addEventListener('focus', (e) => { e.target.outerHTML = html; document.getElementById(id)?.addEventListener('input', (x) => { window.heard = x.target.value; }); }, { once: true });
    swap('same', '<input id="same" class="editing">'); swap('closed', '<input id="closed" readonly>'); swap('other', '<b>gone</b>');</script>`,
  '/late': '<script>setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<input id=l readonly>"), 400); setTimeout(() => { l.readOnly = false; }, 900)</script>',
  '/component': `<x-field id="host"></x-field><script>customElements.define('x-field', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<label>Inner <input></label>'; } });</script>`,
  '/read': `<input id="t" value="v"><input id="c" type="checkbox" value="yes" checked><select id="s"><option value="1">One</option><option value="2" selected>Two</option></select><select id="m" multiple><option selected>A</option><option selected>B</option><option>C</option></select>
    <textarea id="a">line\nline</textarea><p id="p">Some <b>text</b><i hidden> not shown</i><i style="visibility:hidden"> nor this</i></p><progress id="pr" value="3" max="9"></progress><div id="sl" role="slider" aria-valuenow="7" aria-valuetext="seven">x</div><div id="sw" role="switch" aria-checked="true">On</div><input id="h" type="hidden" value="hid"><output id="o">42</output>
    <div id="ce" contenteditable>a<br>b</div><select id="none"></select>`,
};

let b;
let tab;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());
const set = (id, value, more = {}) => b.ok('set_value', { tab_id: tab, target: { value: `#${id}` }, value, ...more });
const refused = (id, value, more = { timeout: 100 }) => b.fails('set_value', { tab_id: tab, target: { value: `#${id}` }, value, ...more });
const get = (id, client = b) => client.ok('get_value', { tab_id: tab, target: { value: `#${id}` } });

test('a field gets the focus, the value, one input and one change event', async () => {
  tab = await b.open('/fields');
  const { element, value } = await set('text', 'grüße 👋');
  assert.deepEqual([element.tag, element.type, element.id, value], ['input', 'text', 'text', 'grüße 👋']);
  assert.deepEqual(await b.inPage('/fields', 'log'), [['focusin', 'text', '', '', ''], ['input', 'text', 'grüße 👋', 'insertText', 'grüße 👋'], ['change', 'text', 'grüße 👋', '', '']]);
  await b.ok('clear', { tab_id: tab, target: { value: '#search' } });
  assert.deepEqual(await b.inPage('/fields', 'log.slice(-2).map((l) => l.slice(0, 4))'), [['input', 'search', '', 'deleteContentBackward'], ['change', 'search', '', '']]);
});

test('every kind of field', async () => {
  tab = await b.open('/fields?kinds');
  for (const [id, value] of Object.entries({
    email: 'a@example.test', num: '7.5', range: '35', color: '#00ff7f', date: '2027-03-09', time: '07:45', month: '2027-11', week: '2027-W07', local: '2027-03-09T18:30', area: 'one\n\ttwo "three"\n', search: 'x', req: 'https://example.test/',
  })) {
    assert.equal((await set(id, value)).value, value, id);
    assert.equal((await get(id)).value, value, id);
  }
  for (const [given, kept] of [['#ABCDEF', '#abcdef'], ['#FFF', '#ffffff'], ['rebeccapurple', '#663399']]) assert.equal((await set('color', given)).value, kept);
  assert.equal((await set('sel', 'Beta')).value, 'b');
  assert.equal((await set('lab', 'nick')).element.id, 'nick');
});

test('a value that the field does not take is refused before anything is changed', async () => {
  tab = await b.open('/fields?refused');
  for (const [id, value, why] of [['date', '9.3.2027', /takes a date as 2027-03-09/], ['num', 'many', /takes a number/], ['range', '33', /from 0 to 50 in steps of 5/], ['color', 'reddish', /takes a colour/], ['color', 'rgb(0 0 0 / 50%)', /takes a colour/], ['time', '25:00', /takes a time/],
    ['max', '123456', /6 characters, but .* no more than 5/], ['text', 'a\nb', /takes one line/], ['cb', 'on', /use check/], ['file', 'x', /use upload/], ['sub', 'x', /use click/], ['div', 'x', /takes no value/], ['sel', 'Gamma', /it has "Alpha", "Beta"/]]) {
    const { code, error } = await refused(id, value);
    assert.equal(code, 'INVALID_PARAMS', `${id}: ${error}`);
    assert.match(error, why);
  }
  for (const [id, why] of [['ro', /read only/], ['dis', /disabled/]]) {
    const { code, error } = await refused(id, 'x');
    assert.equal(code, 'ELEMENT_NOT_ACTIONABLE', id);
    assert.match(error, why);
  }
  assert.deepEqual(await b.inPage('?refused', 'log'), []);
  assert.match((await set('num', '11')).validation, /10/, 'a number beyond the limit goes in, and the browser says what is wrong with it');
});

test('fields that a framework owns', async () => {
  tab = await b.open('/framework');
  await set('i', 'known');
  assert.equal(await b.inPage('/framework', 'state.i'), 'known');
  assert.match((await refused('upper', 'abc')).error, /"abc" was put in, <input id="upper"> now has "ABC" \(the letters and digits are the same/);
  assert.match((await refused('phone', '5551234567')).error, /"5551234567" was put in, .* now has "\(555\) 123-4567"/);
  assert.equal((await set('phone', '(555) 123-4567')).value, '(555) 123-4567', 'in the form that the page gives it, it is kept');
  const { code, error, maybe_executed } = await refused('stuck', 'yours');
  assert.deepEqual([code, maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true]);
  assert.match(error, /"yours" was put in, <input id="stuck"> now has "mine"/);
  assert.match((await refused('digits', 'a1b2')).error, /"a1b2" was put in, .* now has "12"/);
});

test('a field that the page draws anew while it is filled', async () => {
  tab = await b.open('/redraw');
  assert.equal((await set('i', 'again')).value, 'again');
});

test('a field that the page draws anew when it gets the focus', async () => {
  tab = await b.open('/onfocus');
  assert.equal((await set('same', 'yours')).value, 'yours');
  assert.deepEqual(await b.inPage('/onfocus', '[document.querySelector("#same.editing").value, heard, document.activeElement.id]'), ['yours', 'yours', 'same']);
  for (const [id, why] of [['closed', /replaced .* by one that takes no value: <input id="closed"/], ['other', /the page replaced <input id="other"> when it got the focus/]]) {
    const { code, error, maybe_executed } = await refused(id, 'x');
    assert.deepEqual([code, maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true]);
    assert.match(error, why);
  }
});

test('a field that comes late and is read only at first', async () => {
  tab = await b.open('/late');
  assert.equal((await set('l', 'in time')).value, 'in time');
});

test('the field inside a component, named by its shell', async () => {
  tab = await b.open('/component');
  const { element, shadow } = await set('host', 'inside');
  assert.deepEqual([element.tag, shadow], ['input', true]);
});

test('passwords: a person is told, an agent is not', async () => {
  tab = await b.open('/fields?pw');
  await set('pw', 'hunter2');
  await set('shown', 'hunter3');
  assert.equal((await get('pw')).value, 'hunter2');
  assert.equal(await b.inPage('?pw', `document.querySelector('#pw').value`), 'hunter2');
  // The hub in node believes a client about its class; the daemon knows better, and there the client of this test is a person.
  if (b.daemon.kind !== 'hub') return;
  for (const id of ['pw', 'shown']) {
    const answer = await b.call('get_value', { tab_id: tab, target: { value: `#${id}` } }, { class: 'agent' });
    assert.equal(answer.result.value, '[redacted]');
    assert.ok(!JSON.stringify(answer).includes('hunter'));
  }
});

test('what elements hold', async () => {
  tab = await b.open('/read');
  const { element, checked, value } = await get('c');
  assert.deepEqual([element.type, checked, value], ['checkbox', true, 'yes']);
  assert.deepEqual(await get('s').then((r) => [r.value, r.text]), ['2', 'Two']);
  assert.deepEqual((await get('m')).selected.map((o) => o.text), ['A', 'B']);
  for (const [id, value] of Object.entries({ t: 'v', a: 'line\nline', p: 'Some text', pr: '3', sl: 'seven', h: 'hid', o: '42', ce: 'a\nb', none: null })) assert.equal((await get(id)).value, value, id);
  assert.equal((await get('sw')).checked, true);
});
