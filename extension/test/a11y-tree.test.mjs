// get_a11y_tree: states, values, targets that find the very node again, and the bounds of the list.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from './harness/start.mjs';

const dir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'pages/read');
const page = (body) => `<!doctype html><html lang=en><meta charset=utf-8><title>Tree</title><body><script src="/__page.js"></script>${body}</body>`;
const pages = {
  '/states': page(`<fieldset disabled><legend>Group <button>In legend</button></legend><button>In fieldset</button></fieldset><button disabled>Off</button><div role="button" tabindex="0" aria-disabled="true">Soft</div>
    <select aria-label="Choice"><option>One</option><option selected>Two</option></select><select multiple aria-label="Many"><option selected>A</option><option>B</option><option selected>C</option></select>
    <input type="checkbox" checked aria-label="On"><input type="checkbox" aria-label="Not"><input type="checkbox" id="mix" aria-label="Half"><input type="radio" name="r" checked aria-label="Radio"><div role="switch" aria-checked="true" tabindex="0">Switch</div>
    <div role="checkbox" aria-checked="mixed" tabindex="0">Mixed</div><button aria-pressed="true">Bold</button><button aria-pressed="false">Italic</button>
    <button aria-expanded="true" aria-haspopup="menu">Menu</button><button aria-expanded="false">More</button><details><summary>Shut</summary>x</details><details open><summary>Open</summary>x</details>
    <button popovertarget="pop">Popover</button><div id="pop" popover>p</div>
    <input aria-label="Must" required><input aria-label="Look" readonly value="v"><input aria-label="Bad" aria-invalid="true"><input aria-label="Said" aria-required="true"><a href="#" aria-current="page">Here</a>
    <div role="tablist"><button role="tab" aria-selected="true">T1</button><button role="tab" aria-selected="false">T2</button></div><input aria-label="Focus" autofocus>
    <input type="password" aria-label="Secret" value="hunter2"><input type="range" aria-label="Range" value="7" max="10"><div role="slider" tabindex="0" aria-label="Slide" aria-valuenow="3" aria-valuetext="three"></div>
    <textarea aria-label="Area">line\nline</textarea><div contenteditable aria-label="Editor">rich <b>text</b></div><input type="date" aria-label="Date" value="2026-11-30"><input type="file" aria-label="File"><progress aria-label="Work" value="0.5"></progress>
    <h2>Two</h2><div role="heading" aria-level="4">Four</div><div role="alert">Wrong password</div><iframe title="Frame" srcdoc="x"></iframe><script>mix.indeterminate = true</script>`),
  '/targets': page(`<div id="dup"><button>A</button></div><div id="dup"><button>B</button></div><button id="1st">C</button><button id="a:b.c">D</button><button id=":r1:">E</button><button id="x&quot;y">F</button>
    <form><input name="q" aria-label="G"><input name="q" aria-label="H"><input name="solo" aria-label="I"></form><ul><li><a href="#1">J</a></li><li><a href="#2">K</a></li><li><span></span><a href="#3">L</a></li></ul>
    <button data-testid="save-it">M</button><my-box><button>N</button></my-box><svg width="20" height="20"><a href="#4" aria-label="O"><text y="10">O</text></a></svg><div onclick="1">P</div><div tabindex="0">Q</div>
    <table><tr><th>Row</th><td><button>R</button></td></tr><tr><th>Row</th><td><button>S</button></td></tr></table><button id="ember1234">T</button><button name='q"\\'>U</button><dialog open><button>V</button></dialog>
    <script>for (const el of document.querySelectorAll('button, a, input, [onclick], [tabindex]')) el.addEventListener('click', () => { document.title = 'hit ' + (el.getAttribute('aria-label') ?? el.textContent) })</script>`),
  '/hidden': page('<button>Seen</button><button hidden>H1</button><div style="display:none"><button>H2</button></div><button style="visibility:hidden">H3</button><div aria-hidden="true"><button>H4</button></div><div inert><button>H5</button></div><details><summary>S</summary><button>H6</button></details><div style="visibility:hidden"><button style="visibility:visible">Seen too</button></div>'),
  '/modal': page('<main><button>Behind</button></main><dialog id="d"><h2>Ask</h2><button>OK</button></dialog><script>d.showModal()</script>'),
  '/many': page(Array.from({ length: 700 }, (_, i) => `<p><button>B${i}</button></p>`).join('')),
  '/deep': page('<script>let p = document.body; for (let i = 0; i < 2010; i++) { const d = document.createElement("div"); p.append(d); p = d } p.innerHTML = "<button>Deep</button>"</script>'),
  '/nodes': page(Array.from({ length: 9000 }, (_, i) => `<div><p>text <b>${i}</b></p><a href="/${i}">L${i}</a><input aria-label="I${i}"></div>`).join('')),
  '/pierce': page(`<button>Light</button><my-row></my-row><my-row></my-row><my-form></my-form><script>
    const define = (name, html) => customElements.define(name, class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: name === 'my-form' ? 'closed' : 'open' }).innerHTML = html(); } });
    let n = 0;
    define('my-row', () => { n++; return '<button onclick="document.title = this.textContent">Row ' + n + '</button><div><button id="same" onclick="document.title = this.textContent">Inner ' + n + '</button></div>'; });
    define('my-form', () => '<label>User <input id="user" onclick="document.title = this.id"></label><my-row></my-row>');</script>`),
  '/shadow': page('<my-el><button>Slotted</button></my-el><script>customElements.define("my-el", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<button>Inner</button><slot></slot>" } })</script>'),
};

