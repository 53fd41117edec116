// What the page keeps, and what it takes back or changes: at once, in a timer, with a frame, in a tab in the background.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';
import { accept } from './harness/ws.mjs';

const LATE = [0, 15, 60, 150, 300, 450];
const pages = {
  // Each field takes back in a timer of its own what it was given; the last one puts it into capitals.
  '/timers': `${LATE.map((ms) => `<input id="t${ms}" value="mine">`).join('')}<input id="up"><input id="cut"><input id="c" type="checkbox"><select id="s"><option>A</option><option>B</option></select><textarea id="a"></textarea><script>
    for (const ms of ${JSON.stringify(LATE)}) { const el = document.querySelector('#t' + ms); el.addEventListener('input', () => setTimeout(() => { el.value = 'mine'; }, ms)); }
    up.addEventListener('input', () => setTimeout(() => { up.value = up.value.toUpperCase(); }, 100)); cut.addEventListener('input', () => { cut.value = cut.value.slice(0, 3000); }); c.addEventListener('change', () => setTimeout(() => { c.checked = false; }, 120));
    s.addEventListener('change', () => setTimeout(() => setTimeout(() => { s.value = 'A'; }, 50), 50)); a.addEventListener('change', () => requestIdleCallback(() => { a.value = ''; }));</script>`,
  '/frames': `<input id="frame"><input id="loop" value="mine"><input id="twice"><script>const put = (el) => { el.value = 'mine'; };
    frame.addEventListener('input', () => requestAnimationFrame(() => put(frame))); twice.addEventListener('input', () => requestAnimationFrame(() => requestAnimationFrame(() => put(twice))));
    (function draw() { if (loop.value !== 'mine') put(loop); requestAnimationFrame(draw); })();</script>`,
  '/turns': `<input id="promise"><input id="message"><script>promise.addEventListener('input', async () => { await 0; await 0; promise.value = 'mine'; });
    const { port1, port2 } = new MessageChannel(); port1.onmessage = () => { message.value = 'mine'; }; message.addEventListener('change', () => port2.postMessage(0));</script>`,
  // A framework whose state comes in a timer: it puts the old value back first.
  '/state': `<input id="i"><script>let state = ''; i.addEventListener('input', () => { const v = i.value; i.value = state; setTimeout(() => { state = v; i.value = v; }, 30); });</script>`,
  '/calm': '<input id="i"><script>i.addEventListener("input", () => { window.seen = i.value; });</script>',
  '/redrawn': `<div id="root"><input id="i" name="n"></div><div id="once"><input id="gone"></div><script>i.addEventListener('input', () => setTimeout(() => { root.innerHTML = '<input id="i" name="n" value="old">'; }, 60));
    gone.addEventListener('input', () => setTimeout(() => { once.innerHTML = 'thanks'; }, 60));</script>`,
  '/options': `<select id="s"><option>A</option><option>B</option></select><select id="k"><option>A</option><option>B</option></select><script>s.addEventListener('change', () => setTimeout(() => { s.innerHTML = '<option>A</option><option>B</option>'; }, 60));
    k.addEventListener('change', () => { const v = k.value; setTimeout(() => { k.innerHTML = '<option>A</option><option>B</option>'; k.value = v; }, 60); });</script>`,
  '/editors': `<div id="e" contenteditable style="min-height:20px">mine</div><div id="up" contenteditable style="min-height:20px"></div><div class="CodeMirror"><div style="height:0;overflow:hidden"><textarea></textarea></div><div class="CodeMirror-code"></div></div><script>
    const e_ = document.querySelector('#e'); const up = document.querySelector('#up'); e_.addEventListener('input', () => setTimeout(() => { e_.textContent = 'mine'; }, 200)); up.addEventListener('input', () => setTimeout(() => { up.textContent = up.textContent.toUpperCase(); }, 100));
    const area = document.querySelector('textarea'); const code = document.querySelector('.CodeMirror-code'); const draw = (t) => { code.innerHTML = ''; for (const l of t.split('\\n')) { const p = document.createElement('pre'); p.className = 'CodeMirror-line'; p.textContent = l; code.append(p); } };
    area.addEventListener('paste', (e) => { e.preventDefault(); draw(e.clipboardData.getData('text/plain')); setTimeout(() => draw('mine'), 150); });</script>`,
  // Every field is saved in a timer; the third one is taken back with it, the country changes the town.
  '/form': `${[0, 1, 2, 3, 4, 5, 6, 7].map((i) => `<input id="f${i}">`).join('')}<select id="country"><option>–</option><option>Norway</option></select><input id="town"><input id="box" type="checkbox"><script>
    document.addEventListener('input', (e) => setTimeout(() => { e.target.dataset.saved = e.target.value; if (e.target.id === 'f2' && f2.value === 'refused') f2.value = ''; }, 250)); country.addEventListener('change', () => { town.value = 'Oslo'; });</script>`,
  '/typed': `<input id="digits"><input id="max" maxlength="4"><input id="phone" type="tel"><input id="on" type="date"><script>digits.addEventListener('input', () => { digits.value = digits.value.replace(/\\D/g, ''); });
    phone.addEventListener('input', () => { const d = phone.value.replace(/\\D/g, ''); phone.value = d.length > 3 ? '(' + d.slice(0, 3) + ') ' + d.slice(3) : d; });</script>`,
  // Timers as libraries begin them: one that is begun anew with each event, an interval that ends itself, one that begins the next, by a function kept from before.
  '/libraries': `<input id="far"><input id="anew"><input id="again" value="mine"><input id="chain" value="mine"><input id="kept" value="mine"><input id="once" value="mine"><input id="draws" value="mine"><script>const early = setTimeout; let t, n = 0;
    far.addEventListener('input', () => { setTimeout(() => { far.value = 'too late to matter'; }, 3000); }); anew.addEventListener('input', () => { clearTimeout(t); t = setTimeout(() => {}, 400); }); anew.addEventListener('change', () => { clearTimeout(t); });
    again.addEventListener('input', () => { let i = 0; const id = setInterval(() => { if (++i === 3) { again.value = 'mine'; clearInterval(id); } }, 60); }); once.addEventListener('input', () => { const id = setInterval(() => { clearInterval(id); once.value = 'mine'; }, 80); });
    chain.addEventListener('input', () => setTimeout(() => setTimeout(async () => { await 0; setTimeout(() => { chain.value = 'mine'; }, 70); }, 60), 50)); kept.addEventListener('input', () => { early(() => { kept.value = 'mine'; }, 350); });
    draws.addEventListener('input', () => setTimeout(() => requestAnimationFrame(() => { draws.value = 'mine'; }), 40));</script>`,
  // Fields that are checked by the server: at once, behind a delay, by XMLHttpRequest, after two questions; one that hangs, one that is fine.
  '/server': `${['now', 'slow', 'delayed', 'xhr', 'twice'].map((id) => `<input id="${id}" value="mine">`).join('')}<input id="fine"><input id="hangs"><input id="c" type="checkbox"><select id="s"><option>A</option><option>B</option></select><script>
    const ask = async (path, el, to) => { const r = await (await fetch(path)).json(); if (!r.ok) to(el); }; const back = (el) => { el.value = 'mine'; };
    now.addEventListener('input', () => ask('/no', now, back)); slow.addEventListener('change', () => ask('/no-slow', slow, back)); delayed.addEventListener('input', () => setTimeout(() => ask('/no-slow', delayed, back), 200));
    xhr.addEventListener('input', () => { const x = new XMLHttpRequest(); x.open('POST', '/no-slow'); x.onload = () => back(xhr); x.send('{}'); });
    twice.addEventListener('input', async () => { await (await fetch('/yes')).json(); await ask('/no-slow', twice, (el) => setTimeout(back, 60, el)); });
    fine.addEventListener('input', () => ask('/yes', fine, back)); hangs.addEventListener('input', () => ask('/hang', hangs, back));
    c.addEventListener('change', () => ask('/no-slow', c, () => { c.checked = false; })); s.addEventListener('change', () => ask('/no-slow', s, () => { s.value = 'A'; }));</script>`,
  // A page that looks at its functions, keeps those of others, and puts its own around them.
  '/around': `<input id="i"><script>const first = setTimeout; window.log = []; i.addEventListener('input', () => { log.push(setTimeout === first); window.held = setTimeout; const on = setTimeout; window.setTimeout = (f, ms) => on(f, ms); setTimeout(() => { window.ran = (window.ran ?? 0) + 1; }, 30); });</script>`,
  '/frozen': `<input id="i" value="mine"><script>for (const name of ['setTimeout', 'setInterval']) Object.defineProperty(window, name, { value: window[name], writable: false, configurable: false }); i.addEventListener('input', () => { setTimeout(() => { i.value = 'mine'; }, 300); });</script>`,
  // The server has to say yes before the new value is shown; and one that asks at intervals, whatever is put in.
  '/shown-late': `<input id="i" value="mine"><input id="never" value="mine"><input id="two" value="mine"><input id="box" type="checkbox"><script>const ask = async (path) => (await (await fetch(path)).json()).ok; const late = async (el, ...paths) => { const v = el.value; el.value = 'mine'; for (const p of paths) if (!await ask(p)) return; el.value = v; };
    i.addEventListener('input', () => late(i, '/yes-slow')); never.addEventListener('input', () => late(never, '/no-slow')); two.addEventListener('input', () => late(two, '/yes-slow', '/yes-slow')); box.addEventListener('change', async () => { box.checked = false; box.checked = await ask('/yes-slow'); });</script>`,
  '/polls': '<input id="i"><script>setInterval(() => fetch("data:,"), 4)</script>',
  // Between the browser's taking a timer and its number there is time.
  '/held-up': `<input id="i" value="mine"><script>const begin = setTimeout; let first = true; window.setTimeout = (f, ms) => { const id = begin(f, ms); for (const end = performance.now() + 6; first && performance.now() < end;); first = false; return id; };
    i.addEventListener('input', () => setTimeout(() => setTimeout(() => { i.value = 'mine'; }, 80), 80));</script>`,
  // Fields whose state the server holds, over a socket; one of which it takes no notice.
  '/socket': `<input id="no" value="mine"><input id="yes"><input id="mute"><script>window.first = WebSocket.prototype.send; const s = new WebSocket('ws://127.0.0.1:{{socket}}/'); s.onopen = () => { document.title = 'open'; };
    s.onmessage = (e) => { const { id, value } = JSON.parse(e.data); document.getElementById(id).value = value; }; document.addEventListener('input', (e) => s.send(JSON.stringify({ id: e.target.id, value: e.target.value })));</script>`,
  '/other': '<p>Other</p>',
};

