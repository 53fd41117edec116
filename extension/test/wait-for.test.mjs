// wait_for: each kind of condition, in frames and shadow roots, in the background, across a change of page, and what a failure says.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const later = (ms, code) => `<script>setTimeout(() => { ${code} }, ${ms})</script>`;

let b;
before(async () => {
  b = await start({
    pages: {
      '/': '<title>Home</title><p id="there">All is here</p><input id="field" value="x"><div id="off" style="display:none">off</div>',
      '/shows': `<div id="menu" style="display:none">Menu</div>${later(300, "document.querySelector('#menu').style.display = ''")}`,
      '/sheet': `<style id="s">#menu { display: none }</style><div id="menu">Menu</div>${later(300, "document.querySelector('#s').sheet.deleteRule(0)")}`,
      '/goes': `<div id="spinner">…</div>${later(300, "document.querySelector('#spinner').remove()")}`,
      '/hides': `<p class="x">one</p><p class="x">two</p>${later(200, "document.querySelectorAll('.x')[0].hidden = true")}${later(500, "document.querySelectorAll('.x')[1].hidden = true")}`,
      '/enables': `<fieldset disabled><button id="go">Go</button></fieldset>${later(300, "document.querySelector('fieldset').disabled = false")}`,
      '/text': `<p>Loaded <b id="n">0</b> rows</p>${later(300, "document.querySelector('#n').textContent = '3'")}`,
      '/secret': `<p hidden>Done now</p>${later(400, "document.querySelector('p').hidden = false")}`,
      '/push': `${later(200, "history.pushState(0, '', '?step=1')")}${later(400, "history.replaceState(0, '', '?step=done#end')")}`,
      '/shadow': `<x-a></x-a><script>const r = document.querySelector('x-a').attachShadow({mode:'closed'}); r.innerHTML = '<i class="s">wait</i>';
        setTimeout(() => { r.innerHTML = '<b class="t">Deep text</b>' }, 400)</script>`,
      '/framed': '<p>outside</p><iframe src="{{cross}}/inner"></iframe>',
      '/inner': `<p class="in">wait</p>${later(500, "document.body.innerHTML = '<b id=late>Inner text</b>'")}`,
      '/frame-goes': `<iframe id="f" src="/spin"></iframe>${later(600, "document.querySelector('#f').remove()")}`,
      '/spin': '<div id="spinner">…</div>',
      '/first': `<title>First</title>${later(300, 'location = "{{cross}}/second"')}`,
      '/second': `<title>Second</title>${later(300, "document.body.innerHTML = '<p id=arrived>Arrived at last</p>'")}`,
      '/picture': '<title>Picture</title><p>text</p><img src="/never.png">',
      '/slow-picture': '<title>Slow</title><img src="/slow.png">',
      '/chain': `<title>Chain</title><p id="p"></p><script>
        onload = async () => { for (let i = 1; i <= 4; i++) { await fetch('/api?' + i); await new Promise((r) => setTimeout(r, 200)); document.querySelector('#p').textContent = i; } }</script>`,
      '/stream': '<title>Stream</title><script>fetch("/events")</script>',
      '/refs': `<button id="on" disabled>Soon on</button><button id="gone">Soon gone</button><button id="out">Soon out</button><button>Stays</button><button disabled>Covered</button>${later(900, "on.disabled = false; gone.hidden = true; out.remove()")}`,
      '/ready': later(400, 'window.state = null; document.title = "Ready"; document.body.dataset.n = "3"'),
    },
    routes: {
      '/never.png': { hang: true },
      '/slow.png': { delay: 900, body: 'x', type: 'image/png' },
      '/api': { delay: 100, body: '{}', type: 'application/json' },
      '/events': { hang: true, first: 'data: 1\n\n', type: 'text/event-stream' },
      '/late-page': { delay: 800, body: '<title>Late</title><p id="late">late</p>' },
    },
  });
});
after(() => b?.stop());

/** Waits in a fresh tab at a path. */
async function wait(path, params) {
  const tab = await b.open(path);
  const result = await b.ok('wait_for', { tab_id: tab, ...params });
  assert.equal(typeof result.waited_ms, 'number');
  return { tab, ...result };
}
const css = (value, more) => ({ target: { value, ...more } });

