// check and select_option: what shall be is, whatever it was; what cannot be is refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const LOG = '<script>window.log = []; for (const t of ["click", "input", "change"]) document.addEventListener(t, (e) => { if (e.target.id) log.push(t + " " + e.target.id + " " + (e.target.checked ?? e.target.value)); });</script>';
const pages = {
  '/boxes': `${LOG}<input id="on" type="checkbox" checked><input id="off" type="checkbox"><label id="lab"><input id="in" type="checkbox"> In label</label><input id="mid" type="checkbox"><script>mid.indeterminate = true</script>
    <style>.vh{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%)} .op{opacity:0;position:absolute}</style>
    <input class="vh" id="vh" type="checkbox"><label for="vh">Styled</label><span style="position:relative"><input class="op" id="op" type="checkbox"><label for="op" style="display:inline-block;width:80px;background:#eef">Fancy</label></span>
    <input id="none" type="checkbox" style="display:none"><label for="none">Gone</label><input id="lost" type="checkbox" style="display:none"><input id="dis" type="checkbox" disabled><div id="plain">x</div>`,
  '/radios': `${LOG}<form><label><input type="radio" name="r" id="a" value="a" checked> A</label><label><input type="radio" name="r" id="b" value="b"> B</label></form><input type="radio" name="r" id="outside" checked>`,
  '/aria': `<div id="sw" role="switch" aria-checked="false" tabindex="0" onclick="setTimeout(() => sw.setAttribute('aria-checked', sw.getAttribute('aria-checked') !== 'true'), 80); window.n = (window.n ?? 0) + 1">Switch</div>
    <div id="cb" role="checkbox" aria-checked="mixed" onclick="cb.setAttribute('aria-checked', cb.getAttribute('aria-checked') === 'true' ? 'false' : 'true')">Mixed</div><div id="dead" role="checkbox" aria-checked="false">Dead</div>
    <button id="tb" aria-pressed="false" onclick="tb.setAttribute('aria-pressed', tb.getAttribute('aria-pressed') !== 'true')">Bold</button>
    <div id="host"></div><script>const r = host.attachShadow({ mode: 'closed' }); r.innerHTML = '<input type=checkbox>'; window.inner = r.firstChild;</script>`,
  '/controlled': `<input id="c" type="checkbox"><script>c.addEventListener('click', (e) => { setTimeout(() => { c.checked = false; }); }); c.addEventListener('change', () => { c.checked = false; });</script>`,
  '/select': `${LOG}<label>Car <select id="s"><optgroup label="Swedish"><option value="v60">Volvo</option><option value="s90">Saab</option></optgroup><optgroup label="German"><option value="a4">Audi</option><option value="m2"> Mercedes
      Benz </option></optgroup><option value="x" disabled>Sold out</option><optgroup label="No" disabled><option value="y">Banana</option></optgroup><option value="dup">Same</option><option value="dup">Same too</option><option>No value</option><option label="By label" value="l"></option></select></label>
    <select id="m" multiple size="3"><option value="1" selected>One</option><option value="2">Two</option></select><div id="custom" role="combobox" aria-haspopup="listbox">Pick</div><div id="plain">x</div><select id="dis" disabled><option>A</option></select>`,
  '/dependent': `<select id="country"><option>–</option><option value="no">Norway</option></select><select id="city"><option>–</option></select><script>country.onchange = () => setTimeout(() => { city.innerHTML = '<option>–</option><option value="osl">Oslo</option>'; }, 500);</script>`,
  '/kept': `<select id="s"><option>A</option><option>B</option></select><script>s.onchange = () => { s.value = 'A'; };</script>`,
};

let b;
let tab;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());
const check = (id, checked, more = {}) => b.call('check', { tab_id: tab, target: { value: `#${id}` }, ...(checked === undefined ? {} : { checked }), ...more });
const select = (id, option, more = { timeout: 150 }) => b.call('select_option', { tab_id: tab, target: { value: `#${id}` }, ...option, ...more });

test('check says what shall be; it does not toggle', async () => {
  tab = await b.open('/boxes');
  for (const [id, checked] of [['on'], ['on', true], ['off', false], ['off'], ['off'], ['on', false], ['lab'], ['in', true], ['mid', true]]) {
    const answer = await check(id, checked);
    assert.equal(answer.success, true, answer.error);
    assert.equal(answer.result.checked, checked ?? true, id);
  }
  assert.deepEqual(await b.inPage('/boxes', 'log.filter((l) => l.startsWith("change"))'), ['change off true', 'change on false', 'change in true', 'change mid true']);
  assert.deepEqual(await b.inPage('/boxes', 'log.filter((l) => l.startsWith("click"))'), ['click off true', 'click on false', 'click in true', 'click mid true']);
});

test('a box in between goes to either side', async () => {
  tab = await b.open('/boxes?mid');
  assert.equal((await check('mid', false)).result.checked, false);
  assert.deepEqual(await b.inPage('?mid', '[mid.checked, mid.indeterminate]'), [false, false]);
});