let b;
let tab;
const json = (ok, delay) => ({ delay, type: 'application/json', body: JSON.stringify({ ok }) });
const routes = { '/no': json(false), '/no-slow': json(false, 300), '/yes': json(true), '/yes-slow': json(true, 300), '/hang': { hang: true } };
/** Sends back what it was sent after a while; the field `no` as it was. */
const server = http.createServer().on('upgrade', (req, stream) => {
  const socket = accept(req, stream);
  socket.on('message', (text) => {
    const { id, value } = JSON.parse(text);
    if (id !== 'mute') setTimeout(() => socket.send(JSON.stringify({ id, value: id === 'no' ? 'mine' : value })), 30);
  });
});
before(async () => {
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  pages['/socket'] = pages['/socket'].replace('{{socket}}', server.address().port);
  b = await start({ pages, routes });
});
after(async () => {
  await b?.stop();
  server.closeAllConnections();
  server.close();
});
const act = (method, id, more) => b.call(method, { tab_id: tab, target: { value: id }, ...more });
/** Must be an error that shows what was asked for and what is there. */
async function takenBack(method, id, more, ...shown) {
  const answer = await act(method, id, more);
  assert.equal(answer.success, false, `${id}: ${JSON.stringify(answer.result)}`);
  assert.deepEqual([answer.code, answer.maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true], answer.error);
  for (const text of shown) assert.ok(answer.error.includes(text), `${id}: ${answer.error}`);
}