test('what is there already is answered at once', async () => {
  const tab = await b.open('/');
  for (const params of [css('#there'), { ...css('#there'), state: 'attached' }, { ...css('#off'), state: 'hidden' }, { ...css('#none'), state: 'detached' }, { ...css('#none'), state: 'hidden' },
    { ...css('#field'), state: 'enabled' }, { text: 'All is here' }, { url: b.base }, { load: true }, { script: 'document.title === "Home"' }]) {
    const began = Date.now();
    await b.ok('wait_for', { tab_id: tab, ...params, timeout: 5000 });
    assert.ok(Date.now() - began < 1500, JSON.stringify(params));
  }
});

test('however short the time, things are looked at once', async () => {
  const tab = await b.open('/');
  for (const params of [css('#there'), { ...css('#none'), state: 'detached' }, { text: 'All is here' }, { url: b.base }, { load: true }, { load: 'domcontentloaded' }, { script: 'document.title === "Home"' }]) {
    await b.ok('wait_for', { tab_id: tab, ...params, timeout: 0 });
  }
  for (const params of [css('#none'), { ...css('#there'), state: 'hidden' }, { text: 'Not here' }, { url: 'nowhere' }, { script: 'false' }]) {
    const { code, error } = await b.fails('wait_for', { tab_id: tab, ...params, timeout: 0 });
    assert.equal(code, 'TIMEOUT', error);
  }
  const framed = await b.open('/framed');
  await b.ok('wait_for', { tab_id: framed, ...css('.in') });
  await b.ok('wait_for', { tab_id: framed, ...css('.in, #late'), timeout: 0 });
});

test('a network at rest: what was under way before the wait counts', async () => {
  const tab = await b.open('/');
  await b.page(tab, 'fetch("/late-page").then(() => fetch("/api?then")).then(() => { document.title = "Rested" }); 1');
  await b.ok('wait_for', { tab_id: tab, load: 'network_idle' });
  assert.equal(await b.page(tab, 'document.title'), 'Rested');
});

test('an element comes to be visible, by its own style or by a style sheet', async () => {
  for (const path of ['/shows', '/sheet']) {
    const { tab } = await wait(path, css('#menu'));
    assert.equal(await b.page(tab, "getComputedStyle(document.querySelector('#menu')).display"), 'block');
  }
});

test('an element is hidden: with no index, only when no match can be seen', async () => {
  const { tab } = await wait('/hides', { ...css('.x'), state: 'hidden' });
  assert.equal(await b.page(tab, "[...document.querySelectorAll('.x')].filter((p) => !p.hidden).length"), 0);
  const { tab: other } = await wait('/hides', { ...css('.x', { index: 1 }), state: 'hidden' });
  assert.equal(await b.page(other, "document.querySelectorAll('.x')[1].hidden"), true);
});

test('an element goes', async () => {
  const { tab } = await wait('/goes', { ...css('#spinner'), state: 'detached' });
  assert.equal(await b.page(tab, "document.querySelectorAll('#spinner').length"), 0);
});

test('a button is enabled by its fieldset', async () => {
  const { tab } = await wait('/enables', { ...css('#go'), state: 'enabled' });
  assert.equal(await b.page(tab, "document.querySelector('#go').matches(':disabled')"), false);
});

test('a text over several elements; and one that is there but hidden', async () => {
  const { tab } = await wait('/text', { text: 'Loaded 3 rows' });
  assert.equal(await b.page(tab, "document.querySelector('#n').textContent"), '3');
  const { tab: other } = await wait('/secret', { text: 'Done now' });
  assert.equal(await b.page(other, "document.querySelector('p').hidden"), false);
});

test('an address: the query and the fragment count; a pattern is for the whole of it', async () => {
  const { tab, url } = await wait('/push', { url: '?step=done' });
  assert.equal(url, `${b.base}/push?step=done#end`);
  await b.ok('wait_for', { tab_id: tab, url: '*/push*#end', timeout: 500 });
  const error = await b.fails('wait_for', { tab_id: tab, url: '*/push', timeout: 200 });
  assert.equal(error.code, 'TIMEOUT');
  assert.match(error.error, /step=done/);
});

test('in closed shadow roots', async () => {
  const tab = await b.open('/shadow');
  await Promise.all([b.ok('wait_for', { tab_id: tab, text: 'Deep text' }), b.ok('wait_for', { tab_id: tab, ...css('.t') }), b.ok('wait_for', { tab_id: tab, ...css('.s'), state: 'detached' })]);
});

