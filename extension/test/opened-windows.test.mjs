// A window that the page opens in answer to a click: it opens under a plain click too, whichever way the page asks for it; one a click, and
// none at any other time.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

/** What the handlers of the buttons do; each says what it got. */
const ways = {
  plain: 'const w = window.open("/two"); say("plain", [!!w, w.opener === window])',
  features: 'const w = window.open("/two", "pop", "width=320,height=240"); say("features", !!w)',
  noopener: 'say("noopener", window.open("/two", "_blank", "noopener"))',
  write: 'const w = window.open("", "", "width=300,height=200"); w.document.write("<title>Written</title><p>by the opener"); w.document.close(); say("write", w.document.title)',
  led: 'const w = window.open("about:blank"); setTimeout(() => { w.location.href = "/two"; }, 20)',
  address: 'say("address", !!window.open(new URL("/two", location.href)))',
  cross: 'say("cross", !!window.open("{{cross}}/two"))',
  promise: 'Promise.resolve().then(() => 1).then(() => { say("promise", !!window.open("/two")); })',
  fetched: 'fetch("/late").then((r) => r.text()).then((to) => { say("fetched", !!window.open(to)); })',
  made: 'const a = document.createElement("a"); a.href = "/two"; a.target = "_blank"; a.click()',
  event: 'document.querySelector("#link").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))',
  form: 'document.querySelector("form").submit()',
  asked: 'document.querySelector("form").requestSubmit()',
};
const others = {
  timer: 'setTimeout(() => { say("timer", !!window.open("/two")); }, 150)',
  several: 'const got = [1, 2, 3].map((n) => !!window.open("/two?" + n)); say("several", got)',
  named: 'say("named", !!window.open("/two?" + Math.random(), "same"))',
  wrong: 'try { window.open("http://["); } catch (e) { say("wrong", e.name); }',
  frame: 'say("frame", window.open("/two", "inner") === frames[0])',
  here: 'window.open("/two", "_self")',
};
const button = ([id, code]) => `<button id="${id}">${id}</button><script>document.querySelector('#${id}').addEventListener('click', () => { ${code} });</script>`;
const page = (body) => `<!doctype html><title>Opener</title><script src="/__page.js"></script>${body}`;

let b;
before(async () => {
  b = await start({
    pages: {
      '/': page(`<a id="link" href="/two" target="_blank"></a><form action="/two" target="_blank"><input name="hasAttribute"></form>
        ${[...Object.entries(ways), ...Object.entries(others)].map(button).join('')}<iframe name="inner" src="/inside"></iframe>`),
      '/two': '<title>Two</title><h1>Two</h1>',
      '/keyed': page(`${button(['go', 'window.open("/two")'])}<a id="link" href="/two" target="_blank">x</a><input id="field"><script>
        field.addEventListener('keydown', ({ key }) => { if (key === 'o' || key === '2') window.open('/two'); if (key === '2') window.open('/two?second'); if (key === 'Escape') window.open('/two'); });</script>`),
      '/inside': page(button(['in', 'say("in", !!window.open("/two"))'])),
      '/frames': page('<iframe src="{{cross}}/inside"></iframe>'),
      '/sandbox': page('<iframe sandbox="allow-scripts" src="/shut"></iframe>'),
      '/shut': '<button id="in" onclick="window.open(\'/two\')">x</button>',
      '/strict': `<meta http-equiv="content-security-policy" content="script-src 'nonce-a' 'self'; require-trusted-types-for 'script'"><script src="/__page.js"></script>
        <button id="go">x</button><script nonce="a">document.querySelector('#go').onclick = () => { say('strict', !!window.open('/two')); };</script>`,
      '/before': page(`<script>const before = open, clicks = HTMLElement.prototype.click;</script>${button(['go', 'say("meanwhile", [typeof open, open.name])'])}
        <script>setInterval(() => say('after', open === before && clicks === HTMLElement.prototype.click), 50)</script>`),
      '/wrapped': page(`<script>const was = window.open; window.open = function (...args) { say('wrapper', args[0]); return was.apply(this, args); };</script>${button(['go', 'say("through", !!window.open("/two"))'])}`),
      '/instead': page(`<script>window.open = (url) => { say('instead', url); };</script>${button(['go', 'window.open("/two")'])}`),
      '/beat': page('<script>let n = 0; setInterval(() => { say("beat", [++n, !!window.open("/two")]); }, 15);</script><button id="go">x</button>'),
      '/anew': page(`<button id="go">x</button><script>document.querySelector('#go').onclick = () => {
        document.open(); document.write('<script src="/__page.js"></' + 'script><button id="again" onclick="say(\\'anew\\', !!window.open(\\'/two\\'))">x</button>'); document.close(); };</script>`),
    },
    routes: { '/late': { delay: 400, body: '/two', type: 'text/plain' } },
  });
});
after(() => b?.stop());

const tabs = async () => (await b.ok('list_tabs')).tabs;
/** Opens the page, clicks, and gives the answer with the tab it was in. */
async function click(where, id, more = {}) {
  const tab = await b.open(where);
  return { tab, ...(await b.ok('click', { tab_id: tab, target: { value: `#${id}` }, ...more })) };
}
/** The window is there, shows the page, and belongs to who clicked. */
async function isOpen(opened, title = 'Two') {
  assert.equal(opened?.length, 1, JSON.stringify(opened));
  for (const end = Date.now() + 5000; ; await new Promise((r) => setTimeout(r, 20))) {
    const mine = (await tabs()).find((t) => t.tab_id === opened[0].tab_id);
    assert.ok(mine, 'the window is gone');
    if (mine.title === title && mine.owner !== undefined) return;
    assert.ok(Date.now() < end, JSON.stringify(mine));
  }
}
async function closeAll() { await b.ok('close_auto_tabs'); }