let b;
before(async () => { b = await start({ dir, pages }); });
after(() => b?.stop());
async function tree(where, params = {}) {
  const tab = await b.open(where);
  return { tab, ...(await b.ok('get_a11y_tree', { tab_id: tab, ...params })) };
}
const named = (nodes, name) => {
  const node = nodes.find((n) => n.name === name);
  assert.ok(node, `${name} among ${nodes.map((n) => n.name).join(', ')}`);
  return node;
};

test('states', async () => {
  const { nodes } = await tree('/states');
  const wanted = {
    'In legend': ['enabled'], 'In fieldset': ['disabled'], Off: ['disabled'], Soft: ['disabled'], On: ['enabled', 'checked'], Not: ['enabled', 'unchecked'], Half: ['enabled', 'mixed'],
    Radio: ['enabled', 'checked'], Switch: ['enabled', 'checked'], Mixed: ['enabled', 'mixed'], Bold: ['enabled', 'pressed'], Italic: ['enabled'], Menu: ['enabled', 'expanded', 'haspopup'], More: ['enabled', 'collapsed'],
    Shut: ['enabled', 'collapsed'], Open: ['enabled', 'expanded'], Popover: ['enabled', 'collapsed'], Must: ['enabled', 'required'], Look: ['enabled', 'readonly'], Bad: ['enabled', 'invalid'], Said: ['enabled', 'required'],
    Here: ['enabled', 'current'], T1: ['enabled', 'selected'], T2: ['enabled'], Focus: ['enabled', 'focused'], Many: ['enabled', 'multiselectable'],
  };
  for (const [name, states] of Object.entries(wanted)) assert.deepEqual(named(nodes, name).states, states, name);
});

test('values, levels, choices; a password is told by its length only', async () => {
  const { nodes, title, url, count } = await tree('/states');
  assert.equal(title, 'Tree');
  assert.equal(url, `${b.base}/states`);
  assert.equal(count, nodes.length);
  const values = { Choice: 'Two', Many: 'A, C', Secret: '•••••••', Range: '7', Slide: 'three', Area: 'line\nline', Editor: 'rich text', Date: '2026-11-30', File: '', Work: '0.5', Must: '', Look: 'v', On: null, Bold: null };
  for (const [name, value] of Object.entries(values)) assert.equal(named(nodes, name).value, value, name);
  assert.deepEqual([named(nodes, 'Two').level, named(nodes, 'Four').level, named(nodes, 'Bold').level], [2, 4, undefined]);
  assert.deepEqual(named(nodes, 'Choice').options, ['One', 'Two']);
  assert.equal(nodes.find((n) => n.role === 'alert').text, 'Wrong password');
  assert.equal(named(nodes, 'Frame').role, 'iframe');
  assert.equal(JSON.stringify(nodes).includes('hunter2'), false);
});

test('every target is the one element that it was made for', async () => {
  for (const where of ['/targets', '/states', '/roles.html', '/names.html', '/article.html']) {
    const { nodes } = await tree(where, { max_nodes: 5000 });
    const targets = nodes.filter((n) => n.target).map((n) => n.target);
    assert.ok(targets.length > 10);
    assert.ok(targets.every((t) => t.by === 'css' && t.index === 0));
    const counts = await b.inPage(where, `${JSON.stringify(targets.map((t) => t.value))}.map((s) => document.querySelectorAll(s).length)`);
    assert.deepEqual(counts.filter((n) => n !== 1), [], where);
    const tags = await b.inPage(where, `${JSON.stringify(targets.map((t) => t.value))}.map((s) => document.querySelector(s).localName.toLowerCase())`);
    assert.deepEqual(tags, nodes.filter((n) => n.target).map((n) => n.tag));
    assert.equal(new Set(targets.map((t) => t.value)).size, targets.length);
  }
});