for (const background of [false, true]) {
  const where = background ? ' in a tab in the background' : '';
  const open = async (path) => {
    tab = await b.open(path + (background ? '?behind' : ''));
    if (background) await b.open('/other');
  };

  test(`a value that is taken back in a timer is an error with both values${where}`, async () => {
    await open('/timers');
    for (const ms of background ? [60, 450] : LATE) await takenBack('set_value', `#t${ms}`, { value: 'yours' }, '"yours"', '"mine"');
    await takenBack('set_value', '#up', { value: 'abc' }, '"abc"', '"ABC"');
    await takenBack('check', '#c', {}, 'unticked');
    await takenBack('select_option', '#s', { value: 'B' }, '"B"', '"A"');
    if (!background) await takenBack('set_value', '#a', { value: 'text' }, '"text"', '""');
  });

  test(`what comes by promises and messages is seen${where}`, async () => {
    await open('/turns');
    for (const id of ['#promise', '#message']) await takenBack('set_value', id, { value: 'yours' }, '"yours"', '"mine"');
  });

  test(`a state that comes late is waited for${where}`, async () => {
    await open('/state');
    const answer = await act('set_value', '#i', { value: 'kept' });
    assert.equal(answer.result?.value, 'kept', answer.error);
    assert.equal(await b.page(tab, 'document.querySelector("#i").value'), 'kept');
  });

  test(`what the page makes of an answer of its server is seen${where}`, async () => {
    await open('/server');
    for (const id of background ? ['#slow', '#twice'] : ['#now', '#slow', '#delayed', '#xhr', '#twice']) await takenBack('set_value', id, { value: 'yours' }, '"yours"', '"mine"');
    if (background) return;
    await takenBack('check', '#c', {}, 'unticked');
    await takenBack('select_option', '#s', { value: 'B' }, '"B"', '"A"');
    const { value, note } = await b.ok('set_value', { tab_id: tab, target: { value: '#fine' }, value: 'yours' });
    assert.deepEqual([value, note], ['yours', undefined]);
    const fields = (...ids) => ids.map((id) => ({ selector: id, value: 'ours' }));
    assert.match((await b.fails('fill_form', { tab_id: tab, fields: fields('#fine', '#slow') })).error, /fields\[1\]: .*"ours" was put in, .* now has "mine"/);
    assert.match((await b.ok('set_value', { tab_id: tab, target: { value: '#hangs' }, value: 'yours' })).note, /asked its server .* had not answered in time/);
  });

  test(`a value that the page shows only after an answer of its server is waited for${where}`, async () => {
    await open('/shown-late');
    for (const id of ['#i', '#two']) {
      const { success, error, result } = await act('set_value', id, { value: 'yours' });
      assert.deepEqual([success, error, result?.value, result?.note], [true, undefined, 'yours', undefined]);
      assert.equal(await b.page(tab, `document.querySelector("${id}").value`), 'yours');
    }
    assert.equal((await b.ok('check', { tab_id: tab, target: { value: '#box' } })).checked, true);
    await takenBack('set_value', '#never', { value: 'yours' }, '"yours"', '"mine"');
    const fields = (...ids) => ids.map((id) => ({ selector: id, value: 'ours' }));
    assert.equal((await b.ok('fill_form', { tab_id: tab, fields: fields('#i', '#two') })).filled.length, 2);
    assert.match((await b.fails('fill_form', { tab_id: tab, fields: fields('#i', '#never') })).error, /fields\[1\]: .*"ours" was put in, .* now has "mine"/);
  });

  test(`editors that take their text back later${where}`, async () => {
    await open('/editors');
    await takenBack('set_value', '#e', { value: 'yours' }, '"yours"', '"mine"');
    await takenBack('set_value', '#up', { value: 'abc' }, '"abc"', '"ABC"');
    await takenBack('set_value', '.CodeMirror', { value: 'yours' }, '"yours"', '"mine"');
  });
}

