// A click: one, on the right element, as a browser would have it; and where it leads.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const LOG = `<script>
  window.log = [];
  window.see = (el, types) => { for (const t of types.split(' ')) el.addEventListener(t, (e) => log.push(e.type)); };
</script>`;

const pages = {
  '/order': `${LOG}<button id="go">Go</button><script>see(document.querySelector('#go'),
    'pointerover pointerenter mouseover mouseenter pointermove mousemove pointerdown mousedown focus focusin pointerup mouseup click dblclick');
    document.querySelector('#go').addEventListener('click', (e) => { window.last = { detail: e.detail, x: e.clientX, kind: e.constructor.name, pointer: e.pointerType, composed: e.composed }; });</script>`,
  '/prevent': `${LOG}<input id="before" autofocus><button id="go">Go</button><script>
    const go = document.querySelector('#go'); see(go, 'pointerdown mousedown mouseup focus click');
    go.addEventListener('mousedown', (e) => e.preventDefault());</script>`,
  '/focus': `${LOG}<input id="a"><input id="b"><p id="text">text</p><label id="label" for="b">To b</label><div id="group" tabindex="-1"><span id="in-group">x</span></div><script>
    for (const t of ['focusin', 'focusout']) document.addEventListener(t, (e) => log.push(t + ' ' + e.target.id));</script>`,
  '/label': `${LOG}<label id="l1"><input id="c1" type="checkbox"> One</label><label id="l2" for="c2">Two</label><input id="c2" type="checkbox"><script>
    for (const c of document.querySelectorAll('input')) for (const t of ['click', 'input', 'change']) c.addEventListener(t, () => log.push(t + ' ' + c.id + ' ' + c.checked));</script>`,
  '/svg': `<button id="b"><svg width="30" height="30"><path id="p" d="M0 0h4v30H0z"/></svg></button><svg width="50" height="50"><a id="sa" href="#there"><circle id="c" cx="25" cy="25" r="20"/></a></svg>
    <script>window.n = 0; document.querySelector('#b').onclick = () => { n++; };</script>`,
  '/details': '<details id="d"><summary id="s">More</summary>inside</details>',
  '/dismiss': `<button id="opens" popovertarget="p">Menu</button><div id="p" popover><button id="in">In</button><button id="more" popovertarget="q">More</button><div id="q" popover><button id="deep">Deep</button></div></div><div id="man" popover="manual">Stays</div>
    <button id="other" style="position:fixed;left:10px;bottom:10px">Other</button><dialog id="d" closedby="any"><button id="dIn">D</button></dialog><dialog id="fast" closedby="none"><button id="fIn">F</button></dialog><script>window.n = 0; other.onclick = () => n++; const open = () => [p, q, man].filter((e) => e.matches(':popover-open')).map((e) => e.id).join(' ') + (d.open ? ' d' : '') + (fast.open ? ' fast' : '');</script>`,
  '/several': `<select id="m" multiple size="4"><option id="a">a</option><option id="b">b</option><option id="c">c</option></select><select id="own" multiple size="4"><option id="x">x</option><option id="y">y</option></select><script>
    window.log = []; m.onchange = () => log.push([...m.selectedOptions].map((o) => o.value).join('')); own.onmousedown = (e) => { e.preventDefault(); e.target.selected = !e.target.selected; };</script>`,
  '/option': `${LOG}<select id="s"><option value="a">A</option><option id="ob" value="b">B</option></select><select id="list" size="4"><option>x</option><option id="oy">y</option></select><script>
    document.addEventListener('change', (e) => log.push('change ' + e.target.id + ' ' + e.target.value));</script>`,
  '/form': `<form action="/two" method="get"><input name="q" value="1"><button id="send">Send</button></form>`,
  '/form-blank': `<form action="/two" target="_blank"><input name="q" value="1"><button id="send">Send</button></form>`,
  '/links': `<base target="_blank"><a id="blank" href="/two" target="_blank">blank</a> <a id="based" href="/two">based</a> <a id="named" href="/two" target="other">named</a>
    <a id="js" href="javascript:void(document.title='ran')">js</a> <button id="pop" onclick="window.open('/two')">pop</button> <a id="mail" href="mailto:a@example.test">mail</a>
    <a id="late" href="/three" onmousedown="this.href='/two'" target="_blank">late</a> <a id="here" href="#part" target="_self">here</a>`,
  '/held': `<script src="/__page.js"></script><form id="f" action="/two"><label>E-mail <input id="mail" name="mail" type="email" required></label><label><input type="radio" name="size" required>S</label><label><input type="radio" name="size" required>L</label>
      <input name="code" pattern="[0-9]+" value="x"><button id="send"><b id="in-send">Send</b></button><button id="draft" formnovalidate formtarget="none" name="draft">Draft</button></form>
    <form id="own" action="/two"><input id="one" aria-label="One" required><button id="own-send">Send</button></form><form novalidate action="/two"><input id="free" required><button id="free-send">Send</button></form><iframe name="none"></iframe>
    <button id="asked" onclick="own.requestSubmit()">By script</button><button id="checks" onclick="say('checks', own.checkValidity())">Checks</button><button id="kept" form="own" onclick="event.preventDefault(); own.checkValidity()">Kept</button>
    <form id="sole" action="/two"><input id="only" placeholder="Only" required minlength="3"></form><x-form></x-form>
    <script>own.addEventListener('invalid', (e) => { e.preventDefault(); one.setCustomValidity('Needs ' + 'very '.repeat(200) + 'much.'); }, true);
    document.querySelector('[novalidate]').addEventListener('submit', (e) => { e.preventDefault(); e.target.checkValidity(); });
    customElements.define('x-form', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<form action=/two><input title=Deep required><button id=deep>Send</button></form>'; } });</script>`,
  '/two': '<title>Two</title><h1>Two</h1>',
  '/three': '<title>Three</title>',
  '/gone': `<ul id="list"><li id="x" onmousedown="window.picked = 1; this.remove()">x</li></ul>`,
  '/host': `<x-button id="host"></x-button><script>
    customElements.define('x-button', class extends HTMLElement { connectedCallback() { const r = this.attachShadow({ mode: 'closed' }); r.innerHTML = '<button>Inside</button>'; r.querySelector('button').onclick = () => { window.inner = (window.inner ?? 0) + 1; }; } });
    document.querySelector('#host').addEventListener('click', () => { window.outer = (window.outer ?? 0) + 1; });</script>`,
  '/buttons': `${LOG}<div id="d" style="width:80px;height:30px">x</div><script>see(document.querySelector('#d'), 'mousedown mouseup click dblclick auxclick contextmenu');
    document.querySelector('#d').addEventListener('click', (e) => { window.keys = [e.ctrlKey, e.shiftKey]; });</script>`,
  '/at': `<style>body{margin:0}div,button{position:absolute}</style><div style="left:50px;top:20px;width:100px;height:60px;background:red" onclick="window.hit='red'"></div><div style="left:50px;top:720px;width:100px;height:60px" onclick="window.hit='blue'"></div>
    <iframe src="{{cross}}/at-frame" style="position:absolute;left:200px;top:20px;width:200px;height:100px;border:5px solid;padding:3px"></iframe><div style="top:3000px;height:1px">.</div>`,
  '/at-frame': '<style>body{margin:0}</style><script src="/__page.js"></script><button style="position:absolute;left:40px;top:30px;width:50px;height:20px" onclick="say(\'frame\', event.clientX)">In</button>',
};

