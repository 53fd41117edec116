// Trusted acts on a page that gives way under them: what was not picked up, or not typed into, is not told as if it had been, and no button stays pressed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const BOXES = (script, more = '') => `<!doctype html><style>div { position: absolute; width: 80px; height: 40px } #under, #a { left: 20px; top: 20px } #a { background: #ccc } #b { left: 300px; top: 200px; background: #eee }</style>
  <div id="under"></div><div id="a">A</div><div id="b">B</div>${more}<script>window.log = []; for (const t of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'drop']) addEventListener(t, (e) => log.push(t + ' ' + (e.target.id || e.target.localName)), true); ${script}</script>`;
const pages = {
  '/flees': BOXES('a.onpointermove = () => { a.style.left = "500px"; };'),
  '/goes': BOXES('a.onpointerdown = () => b.remove();'),
  '/carried': BOXES('a.style.zIndex = 1; addEventListener("pointermove", (e) => { if (e.buttons) { a.style.left = e.clientX - 9 + "px"; a.style.top = e.clientY - 9 + "px"; } });'),
  '/shy': '<input id="f" onfocus="f.disabled = true"><script>window.keys = 0; addEventListener("keydown", () => keys++)</script>',
  '/lends': '<div id="editor" tabindex="0" contenteditable>e</div><input id="real"><script>editor.onfocus = () => real.focus()</script>',
};
let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());

const ends = { from: { value: '#a' }, to: { value: '#b' }, timeout: 1000 };

test('drag: what moves away under the pointer is not picked up, nor is what lies below it', async () => {
  const tab = await b.open('/flees');
  const { code, error, maybe_executed } = await b.fails('drag', { tab_id: tab, ...ends });
  assert.deepEqual([code, maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true]);
  assert.match(error, /not picked up.*<div id="under">/);
  assert.deepEqual(await b.inPage('/flees', 'log'), []);
});

test('drag: where the goal is gone when it has been picked up, the button is let go', async () => {
  const tab = await b.open('/goes');
  const { code, maybe_executed } = await b.fails('drag', { tab_id: tab, ...ends });
  assert.deepEqual([code, maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true]);
  assert.deepEqual(await b.inPage('/goes', 'log.map((l) => l.split(" ")[0])'), ['pointerdown', 'mousedown', 'pointerup', 'mouseup']);
});

test('drag: what is carried along under the pointer arrives', async () => {
  const tab = await b.open('/carried');
  await b.ok('drag', { tab_id: tab, ...ends });
  assert.deepEqual(await b.inPage('/carried', 'log'), ['pointerdown a', 'mousedown a', 'pointerup a', 'mouseup a']);
});

test('type_text: a field that does not keep the focus gets none of the text, nor does anything else; one that hands it on does', async () => {
  let tab = await b.open('/shy');
  const { code, error } = await b.fails('type_text', { tab_id: tab, target: { value: '#f' }, text: 'abc', timeout: 1000 });
  assert.equal(code, 'ELEMENT_NOT_ACTIONABLE', error);
  assert.equal(await b.inPage('/shy', 'keys'), 0);
  tab = await b.open('/lends');
  const { value } = await b.ok('type_text', { tab_id: tab, target: { value: '#editor' }, text: 'abc' });
  assert.deepEqual([value, await b.inPage('/lends', 'real.value')], ['abc', 'abc']);
});