test('what the page makes of an answer over its socket is seen; one that has no answer is not waited for in vain for long', async () => {
  tab = await b.open('/socket');
  await b.ok('wait_for', { tab_id: tab, script: 'document.title === "open"' });
  // On a busy machine an answer may come later than is waited for: then it is asked for once more.
  const seen = async (look) => { for (let left = 3; ; left--) try { return await look(); } catch (e) { if (left === 0) throw e; } };
  await seen(() => takenBack('set_value', '#no', { value: 'put in' }, '"put in"', '"mine"'));
  assert.equal((await b.ok('set_value', { tab_id: tab, target: { value: '#yes' }, value: 'kept' })).value, 'kept');
  assert.equal((await b.ok('set_value', { tab_id: tab, target: { value: '#mute' }, value: 'said' })).note, undefined);
  await seen(async () => {
    const form = await b.fails('fill_form', { tab_id: tab, fields: [{ target: { value: '#yes' }, value: 'a' }, { target: { value: '#no' }, value: 'b' }] });
    assert.match(form.error, /fields\[1\].*"b".*"mine"/);
  });
  assert.equal(await b.inPage('/socket', 'WebSocket.prototype.send === first'), true);
});

test('a value that is taken back with a frame, or by a page that draws its state with each', async () => {
  tab = await b.open('/frames');
  for (const id of ['#frame', '#twice', '#loop']) await takenBack('set_value', id, { value: 'yours' }, '"yours"', '"mine"');
});