let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());

let count = 0;
async function on(where) {
  const path = `${where}?${++count}`;
  const tab = await b.open(path);
  return {
    tab,
    click: (value, more = {}) => b.ok('click', { tab_id: tab, target: typeof value === 'string' ? { value } : value, ...more }),
    see: (expression) => b.inPage(path, expression),
  };
}

/** What a page does a moment later. */
async function until(holds) {
  for (const end = Date.now() + 5000; !(await holds()); await new Promise((r) => setTimeout(r, 20))) assert.ok(Date.now() < end, String(holds));
}

test('the events come in the order of a real click, and there is one click', async () => {
  const p = await on('/order');
  const { clicked, tab_id } = await p.click('#go');
  assert.deepEqual([clicked.tag, clicked.id, clicked.text, tab_id], ['button', 'go', 'Go', p.tab]);
  assert.equal((await p.see('log.join(" ")')), 'pointerover pointerenter mouseover mouseenter pointermove mousemove pointerdown mousedown focus focusin pointerup mouseup click');
  const last = await p.see('last');
  assert.deepEqual({ ...last, x: last.x > 0 }, { detail: 1, x: true, kind: 'PointerEvent', pointer: 'mouse', composed: true });
});

test('a page that prevents mousedown keeps the focus where it is', async () => {
  const p = await on('/prevent');
  await p.click('#before');
  await p.click('#go');
  assert.equal(await p.see('document.activeElement.id + " " + log.join(" ")'), 'before pointerdown mousedown mouseup click');
});