test('in a frame of another site', async () => {
  const tab = await b.open('/framed');
  await Promise.all([b.ok('wait_for', { tab_id: tab, text: 'Inner text' }), b.ok('wait_for', { tab_id: tab, ...css('#late') }), b.ok('wait_for', { tab_id: tab, ...css('.in'), state: 'detached' })]);
});

test('what was in a frame goes with the frame', async () => {
  const { tab } = await wait('/frame-goes', { ...css('#spinner'), state: 'detached' });
  assert.equal(await b.page(tab, 'document.querySelectorAll("iframe").length'), 0);
});

test('a page that goes on to another site meanwhile is followed', async () => {
  for (const params of [css('#arrived'), { text: 'Arrived at last' }, { url: '/second' }, { script: 'document.querySelector("#arrived") !== null' }]) {
    const { url } = await wait('/first', params);
    assert.equal(url, `${b.cross}/second`);
  }
});

test('a wait that begins before the tab has any page', async () => {
  const tab = (await b.ok('new_tab', {})).tab_id;
  const waiting = b.call('wait_for', { tab_id: tab, ...css('#late'), timeout: 8000 });
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/late-page`, wait_until: 'none' });
  const { success } = await waiting;
  assert.equal(success, true);
});

test('a tab in the background', async () => {
  const tab = await b.open('/');
  const hidden = await b.open('/sheet');
  await b.ok('activate_tab', { tab_id: tab });
  const { waited_ms } = await b.ok('wait_for', { tab_id: hidden, ...css('#menu') });
  assert.ok(waited_ms < 5000);
  await b.page(hidden, "setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<b id=more>more</b>') }, 200); 1");
  await b.ok('wait_for', { tab_id: hidden, ...css('#more') });
});

test('loads: parsed before a picture that never comes, loaded with one that comes late', async () => {
  const tab = await b.open('/');
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/picture`, wait_until: 'none' });
  await b.ok('wait_for', { tab_id: tab, load: 'domcontentloaded', timeout: 5000 });
  assert.equal((await b.fails('wait_for', { tab_id: tab, load: 'load', timeout: 500 })).code, 'TIMEOUT');
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/slow-picture`, wait_until: 'none' });
  await b.ok('wait_for', { tab_id: tab, load: true, timeout: 5000 });
  assert.equal(await b.page(tab, 'document.readyState'), 'complete');
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/chain`, wait_until: 'none' });
  await b.ok('wait_for', { tab_id: tab, load: 'network_idle' });
  assert.equal(await b.page(tab, 'document.querySelector("#p").textContent'), '4');
});

test('a script: what it throws means not yet, what it cannot be read as is said at once', async () => {
  const { tab } = await wait('/ready', { script: 'document.body.dataset.n.length === 1' });
  assert.equal(await b.page(tab, 'document.title'), 'Ready');
  const bad = await b.fails('wait_for', { tab_id: tab, script: 'a b c', timeout: 5000 });
  assert.equal(bad.code, 'SCRIPT_ERROR');
  const late = await b.fails('wait_for', { tab_id: tab, script: 'new Promise(() => {})', timeout: 400 });
  assert.equal(late.code, 'TIMEOUT');
  assert.equal((await b.fails('wait_for', { tab_id: tab, script: 'nothing.there', timeout: 300 })).code, 'TIMEOUT');
});

test('navigate to the point where the network is at rest', async () => {
  const tab = await b.open('/');
  const result = await b.ok('navigate', { tab_id: tab, url: `${b.base}/chain`, wait_until: 'network_idle' });
  assert.deepEqual([result.loaded, result.idle, result.status], [true, true, 200]);
  assert.equal(await b.page(tab, 'document.querySelector("#p").textContent'), '4');
  const streaming = await b.ok('navigate', { url: `${b.base}/stream`, wait_until: 'network_idle', new_tab: true });
  assert.equal(streaming.loaded, true, 'a stream does not hold it up');
});

test('navigate that waits for nothing: a server that hangs holds nobody up', async () => {
  const tab = await b.open('/');
  const began = Date.now();
  const result = await b.ok('navigate', { tab_id: tab, url: `${b.base}/late-page?x`, wait_until: 'none' });
  assert.ok(Date.now() - began < 4000);
  assert.equal(result.url, `${b.base}/late-page?x`);
  await b.ok('wait_for', { tab_id: tab, ...css('#late') });
});