test('a hidden page that waits for its next frame: the answer says that this was not seen', async () => {
  tab = await b.open('/frames?hidden');
  await b.open('/other');
  assert.match((await act('set_value', '#frame', { value: 'yours' })).result.note, /until its tab is shown/);
});

test('a call whose own time is up before the page has had its turn: the answer says so', async () => {
  tab = await b.open('/timers?short');
  const { value, note } = await b.ok('set_value', { tab_id: tab, target: { value: '#t450' }, value: 'yours' }, { timeout_ms: 600 });
  assert.equal(value, 'yours');
  assert.match(note, /longer than could be waited/);
});

test('a page that asks its server at intervals does not keep the call until its deadline', async () => {
  tab = await b.open('/polls');
  const from = performance.now();
  const { value, note } = await b.ok('set_value', { tab_id: tab, target: { value: '#i' }, value: 'yours' });
  assert.equal(value, 'yours');
  assert.match(note, /asks its server again and again/);
  assert.ok(performance.now() - from < 10_000);
});

test('a page that puts nothing off is not waited for', async () => {
  tab = await b.open('/calm');
  const times = [];
  for (let i = 0; i < 9; i++) {
    const from = performance.now();
    assert.equal((await act('set_value', '#i', { value: `v${i}` })).result.value, `v${i}`);
    times.push(performance.now() - from);
  }
  assert.ok(Math.min(...times) < 250, `${times.map(Math.round)}`);
});

test('only timers that could matter are waited for, and they alone', async () => {
  tab = await b.open('/libraries');
  for (const id of ['#again', '#once', '#chain', '#kept', '#draws']) await takenBack('set_value', id, { value: 'yours' }, '"yours"', '"mine"');
  for (const id of ['#far', '#anew']) {
    const times = [];
    for (let i = 0; i < 7; i++) {
      const from = performance.now();
      assert.equal((await act('set_value', id, { value: `v${i}` })).result.value, `v${i}`);
      times.push(performance.now() - from);
    }
    assert.ok(Math.min(...times) < 250, `${id}: ${times.map(Math.round)}`);
  }
});

test('a timer that runs a little sooner than it was seen to fall due', async () => {
  tab = await b.open('/held-up');
  await takenBack('set_value', '#i', { value: 'yours' }, '"yours"', '"mine"');
});