test('the focus goes where a press of the mouse takes it, and away from what had it', async () => {
  const p = await on('/focus');
  await p.click('#a');
  await p.click('#b');
  await p.click('#text');
  await p.click('#in-group');
  assert.equal(await p.see('log.join(", ")'), 'focusin a, focusout a, focusin b, focusout b, focusin group');
  await p.click('#label');
  assert.equal(await p.see('document.activeElement.id'), 'b');
});

test('a tab in the background hears of the focus too', async () => {
  const p = await on('/focus');
  await b.open('/two');
  await p.click('#a');
  await p.click('#b');
  assert.equal(await p.see('log.join(", ")'), 'focusin a, focusout a, focusin b');
});

test('a label toggles its box once', async () => {
  const p = await on('/label');
  await p.click('#l1');
  await p.click('#l2');
  await p.click('#c1');
  assert.equal(await p.see('log.join(", ")'), 'click c1 true, input c1 true, change c1 true, click c2 true, input c2 true, change c2 true, click c1 false, input c1 false, change c1 false');
});

test('icons and links drawn in SVG', async () => {
  const p = await on('/svg');
  assert.equal((await p.click('#p')).clicked.tag, 'path');
  assert.equal(await p.see('n'), 1);
  await p.click('#b svg');
  assert.equal(await p.see('n'), 2);
  await p.click('#c');
  assert.equal(await p.see('location.hash'), '#there');
});

test('a summary opens its details, and closes them again', async () => {
  const p = await on('/details');
  await p.click('#s');
  assert.equal(await p.see('document.querySelector("#d").open'), true);
  await p.click({ by: 'text', value: 'More' });
  assert.equal(await p.see('document.querySelector("#d").open'), false);
});

test('a click on an option of an open list chooses it; one of a closed list is refused with the way to go', async () => {
  const p = await on('/option');
  await p.click('#oy');
  assert.equal(await p.see('log.join()'), 'change list y');
  const { code, error } = await b.fails('click', { tab_id: p.tab, target: { value: '#ob' }, timeout: 100 });
  assert.equal(code, 'ELEMENT_NOT_ACTIONABLE');
  assert.match(error, /select_option/);
});

test('options of a list of several: one for all, or with ctrl one more or less; a page that chooses by itself is let', async () => {
  const p = await on('/several');
  const click = (id, modifiers) => b.ok('click', { tab_id: p.tab, target: { value: `#${id}` }, ...(modifiers ? { modifiers } : {}) });
  await click('a');
  await click('c', ['ctrl']);
  await click('a', ['meta']);
  await click('b');
  assert.deepEqual(await p.see('log'), ['a', 'ac', 'c', 'b']);
  await click('x');
  await click('y');
  assert.equal(await p.see('[...own.selectedOptions].map((o) => o.value).join("")'), 'xy');
});