test('a time that is over says what was missing', async () => {
  const tab = await b.open('/');
  const missing = await b.fails('wait_for', { tab_id: tab, ...css('#nope'), timeout: 300 });
  assert.equal(missing.code, 'TIMEOUT');
  assert.match(missing.error, /#nope.*nothing matches/);
  assert.match((await b.fails('wait_for', { tab_id: tab, ...css('#off'), timeout: 300 })).error, /display: none/);
  assert.match((await b.fails('wait_for', { tab_id: tab, ...css('#there'), state: 'hidden', timeout: 300 })).error, /still be seen/);
});

test('a ref: every state of that one element, also once it or its page is gone', async () => {
  const on = async (path) => {
    const tab = await b.open(path);
    const { nodes } = await b.ok('snapshot', { tab_id: tab, mode: 'full', include_hidden: true });
    const ref = (part) => nodes.find((n) => JSON.stringify(n).includes(part)).ref;
    const call = (part, state, more) => b.call('wait_for', { tab_id: tab, target: { ref: part.startsWith('backend-') ? part : ref(part) }, state, ...more });
    return { tab, ref, call };
  };
  const { tab, call } = await on('/refs');
  for (const [name, state] of [['Soon on', 'enabled'], ['Soon gone', 'hidden'], ['Soon out', 'detached'], ['Soon gone', 'hidden'], ['Soon out', 'hidden'], ['Stays', 'visible'], ['Stays', 'attached']]) {
    const answer = await call(name, state);
    assert.ok(answer.success, `${name} ${state}: ${answer.error}`);
  }
  for (const [name, state, code] of [['Soon out', 'visible', 'STALE_REF'], ['Soon out', 'attached', 'STALE_REF'], ['Stays', 'detached', 'TIMEOUT'], ['Stays', 'hidden', 'TIMEOUT'], ['backend-9999', 'detached', 'STALE_REF'], ['backend-x', 'hidden', 'INVALID_PARAMS']]) {
    assert.equal((await call(name, state, { timeout: 300 })).code, code, `${name} ${state}`);
  }
  // The page is left while one waits, and before another asks.
  const waits = [call('Stays', 'detached'), call('Stays', 'visible', { timeout: 0 }), call('Covered', 'enabled')];
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/` });
  assert.deepEqual((await Promise.all(waits)).map((a) => a.code ?? a.success), [true, true, 'STALE_REF']);
  assert.equal((await call('Stays', 'hidden')).success, true);
  assert.equal((await call('Stays', 'enabled')).code, 'STALE_REF');
});

test('a ref whose page is left at the very moment: an answer about the ref, at whichever step the page goes', async () => {
  const tab = await b.open('/refs');
  for (let round = 0; round < 4; round++) {
    const { nodes } = await b.ok('snapshot', { tab_id: tab });
    const { ref } = nodes.find((n) => n.name === 'Stays');
    let left = false;
    const leaving = b.ok('navigate', { tab_id: tab, url: `${b.base}/refs?${round}` }).finally(() => { left = true; });
    const answers = [];
    while (!left) {
      answers.push(b.call('wait_for', { tab_id: tab, target: { ref }, state: 'detached' }), b.call('click', { tab_id: tab, target: { ref } }));
      await new Promise((sent) => setImmediate(sent));
      if (answers.length % 8 === 0) await Promise.any([answers.at(-1), leaving]);
    }
    await leaving;
    for (const answer of await Promise.all(answers)) assert.ok(answer.success || answer.code === 'STALE_REF' || answer.maybe_executed, JSON.stringify(answer));
  }
});

test('what cannot be meant is refused at once', async () => {
  const tab = await b.open('/');
  for (const params of [{}, { text: 'a', url: 'b' }, { text: 'a', state: 'visible' }, { ...css('#x'), state: 'gone' }, css('##')]) {
    assert.equal((await b.fails('wait_for', { tab_id: tab, timeout: 5000, ...params })).code, 'INVALID_PARAMS', JSON.stringify(params));
  }
});

test('a tab that is closed ends the wait', async () => {
  const tab = await b.open('/');
  const waiting = b.call('wait_for', { tab_id: tab, ...css('#nope'), timeout: 10_000 });
  await b.ok('close_tab', { tab_id: tab });
  assert.equal((await waiting).code, 'TAB_NOT_FOUND');
});