test('whichever way the page asks for it, the window opens, the answer tells of it, and the page has its handle', async () => {
  for (const id of Object.keys(ways)) {
    const { opened, note, navigated } = await click('/', id);
    await isOpen(opened, id === 'write' ? 'Written' : 'Two');
    assert.deepEqual([note, navigated], [undefined, undefined], id);
    await closeAll();
  }
  const { plain, features, noopener, write, address, cross, promise, fetched } = b.said;
  assert.deepEqual({ plain, features, noopener, write, address, cross, promise, fetched },
    { plain: [true, true], features: true, noopener: null, write: 'Written', address: true, cross: true, promise: true, fetched: true });
});

test('in frames of other sites, under a strict policy, by click_at, and in a page that has written itself anew', async () => {
  await isOpen((await click('/frames', 'in')).opened);
  await isOpen((await click('/strict', 'go')).opened);
  assert.deepEqual([b.said.in, b.said.strict], [true, true]);
  const tab = await b.open('/strict');
  const { x, y, width, height } = (await b.ok('snapshot', { tab_id: tab })).nodes.find((n) => n.role === 'button').bounds;
  await isOpen((await b.ok('click_at', { tab_id: tab, x: x + width / 2, y: y + height / 2 })).opened);
  const anew = await click('/anew', 'go');
  await isOpen((await b.ok('click', { tab_id: anew.tab, target: { value: '#again' } })).opened);
  assert.equal(b.said.anew, true);
  await closeAll();
});

test('a timer that the click began may open it a little later; it belongs to who clicked', async () => {
  const before = (await tabs()).length;
  await click('/', 'timer');
  await b.heard('timer', (got) => got === true);
  for (const end = Date.now() + 5000; (await tabs()).filter((t) => t.owner !== undefined && t.title === 'Two').length !== 1; await new Promise((r) => setTimeout(r, 20))) assert.ok(Date.now() < end);
  assert.equal((await tabs()).length, before + 2);
  await closeAll();
});

test('one a click, as for a person: further ones do not open, and it is said which', async () => {
  const { opened, note } = await click('/', 'several');
  await isOpen(opened);
  assert.deepEqual(b.said.several, [true, false, false]);
  assert.match(note, /also asked for windows that did not open: \S+\/two\?2, \S+\/two\?3; it may open one a click/);
  await closeAll();
  const shut = await click('/sandbox', 'in');
  assert.equal(shut.opened, undefined);
  assert.match(shut.note, /asked for a window that did not open: \S+\/two; a click with trusted/);
});

test('a window with a name is used again; a name of a frame and of the page itself lead there', async () => {
  const { tab, opened } = await click('/', 'named');
  await isOpen(opened);
  const again = await b.ok('click', { tab_id: tab, target: { value: '#named' } });
  assert.deepEqual([again.opened, again.note, b.said.named], [undefined, undefined, true]);
  assert.equal(b.site.requests.filter((r) => /^\/two\?0\./.test(r.url)).length, 2);
  assert.equal((await b.ok('click', { tab_id: tab, target: { value: '#frame' } })).opened, undefined);
  assert.equal(b.said.frame, true);
  assert.match((await b.ok('click', { tab_id: tab, target: { value: '#here' } })).navigated, /\/two$/);
  await click('/', 'wrong');
  assert.equal(b.said.wrong, 'SyntaxError');
  await closeAll();
});

test('what a page has in the place of window.open stays in charge, and everything is as before when the click is over', async () => {
  await isOpen((await click('/wrapped', 'go')).opened);
  assert.deepEqual([b.said.wrapper, b.said.through], ['/two', true]);
  const { opened, note } = await click('/instead', 'go');
  assert.deepEqual([opened, note, b.said.instead], [undefined, undefined, '/two']);
  await click('/before', 'go');
  assert.deepEqual(b.said.meanwhile, ['function', 'open']);
  delete b.said.after;
  assert.equal(await b.heard('after'), true);
  await closeAll();
});

test('a page that asks by itself all the time gets none, before, during and after a click', async () => {
  const { opened } = await click('/beat', 'go');
  const [now] = b.said.beat;
  await b.heard('beat', ([n]) => n > now + 20);
  assert.equal(b.said.beat[1], false);
  assert.equal(opened, undefined);
  assert.equal((await tabs()).filter((t) => t.title === 'Two').length, 0);
});

test('a key lets the page open its window as a click does: Enter and Space on a button, Enter on a link, a shortcut of the page', async () => {
  const tab = await b.open('/keyed');
  const press = (key, id) => b.ok('press_key', { tab_id: tab, key, ...(id ? { target: { value: id } } : {}) });
  for (const [key, id] of [['Enter', '#go'], [' ', '#go'], ['Enter', undefined], ['Enter', '#link'], ['o', '#field']]) {
    const { opened, note, key: told } = await press(key, id);
    assert.deepEqual([note, told], [undefined, key]);
    await isOpen(opened);
    await b.ok('close_tab', { tab_id: opened[0].tab_id });
  }
  const { opened, note } = await press('2', '#field');
  await isOpen(opened);
  assert.match(note, /also asked for a window that did not open: .*two\?second; it may open one/);
  for (const key of ['x', 'Escape']) assert.equal((await press(key, '#field')).opened, undefined, key);
  await closeAll();
});