test('a press outside closes the popovers and dialogs that close by it, and no others', async () => {
  const p = await on('/dismiss');
  const click = async (id) => { await p.click(`#${id}`); return p.see('open()'); };
  await p.see('man.showPopover()');
  assert.equal(await click('opens'), 'p man');
  assert.equal(await click('in'), 'p man');
  assert.equal(await click('more'), 'p q man');
  assert.equal(await click('deep'), 'p q man');
  assert.equal(await click('in'), 'p man');
  assert.equal(await click('other'), 'man');
  assert.equal(await p.see('n'), 1);
  await click('opens');
  assert.equal(await click('opens'), 'man', 'the button that has opened it closes it');
  await p.see('d.show()');
  assert.equal(await click('dIn'), 'man d');
  assert.equal(await click('other'), 'man');
  await p.see('d.show(); fast.show()');
  await b.ok('click', { tab_id: p.tab, target: { value: '#fIn' } });
  assert.equal(await p.see('open()'), 'man d fast', 'what is beneath the topmost dialog is not asked');
  await p.see('fast.close(); d.close()');
  await p.see('fast.showModal()');
  await b.ok('press_key', { tab_id: p.tab, key: 'Escape' });
  assert.equal(await p.see('open()'), 'man fast');
});

test('a button submits its form once', async () => {
  const p = await on('/form');
  const { navigated } = await p.click('#send');
  assert.match(navigated, /\/two\?q=1$/);
  await b.ok('get_value', { tab_id: p.tab, target: { value: 'h1' } });
  assert.equal(b.site.requests.filter((r) => r.url === '/two?q=1').length, 1);
});

test('links and forms that ask for a new tab open in this one', async () => {
  for (const [path, id] of [['/links', '#blank'], ['/links', '#based'], ['/links', '#named'], ['/form-blank', '#send']]) {
    const p = await on(path);
    const before = (await b.ok('list_tabs')).tabs.length;
    const attributes = await p.see('document.body.innerHTML');
    await p.click(id);
    assert.equal((await b.ok('get_value', { tab_id: p.tab, target: { value: 'h1' } })).value, 'Two', id);
    assert.equal((await b.ok('list_tabs')).tabs.length, before, id);
    assert.ok(attributes);
  }
});

test('new_tab opens the link in a tab of its own, which close_auto_tabs closes', async () => {
  const p = await on('/links');
  for (const id of ['#blank', '#late']) {
    const { tab_id } = await p.click(id, { new_tab: true });
    assert.notEqual(tab_id, p.tab);
    assert.equal((await b.ok('get_value', { tab_id, target: { value: 'h1' } })).value, 'Two');
    assert.equal(await p.see('location.pathname'), '/links');
    const { closed } = await b.ok('close_auto_tabs');
    assert.ok(closed.includes(tab_id));
    if (id === '#blank') Object.assign(p, await on('/links'));
  }
});


test('a tab that the page opens is told, and belongs to who clicked', async () => {
  const p = await on('/links');
  const { opened: [tab] } = await p.click('#pop');
  assert.match(tab.url, /\/two$/);
  assert.equal((await b.ok('get_value', { tab_id: tab.tab_id, target: { value: 'h1' } })).value, 'Two');
  assert.ok((await b.ok('close_auto_tabs')).closed.includes(tab.tab_id));
  const other = await on('/links');
  assert.notEqual((await other.click('#pop', { new_tab: true })).tab_id, other.tab);
});

test('code in a link runs; no tab is opened for it', async () => {
  const p = await on('/links');
  await p.click('#js');
  await until(async () => (await p.see('document.title')) === 'ran');
  assert.equal((await b.fails('click', { tab_id: p.tab, target: { value: '#js' }, new_tab: true })).code, 'INVALID_PARAMS');
  await p.click('#here');
  assert.equal(await p.see('location.hash'), '#part');
});

test('an element that goes away when pressed has been acted on, and it is said', async () => {
  const p = await on('/gone');
  assert.match((await p.click('#x')).note, /took the element away/);
  assert.equal(await p.see('picked'), 1);
});

test('the button inside a component is what is clicked', async () => {
  const p = await on('/host');
  await p.click('#host');
  assert.deepEqual(await p.see('[inner, outer]'), [1, 1]);
});