test('the page has its own functions again, and what it has kept of others goes on working', async () => {
  tab = await b.open('/around');
  for (const value of ['a', 'b', 'c']) assert.equal((await act('set_value', '#i', { value })).result?.value, value);
  assert.equal(await b.inPage('/around', 'ran'), 3);
  assert.equal(await b.inPage('/around', 'new Promise((done) => { held(() => done(1), 0); })'), 1);
  assert.equal(await b.inPage('/around', 'new Promise((done) => { setTimeout(() => done(2), 0); })'), 2);
  tab = await b.open('/libraries?own');
  const own = () => b.inPage('?own', `[setTimeout, setInterval, clearTimeout, clearInterval].every((f) => /native code/.test(String(f)))`);
  await act('set_value', '#far', { value: 'x' });
  assert.equal(await own(), true);
  await b.ok('fill_form', { tab_id: tab, fields: [{ selector: '#far', value: 'y' }, { selector: '#anew', value: 'z' }] });
  assert.equal(await own(), true);
  await takenBack('set_value', '#once', { value: 'yours' }, '"yours"', '"mine"');
  assert.equal(await own(), true);
});

test('a page whose functions cannot be replaced is given the whole time', async () => {
  tab = await b.open('/frozen');
  await takenBack('set_value', '#i', { value: 'yours' }, '"yours"', '"mine"');
});

test('a field that is drawn anew later, without its value, is an error; one that is gone is told', async () => {
  tab = await b.open('/redrawn');
  await takenBack('set_value', '#i', { value: 'yours' }, '"yours"', '"old"');
  assert.match((await act('set_value', '#gone', { value: 'yours' })).result.note, /taken the field away/);
});

test('options that are drawn anew', async () => {
  tab = await b.open('/options');
  await takenBack('select_option', '#s', { value: 'B' }, '"B"', '"A"');
  assert.equal((await act('select_option', '#k', { value: 'B' })).result?.value, 'B');
});

test('two long values that differ far behind are shown from where they differ', async () => {
  tab = await b.open('/timers?long');
  const long = 'x'.repeat(3000);
  await takenBack('set_value', '#cut', { value: `${long}end` }, 'xxend" (3003 characters in all)', 'xx" (3000 characters in all)');
});

test('the fields of a form share the wait; one that is taken back, or that a later one changes, is named', async () => {
  tab = await b.open('/form');
  const many = (third) => [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({ selector: `#f${i}`, value: i === 2 ? third : `v${i}` }));
  const from = performance.now();
  const { filled } = await b.ok('fill_form', { tab_id: tab, fields: [...many('fine'), { selector: '#box', checked: true }, { selector: '#country', option: 'Norway' }] });
  assert.ok(performance.now() - from < 3500, 'not half a second for each');
  assert.equal(filled.length, 10);
  assert.deepEqual(Object.keys(filled[0]), ['element', 'value']);
  assert.equal(await b.page(tab, 'document.querySelector("#f2").dataset.saved'), 'fine');
  const refused = await b.fails('fill_form', { tab_id: tab, fields: many('refused') });
  assert.deepEqual([refused.code, refused.maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true]);
  assert.match(refused.error, /fields\[2\]: .*"refused" was put in, .* now has ""/);
  const changed = await b.fails('fill_form', { tab_id: tab, fields: [{ selector: '#town', value: 'Bergen' }, { selector: '#country', option: '–' }, { selector: '#country', option: 'Norway' }] });
  assert.match(changed.error, /fields\[0\]: .*"Bergen" was put in, .* now has "Oslo"/);
});

test('typed keys of which the page keeps only some are an error with both; a mask around them is not', async () => {
  tab = await b.open('/typed');
  await takenBack('type_text', '#digits', { text: 'a1b2' }, '"a1b2"', '"12"');
  await takenBack('type_text', '#max', { text: '123456' }, '"123456"', '"1234"');
  assert.equal((await act('type_text', '#phone', { text: '5551234' })).result?.value, '(555) 1234');
  assert.equal((await act('type_text', '#on', { text: '03092027' })).result?.value, '2027-03-09');
});