test('a click on each target hits what the node is called', async () => {
  const { tab, nodes } = await tree('/targets');
  const acting = nodes.filter((n) => n.target && /^[A-Z]$/.test(n.name));
  assert.equal(acting.length, 22);
  for (const node of acting) {
    await b.ok('click', { tab_id: tab, target: node.target });
    assert.equal(await b.page(tab, 'document.title'), `hit ${node.name}`);
  }
});

test('short and lasting selectors where the page has them', async () => {
  const { nodes } = await tree('/targets');
  const target = (name) => named(nodes, name).target.value;
  assert.equal(target('I'), 'input[name="solo"]');
  assert.equal(target('M'), 'button[data-testid="save-it"]');
  assert.equal(target('C'), '#\\31 st');
  assert.equal((await tree('/states')).nodes.find((n) => n.name === 'Half').target.value, '#mix');
});

test('hidden elements only on request, and marked', async () => {
  const names = (nodes) => nodes.filter((n) => n.role === 'button' && n.tag === 'button').map((n) => n.name);
  assert.deepEqual(names((await tree('/hidden')).nodes), ['Seen', 'Seen too']);
  const { nodes } = await tree('/hidden', { include_hidden: true });
  assert.deepEqual(names(nodes), ['Seen', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'Seen too']);
  assert.deepEqual(nodes.filter((n) => n.states.includes('hidden')).map((n) => n.name), ['H1', 'H2', 'H3', 'H4', 'H5', 'H6']);
});

test('behind a modal dialog nothing can be used', async () => {
  assert.deepEqual((await tree('/modal')).nodes.map((n) => n.name || n.role), ['dialog', 'Ask', 'OK']);
  const all = (await tree('/modal', { include_hidden: true })).nodes;
  assert.ok(named(all, 'Behind'));
});

test('depth is that of the DOM, from the body', async () => {
  const { nodes } = await tree('/modal', { include_hidden: true });
  assert.deepEqual(nodes.filter((n) => n.name).map((n) => [n.name, n.depth]), [['Behind', 2], ['Ask', 2], ['OK', 2]]);
  assert.equal((await tree('/modal')).nodes[0].depth, 1);
});

test('at most max_nodes, and the answer says when there are more', async () => {
  const few = await tree('/many', { max_nodes: 10 });
  assert.deepEqual([few.count, few.nodes.length, few.truncated], [10, 10, true]);
  assert.equal((await tree('/many', { max_nodes: 1 })).count, 10, 'the least there is');
  assert.equal((await tree('/many', { max_nodes: 1_000_000 })).count, 700);
  const usual = await tree('/many');
  assert.deepEqual([usual.count, usual.truncated], [500, true]);
  const all = await tree('/many', { max_nodes: 5000 });
  assert.deepEqual([all.count, all.truncated], [700, undefined]);
});

test('a page of fifty thousand elements gives its first nodes', async () => {
  const { count, truncated } = await tree('/nodes', { max_nodes: 5000 });
  assert.deepEqual([count, truncated], [5000, true]);
});

test('what lies deeper than is looked at is said to be left out', async () => {
  const { count, truncated, tab } = await tree('/deep');
  assert.deepEqual([count, truncated], [0, true]);
  const { nodes, truncated: cut } = await b.ok('snapshot', { tab_id: tab });
  assert.deepEqual([nodes.length, cut], [0, true]);
});

test('light DOM only: a shadow tree is passed over, what is slotted is not', async () => {
  assert.deepEqual((await tree('/shadow')).nodes.map((n) => n.name), ['Slotted']);
});

test('with pierce shadow trees are in, open and closed, and their targets work', async () => {
  const { tab, nodes } = await tree('/pierce', { pierce: true });
  assert.deepEqual(nodes.map((n) => [n.name, n.shadow === true]), [['Light', false], ['Row 1', true], ['Inner 1', true], ['Row 2', true], ['Inner 2', true], ['User', true], ['Row 3', true], ['Inner 3', true]]);
  for (const node of nodes.slice(1)) {
    await b.ok('click', { tab_id: tab, target: node.target });
    assert.equal(await b.page(tab, 'document.title'), node.name.toLowerCase() === 'user' ? 'user' : node.name, JSON.stringify(node.target));
  }
});