test('other buttons, double clicks and held keys', async () => {
  const p = await on('/buttons');
  await p.click('#d', { button: 'right' });
  await p.click('#d', { button: 'middle' });
  await p.click('#d', { click_count: 2, modifiers: ['ctrl', 'shift'] });
  assert.equal(await p.see('log.join(" ")'), 'mousedown mouseup contextmenu auxclick mousedown mouseup auxclick mousedown mouseup click mousedown mouseup click dblclick');
  assert.deepEqual(await p.see('keys'), [true, true]);
});

test('click_at takes coordinates of the view, scrolled or not, and goes into frames', async () => {
  const p = await on('/at');
  const { clicked, x, y } = await b.ok('click_at', { tab_id: p.tab, x: 100, y: 50 });
  assert.deepEqual([clicked.tag, x, y, await p.see('hit')], ['div', 100, 50, 'red']);
  await b.ok('scroll', { tab_id: p.tab, dy: 700 });
  await b.ok('click_at', { tab_id: p.tab, x: 100, y: 50 });
  assert.equal(await p.see('hit'), 'blue');
  await b.ok('scroll', { tab_id: p.tab, dy: -700 });
  const inFrame = await b.ok('click_at', { tab_id: p.tab, x: 208 + 65, y: 28 + 40 });
  assert.match(inFrame.frame, /\/at-frame$/);
  assert.equal(await b.heard('frame'), 65);
  for (const [x, y] of [[9000, 5], [5, -1]]) assert.match((await b.fails('click_at', { tab_id: p.tab, x, y })).error, /outside of the view/);
  assert.equal((await b.fails('click_at', { tab_id: p.tab, x: 'left', y: 1 })).code, 'INVALID_PARAMS');
});

test("a form that the browser's own validation holds back is told, with the first field and why", async () => {
  const p = await on('/held');
  const mail = 'the form was not submitted: "E-mail" does not hold: Please fill out this field (and 2 more)';
  for (const [id, more] of [['#send', {}], ['#in-send', {}], ['#send', { trusted: true }], ['#in-send', { trusted: true }]]) {
    const { note, navigated } = await p.click(id, more);
    assert.deepEqual([note, navigated], [mail, undefined], `${id} ${JSON.stringify(more)}`);
  }
  const press = async (key, id) => (await b.ok('press_key', { tab_id: p.tab, key, ...(id ? { target: { value: id } } : {}) })).note;
  for (const [key, id] of [['Enter', '#mail'], ['Enter', undefined], ['Enter', '#send'], [' ', '#send']]) assert.equal(await press(key, id), mail, `${key} ${id}`);
  assert.equal(await press('Enter', '#only'), 'the form was not submitted: "Only" does not hold: Please fill out this field');
  assert.equal(await press('x', '#only'), undefined);
  assert.match((await p.click({ by: 'css', value: '#deep' })).note, /"Deep" does not hold: Please fill/);
  assert.match((await p.click({ by: 'css', value: '#deep' }, { trusted: true })).note, /"Deep" does not hold: Please fill/);
});

test('a page that shows its own message for a field is told too; its message is bounded', async () => {
  const p = await on('/held');
  assert.match((await p.click('#own-send')).note, /^the form was not submitted: "One" does not hold: Needs very [^]*…$/);
  const { note } = await p.click('#own-send', { trusted: true });
  assert.match(note, /^the form was not submitted: "One"/);
  assert.ok(note.length < 500, note);
});

test('a form that is submitted, or that nobody tried to submit, makes no note', async () => {
  const p = await on('/held');
  for (const id of ['#free-send', '#draft', '#mail', '#checks', '#kept']) for (const trusted of [false, true]) assert.equal((await p.click(id, { trusted })).note, undefined, id);
  await p.see('void (one.value = "1", one.setCustomValidity(""))');
  const { note, navigated } = await p.click('#own-send');
  assert.equal(note, undefined);
  assert.match(navigated, /two/);
});

test('a submission that a script asks for and the browser holds back is told', async () => {
  const p = await on('/held');
  await p.see('void own.replaceWith(own.cloneNode(true))');
  for (const trusted of [false, true]) assert.match((await p.click('#asked', { trusted })).note, /"One" does not hold: Please fill/);
});
