// Targets: what each way of looking finds, which of several, and what is said when there is nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/text': `<style>.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)} .up{text-transform:uppercase}</style>
    <script>const save = 'Save';</script><h2>How to Save</h2><button id="draft">Save as draft</button><span class="sr" id="sr">Save</span><button id="save">Save</button>
    <p id="mixed">Hello <b>big</b>   world</p><div><div><em id="deep">please submit this</em></div></div><p id="shallow">submit</p>
    <button id="nested"><span><i>Order now</i></span></button><input id="isub" type="submit" value="Send it"><input id="ibare" type="submit"><input type="text" value="Typed text">
    <button id="shout" class="up">Sign in</button><div style="display:none"><button id="hid">Ghost</button></div><div style="visibility:hidden">Ghost</div>
    <button id="nb">10&nbsp;000&nbsp;€</button><button id="emoji">👩‍👩‍👧 家族</button><button id="nfd">Cafe\u0301</button><button id="rtl" dir="rtl">\u200fإرسال\u200f</button>
    <label id="own">Name <span style="font-size:8px">(required)</span></label><a href="#" id="a0">Remove</a><a href="#" id="a1">Remove</a><p id="br">First<br>Second</p>
    <div id="blocks"><div>Alpha</div><div>Beta</div></div><button id="heart">I ❤️ it</button><p id="case">Lower Case Only</p>
    <p id="boxless">with <span id="inner" style="display:contents">no box</span> around</p>`,
  '/role': `<link rel="stylesheet" href="data:text/css,"><a href="#" id="help">Help</a><a id="nolink">Help</a><div role="button" tabindex="0" id="r0" aria-label="Remove">x</div><button id="r1">Remove</button>
    <button hidden>Remove</button><button aria-hidden="true">Remove</button><input type="checkbox" id="cb" aria-labelledby="t"><span id="t">Terms</span><h3 id="h">Title</h3><input type="search" id="q" aria-label="Find"><img id="i" alt="Logo" src="data:,">`,
  '/label': `<label for="s">Street</label><input id="s"><label>First name <input id="fn"></label><label>Name <input id="n"></label><input id="c" aria-label="City"><span id="zl">ZIP code:</span><input id="z" aria-labelledby="zl">
    <input id="ph" placeholder="Search the docs"><label><input type="checkbox" id="g" style="display:none"> Gift wrap</label><label>Country * <select id="co"><option>Oslo</option></select></label><label>Notes<textarea id="no">x</textarea></label>
    <div id="ce" contenteditable aria-label="Message"></div><label style="display:none">Street <input id="hidden-street"></label>`,
  '/nest': '<body><script>let p = document.body; for (let i = 0; i < 1900; i++) { const d = document.createElement("div"); p.append(d); p = d } p.innerHTML = "<button id=deep>Deep end</button>"</script>',
  '/twins': '<nav hidden><a href="#" class="in">Sign in</a></nav><a href="#" class="in">Sign in</a>',
  '/xpath': '<ul><li>a</li><li class="x">b</li></ul><svg><rect/></svg>',
};

const routes = { '/drawing.svg': { type: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"><text id="words" y="20">Drawn words</text></svg>' } };

let b;
let tab;
before(async () => { b = await start({ pages, routes }); });
after(() => b?.stop());

const found = async (by, value, more = {}) => {
  const answer = await b.call('get_value', { tab_id: tab, target: { by, value, ...more }, timeout: 600 });
  return answer.success ? answer.result.element.id ?? answer.result.element.tag : answer.error;
};

test('text: exact before containing, seen before hidden, the innermost of several', async () => {
  tab = await b.open('/text');
  const expected = {
    Save: 'save', 'as draft': 'draft', 'Hello big world': 'mixed', '  Hello   big world ': 'mixed', 'please submit': 'deep', 'Order now': 'i', 'Send it': 'isub', Submit: 'ibare', submit: 'shallow',
    'SIGN IN': 'shout', 'Sign in': 'shout', '10 000 €': 'nb', '👩‍👩‍👧 家族': 'emoji', 家族: 'emoji', 'Café': 'nfd', إرسال: 'rtl', 'I ❤ it': 'heart', 'First Second': 'br', 'Alpha Beta': 'blocks', Alpha: 'div',
    'with no box around': 'boxless', 'no box': 'inner',
  };
  for (const [text, id] of Object.entries(expected)) assert.equal(await found('text', text), id, text);
  assert.equal(await found('text', 'Remove', { index: 1 }), 'a1');
  assert.equal(await found('text', 'lower case only'), 'case', 'other case only when there is nothing better');
  assert.match(await found('text', 'Ghost'), /hidden/);
  assert.match(await found('text', 'const save'), /not found/);
  assert.match(await found('text', 'Typed text'), /not found/);
  assert.match(await found('text', 'Remove', { index: 2 }), /there are 2 matches, their indexes are 0 to 1/);
});

test('text of a drawing that is a document of its own', async () => {
  tab = await b.open('/drawing.svg');
  assert.equal(await found('text', 'Drawn words'), 'words');
});

test('text at the bottom of a nest as deep as a browser can lay out', async () => {
  tab = await b.open('/nest');
  assert.equal(await found('text', 'Deep end'), 'deep');
});

test('role, with and without a name; what is hidden from assistive technology is not found', async () => {
  tab = await b.open('/role');
  assert.equal(await found('role', 'link', { name: 'Help' }), 'help');
  assert.equal(await found('role', 'link'), 'help');
  assert.equal(await found('role', 'button', { name: 'Remove', index: 1 }), 'r1');
  assert.match(await found('role', 'button', { name: 'Remove', index: 2 }), /2 matches/);
  assert.equal(await found('role', 'checkbox', { name: 'Terms' }), 'cb');
  assert.equal(await found('role', 'heading', { name: 'Title' }), 'h');
  assert.equal(await found('role', 'searchbox', { name: 'find' }), 'q', 'other case only when there is nothing better');
  assert.equal(await found('role', 'image', { name: 'Logo' }), 'i');
  assert.match(await found('role', 'button', { name: 'Add' }), /there are "Remove", "Remove"/);
  assert.equal((await b.fails('get_value', { tab_id: tab, target: { by: 'css', value: 'a', name: 'x' } })).code, 'INVALID_PARAMS');
});

test('label: by label elements, aria-label, aria-labelledby, placeholder', async () => {
  tab = await b.open('/label');
  const expected = { Street: 's', Name: 'n', 'First name': 'fn', City: 'c', 'ZIP code': 'z', 'ZIP code:': 'z', 'Search the docs': 'ph', 'Gift wrap': 'g', Country: 'co', Notes: 'no', Message: 'ce', 'the docs': 'ph' };
  for (const [label, id] of Object.entries(expected)) assert.equal(await found('label', label), id, label);
  assert.equal((await b.ok('check', { tab_id: tab, target: { by: 'label', value: 'Gift wrap' } })).checked, true);
});

test('xpath gives elements, also for texts and attributes', async () => {
  tab = await b.open('/xpath');
  const value = async (value, more) => (await b.ok('get_value', { tab_id: tab, target: { by: 'xpath', value, ...more }, timeout: 300 })).value;
  assert.equal(await value('//li', { index: 1 }), 'b');
  assert.equal(await value('//li/text()'), 'a');
  assert.equal(await value('//li/@class'), 'b');
  assert.equal(await found('xpath', "//*[local-name()='rect']"), 'rect');
});

test('a hidden first match is not clicked, and the one that can be seen is named', async () => {
  tab = await b.open('/twins');
  const { error } = await b.fails('click', { tab_id: tab, target: { value: 'a.in' }, timeout: 100 });
  assert.match(error, /hidden by <nav>.*; of the 2 matches the one with index 1 can be seen/);
});

test('what cannot be read is told at once, in the words of the browser', async () => {
  tab = await b.open('/xpath');
  for (const target of [{ value: 'div[[' }, { by: 'xpath', value: '//li[' }, { by: 'xpath', value: 'count(//li)' }, { by: 'smell', value: 'x' }, { value: '' }, undefined, {}]) {
    const from = Date.now();
    const { code, error } = await b.fails('click', { tab_id: tab, target, timeout: 4000 });
    assert.equal(code, 'INVALID_PARAMS', error);
    assert.ok(Date.now() - from < 3000, error);
  }
  assert.match((await b.fails('click', { tab_id: tab, target: { value: 'div[[' } })).error, /'div\[\[' is not a valid selector/);
});

test('the short form: a selector alone', async () => {
  tab = await b.open('/xpath');
  assert.equal((await b.ok('get_value', { tab_id: tab, selector: 'li.x' })).value, 'b');
});