test('boxes hidden behind their labels', async () => {
  tab = await b.open('/boxes?hidden');
  for (const id of ['vh', 'op', 'none']) {
    for (const checked of [true, true, false]) {
      const answer = await check(id, checked);
      assert.equal(answer.success, true, answer.error);
    }
    assert.deepEqual(await b.inPage('?hidden', `log.filter((l) => l.startsWith('change ${id} '))`), [`change ${id} true`, `change ${id} false`]);
  }
});

test('what cannot be ticked', async () => {
  tab = await b.open('/boxes?not');
  for (const [id, code, why] of [['lost', 'ELEMENT_NOT_ACTIONABLE', /display: none/], ['dis', 'ELEMENT_NOT_ACTIONABLE', /disabled/], ['plain', 'INVALID_PARAMS', /check boxes, radio buttons and switches/]]) {
    const answer = await check(id, true, { timeout: 100 });
    assert.equal(answer.code, code, id);
    assert.match(answer.error, why);
  }
});

test('a radio button takes the choice from its group, and cannot be unticked', async () => {
  tab = await b.open('/radios');
  assert.equal((await check('b')).result.checked, true);
  assert.deepEqual(await b.inPage('/radios', '[a.checked, b.checked, outside.checked]'), [false, true, true]);
  assert.equal((await check('a', false)).result.checked, false);
  const answer = await check('b', false);
  assert.equal(answer.code, 'INVALID_PARAMS');
  assert.match(answer.error, /cannot be unticked/);
});

test('switches and boxes that the page draws itself', async () => {
  tab = await b.open('/aria');
  for (const checked of [true, true, false]) assert.equal((await check('sw', checked)).result.checked, checked);
  assert.equal(await b.inPage('/aria', 'n'), 2);
  assert.equal((await check('cb', false)).result.checked, false);
  assert.equal((await check('tb', true)).result.checked, true);
  const dead = await check('dead', true);
  assert.deepEqual([dead.code, dead.maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true]);
  assert.equal((await check('host', true)).result.checked, true);
  assert.equal(await b.inPage('/aria', 'inner.checked'), true);
});

test('a page that takes the tick back: told, not hidden', async () => {
  tab = await b.open('/controlled');
  const answer = await check('c', true);
  assert.deepEqual([answer.success, answer.maybe_executed], [false, true]);
  assert.match(answer.error, /did not keep it/);
});

test('options by text, value and index, in groups and outside', async () => {
  tab = await b.open('/select');
  for (const [option, value, text] of [[{ text: 'Audi' }, 'a4', 'Audi'], [{ value: 'v60' }, 'v60', 'Volvo'], [{ index: 3 }, 'm2', 'Mercedes Benz'], [{ text: 'Mercedes Benz' }, 'm2', 'Mercedes Benz'], [{ text: 'Same too' }, 'dup', 'Same too'], [{ text: 'No value' }, 'No value', 'No value'], [{ text: 'By label' }, 'l', 'By label']]) {
    const { success, result, error } = await select('s', option);
    assert.equal(success, true, error);
    assert.deepEqual([result.element.tag, result.value, result.text], ['select', value, text]);
    assert.deepEqual(await b.inPage('/select', '[s.value, s.selectedOptions[0].text.replace(/\\s+/g, " ").trim() || s.selectedOptions[0].label]'), [value, text]);
  }
  assert.deepEqual(await b.inPage('/select', 'log.filter((l) => l.startsWith("change")).slice(0, 3)'), ['change s a4', 'change s v60', 'change s m2'], 'once each, and not for what was chosen already');
  assert.deepEqual((await select('m', { text: 'Two' })).result.selected, ['2']);
});

test('options that cannot be chosen, and lists that are none', async () => {
  tab = await b.open('/select?not');
  for (const [id, option, code, why] of [['s', { text: 'Sold out' }, 'ELEMENT_NOT_ACTIONABLE', /"Sold out" is disabled/], ['s', { value: 'y' }, 'ELEMENT_NOT_ACTIONABLE', /"Banana" is disabled/], ['s', { text: 'Fiat' }, 'ELEMENT_NOT_ACTIONABLE', /no option "Fiat"; it has "Volvo", "Saab"/],
    ['s', { index: 99 }, 'ELEMENT_NOT_ACTIONABLE', /no option 99/], ['dis', { index: 0 }, 'ELEMENT_NOT_ACTIONABLE', /disabled/], ['custom', { text: 'x' }, 'INVALID_PARAMS', /click it, then click the option/], ['plain', { text: 'x' }, 'INVALID_PARAMS', /this is <div id="plain">/], ['s', {}, 'INVALID_PARAMS', /one of value, text or index/]]) {
    const answer = await select(id, option);
    assert.equal(answer.code, code, answer.error);
    assert.match(answer.error, why);
  }
  assert.deepEqual(await b.inPage('/select?not', '[s.value, log.length]'), ['v60', 0]);
});

test('an option that comes later is waited for', async () => {
  tab = await b.open('/dependent');
  await select('country', { value: 'no' });
  assert.equal((await select('city', { text: 'Oslo' }, {})).result.value, 'osl');
});

test('a page that chooses something else: told', async () => {
  tab = await b.open('/kept');
  const answer = await select('s', { text: 'B' });
  assert.match(answer.error, /did not keep the option "B": it shows "A"/);
});
