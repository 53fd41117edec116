// Refs: after any re-render a ref finds the element that it was given for, or says STALE_REF. It never hits another one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const HITS = '<script>window.hits = []; addEventListener("click", (e) => { const el = e.composedPath()[0]; hits.push(el.dataset?.hit ?? el.textContent); }, true);</script>';
const pages = {
  '/': `<!doctype html><title>Refs</title>${HITS}<h1>Hello</h1><button>Alpha</button><button>Beta</button><button>Gamma</button><label>Name <input id="n"></label>
    <label><input type="checkbox" id="c"> Agree</label><select aria-label="Kind"><option>One</option><option>Two</option></select><a href="#x">Link</a>`,
  '/list': `<!doctype html><title>List</title>${HITS}<ul id="l"></ul><script>
    window.rows = ['Apples', 'Pears', 'Plums', 'Cherries'];
    window.fresh = () => { l.innerHTML = rows.map((r) => '<li><span>' + r + '</span> <button data-hit="' + r + '">Delete</button></li>').join(''); };
    window.inPlace = () => { [...l.children].forEach((li, i) => { if (!rows[i]) return li.remove(); li.firstChild.textContent = rows[i]; li.lastChild.dataset.hit = rows[i]; }); };
    window.move = () => { const by = new Map([...l.children].map((li) => [li.firstChild.textContent, li])); l.append(...rows.map((r) => by.get(r))); };
    fresh();</script>`,
  '/keyed': `<!doctype html><title>Keyed</title>${HITS}<table><tbody id="t"></tbody></table><script>
    window.rows = [['r1', 'Apples', 1], ['r2', 'Pears', 2], ['r3', 'Plums', 3]];
    window.draw = () => { rows.forEach(([id, name, n], i) => { const tr = t.children[i] ?? t.appendChild(document.createElement('tr')); if (!tr.firstChild) tr.innerHTML = '<td></td><td></td><td><button>Buy</button></td>';
      tr.dataset.id = id; tr.children[0].textContent = name; tr.children[1].textContent = n; tr.querySelector('button').dataset.hit = id; }); };
    draw();</script>`,
  '/mail': `<!doctype html><title>Mail</title>${HITS}<nav><button>Compose</button></nav><main><h1>Inbox</h1><section><h2 id="s">Lunch (2)</h2><p id="t">text</p><button id="del">Delete</button></section><p><button id="all">Archive all</button></p></main>
    <script>window.show = (name) => { s.textContent = name; del.dataset.hit = name; }; show('Lunch (2)'); window.route = (path, title) => { history.pushState(null, '', path); document.querySelector('h1').textContent = title; all.dataset.hit = title; }; all.dataset.hit = 'Inbox';</script>`,
  '/single': `<!doctype html><title>Single</title>${HITS}<div><p>Text</p><div><button id="follow">Follow</button></div></div><div><button>Play</button><button>Stop</button><button>Mute</button></div>`,
  '/recycle': `<!doctype html><title>Recycle</title>${HITS}<div id="v"></div><script>window.at = (n) => { for (let i = 0; i < 6; i++) { const row = v.children[i] ?? v.appendChild(document.createElement('div')); if (!row.firstChild) row.innerHTML = '<b></b><button>Open</button>'; row.firstChild.textContent = 'Row ' + (n + i); row.lastChild.dataset.hit = n + i; } }; at(0);</script>`,
  '/shadow': `<!doctype html><title>Shadow</title>${HITS}<x-open></x-open><x-closed></x-closed><script>
    for (const mode of ['open', 'closed']) customElements.define('x-' + mode, class extends HTMLElement { connectedCallback() { const root = this.attachShadow({ mode }); root.innerHTML = '<section><button>In ' + mode + '</button><input aria-label="Field ' + mode + '"><slot></slot></section>';
      root.querySelector('button').addEventListener('click', (e) => { window.inside = mode + ' ' + e.isTrusted; }); window['root_' + mode] = root; } });</script>`,
  '/frames': `<!doctype html><title>Frames</title><iframe src="/child?same" width="300" height="120"></iframe><iframe src="{{cross}}/child?cross" width="300" height="120" style="border:3px solid"></iframe>`,
  '/child': '<!doctype html><title>Child</title><script src="/__page.js"></script><button onclick="say(\'child\', location.search)">In child</button><input oninput="say(\'value\', this.value)">',
};
let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());

const snapshot = (tab, more = {}) => b.ok('snapshot', { tab_id: tab, ...more });
const refOf = async (tab, name, nth = 0, role) => {
  const { nodes } = await snapshot(tab);
  const found = nodes.filter((n) => n.name === name && (!role || n.role === role))[nth];
  assert.ok(found, `no ${name} among ${nodes.map((n) => n.name)}`);
  return found.ref;
};
const stale = async (tab, ref, method = 'click', more = {}) => {
  const from = Date.now();
  const { code, error } = await b.fails(method, { tab_id: tab, target: { ref }, ...more });
  assert.equal(code, 'STALE_REF', error);
  assert.ok(Date.now() - from < 3000);
};

test('every element method takes a ref, in both forms', async () => {
  const tab = await b.open('/');
  const ref = (name) => refOf(tab, name);
  await b.ok('click', { tab_id: tab, target: { ref: await ref('Beta') } });
  await b.ok('click', { tab_id: tab, target: { by: 'ref', value: await ref('Gamma') }, trusted: true });
  assert.deepEqual(await b.page(tab, 'document.title') && await b.inPage('/', 'hits'), ['Beta', 'Gamma']);
  const name = await ref('Name');
  assert.equal((await b.ok('set_value', { tab_id: tab, target: { ref: name }, value: 'Kim' })).value, 'Kim');
  assert.equal((await b.ok('get_value', { tab_id: tab, target: { ref: name } })).value, 'Kim');
  assert.equal((await b.ok('type_text', { tab_id: tab, target: { ref: name }, text: '!' })).value, 'Kim!');
  await b.ok('press_key', { tab_id: tab, target: { ref: name }, key: 'End' });
  await b.ok('clear', { tab_id: tab, target: { ref: name } });
  assert.equal(await b.inPage('/', 'n.value'), '');
  assert.equal((await b.ok('check', { tab_id: tab, target: { ref: await ref('Agree') } })).checked, true);
  assert.equal((await b.ok('select_option', { tab_id: tab, target: { ref: await ref('Kind') }, text: 'Two' })).text, 'Two');
  assert.equal((await b.ok('hover', { tab_id: tab, target: { ref: await ref('Link') } })).element.tag, 'a');
  assert.equal((await b.fails('click', { tab_id: tab, target: {} })).code, 'INVALID_PARAMS');
  assert.equal((await b.fails('click', { tab_id: tab, target: { ref: 'ax-7' } })).code, 'INVALID_PARAMS');
  await stale(tab, 'backend-99999999');
});

test('a ref matches the element of its node however the snapshot was filtered (seed 2 §4.6)', async () => {
  const tab = await b.open('/');
  const compact = await snapshot(tab);
  const full = await snapshot(tab, { mode: 'full', include_hidden: true });
  for (const node of compact.nodes) {
    assert.match(node.ref, /^backend-\d+$/);
    assert.equal(full.nodes.find((n) => n.ref === node.ref)?.name, node.name);
  }
  assert.ok(full.nodes.length > compact.nodes.length);
  const again = await snapshot(tab);
  assert.deepEqual(again.nodes, compact.nodes);
});

test('a list that is drawn anew: every old ref is stale', async () => {
  const tab = await b.open('/list');
  const old = await refOf(tab, 'Delete', 1);
  await b.inPage('/list', 'fresh()');
  await stale(tab, old);
  assert.deepEqual(await b.inPage('/list', 'hits'), []);
});

test('entries that change places keep their refs', async () => {
  const tab = await b.open('/list?move');
  const pears = await refOf(tab, 'Delete', 1);
  await b.inPage('/list?move', 'rows.reverse(), move()');
  await b.ok('click', { tab_id: tab, target: { ref: pears } });
  assert.deepEqual(await b.inPage('/list?move', 'hits'), ['Pears']);
});

test('nodes that get other contents in place: never the wrong one', async () => {
  for (const change of ['rows.sort()', 'rows.shift()', 'rows.splice(1, 1)', 'rows.unshift("Figs")']) {
    const path = `/list?${encodeURIComponent(change)}`;
    const tab = await b.open(path);
    const before = await snapshot(tab);
    const refs = before.nodes.filter((n) => n.name === 'Delete').map((n) => n.ref);
    const was = await b.inPage(path, 'rows.slice()');
    await b.inPage(path, `${change}, inPlace()`);
    for (let i = 0; i < refs.length; i++) {
      const answer = await b.call('click', { tab_id: tab, target: { ref: refs[i] }, trusted: i % 2 === 0, timeout: 500 });
      const hits = await b.inPage(path, 'hits.splice(0)');
      if (answer.success) assert.deepEqual(hits, [was[i]], change);
      else assert.deepEqual([answer.code, hits], ['STALE_REF', []], change);
    }
    const after = await snapshot(tab);
    const rows = await b.inPage(path, '[...l.children].map((li) => li.firstChild.textContent)');
    const fresh = after.nodes.filter((n) => n.name === 'Delete');
    for (let i = 0; i < rows.length; i++) {
      await b.ok('click', { tab_id: tab, target: { ref: fresh[i].ref } });
      assert.deepEqual(await b.inPage(path, 'hits.splice(0)'), [rows[i]]);
    }
    await b.ok('close_tab', { tab_id: tab });
  }
});

test('rows of a virtual list that come back with other contents', async () => {
  const tab = await b.open('/recycle');
  const ref = await refOf(tab, 'Open', 2);
  await b.inPage('/recycle', 'at(20)');
  await stale(tab, ref);
  await stale(tab, ref, 'click', { trusted: true });
  await b.inPage('/recycle', 'at(0)');
  await b.ok('click', { tab_id: tab, target: { ref } });
  assert.deepEqual(await b.inPage('/recycle', 'hits'), ['2']);
});

test('rows with a key of their own may change as they like, and follow their key', async () => {
  const tab = await b.open('/keyed');
  const ref = await refOf(tab, 'Buy', 1);
  await b.inPage('/keyed', 'rows.forEach((r) => { r[2] += 10; }), draw()');
  await b.ok('click', { tab_id: tab, target: { ref } });
  assert.deepEqual(await b.inPage('/keyed', 'hits'), ['r2']);
  await b.inPage('/keyed', 'rows.reverse().push(["r4", "Figs", 1]), rows.shift(), draw()');
  const answer = await b.call('click', { tab_id: tab, target: { ref } });
  const hits = await b.inPage('/keyed', 'hits.slice(1)');
  if (answer.success) assert.deepEqual(hits, ['r2']); else assert.deepEqual([answer.code, hits], ['STALE_REF', []]);
});

test('a button that changes its own word stays the same button', async () => {
  const tab = await b.open('/single');
  const [follow, play] = [await refOf(tab, 'Follow'), await refOf(tab, 'Play')];
  await b.inPage('/single', 'void (follow.textContent = "Following (1)")');
  await b.ok('click', { tab_id: tab, target: { ref: follow } });
  await b.inPage('/single', 'void ([...document.querySelectorAll("button")][1].textContent = "Pause")');
  await b.ok('click', { tab_id: tab, target: { ref: play } });
  assert.deepEqual(await b.inPage('/single', 'hits'), ['Following (1)', 'Pause']);
});

test('another page, a reload, the way back: refs of a page that is gone are stale, also where its successor has as many', async () => {
  const tab = await b.open('/');
  const ref = await refOf(tab, 'Alpha');
  await b.ok('navigate', { tab_id: tab, url: `${b.cross}/list` });
  await stale(tab, ref);
  const other = (await snapshot(tab)).nodes.map((n) => n.ref);
  assert.ok(!other.includes(ref));
  await stale(tab, ref);
  await b.ok('reload', { tab_id: tab });
  for (const r of other.slice(0, 3)) await stale(tab, r);
  await b.ok('go_back', { tab_id: tab });
  const answer = await b.call('click', { tab_id: tab, target: { ref } });
  if (!answer.success) assert.equal(answer.code, 'STALE_REF');
});

test('removed while it is waited for', async () => {
  const tab = await b.open('/single?gone');
  const ref = await refOf(tab, 'Follow');
  await b.inPage('/single?gone', 'void ((follow.disabled = true), setTimeout(() => follow.remove(), 300))');
  await stale(tab, ref, 'click', { timeout: 3000 });
});

test('shadow roots, open and closed: by ref and by text, with plain and with trusted clicks', async () => {
  const tab = await b.open('/shadow');
  for (const mode of ['open', 'closed']) {
    for (const trusted of [false, true]) {
      const done = await b.ok('click', { tab_id: tab, target: { ref: await refOf(tab, `In ${mode}`) }, trusted });
      assert.equal(done.shadow, true);
      assert.equal(await b.inPage('/shadow', 'inside'), `${mode} ${trusted}`);
      await b.inPage('/shadow', 'void (inside = null)');
      await b.ok('click', { tab_id: tab, target: { by: 'text', value: `In ${mode}` }, trusted });
      assert.equal(await b.inPage('/shadow', 'inside'), `${mode} ${trusted}`);
    }
    assert.equal((await b.ok('type_text', { tab_id: tab, target: { ref: await refOf(tab, `Field ${mode}`) }, text: 'abc' })).value, 'abc');
    assert.equal(await b.inPage('/shadow', `root_${mode}.querySelector('input').value`), 'abc');
  }
  const { nodes } = await b.ok('get_a11y_tree', { tab_id: tab, pierce: true });
  assert.deepEqual(nodes.filter((n) => n.role === 'button').map((n) => n.name), ['In open', 'In closed']);
});

test('child frames, of this site and of another: their refs carry the frame, and die with it', async () => {
  const tab = await b.open('/frames');
  const { nodes } = await snapshot(tab);
  const buttons = nodes.filter((n) => n.name === 'In child');
  assert.deepEqual(buttons.map((n) => new URL(n.frame).search), ['?same', '?cross']);
  for (const [i, button] of buttons.entries()) {
    assert.match(button.ref, /^backend-\d+@f\d+$/);
    b.site.said.child = undefined;
    const done = await b.ok('click', { tab_id: tab, target: { ref: button.ref }, trusted: i === 1 });
    assert.equal(await b.site.heard('child'), ['?same', '?cross'][i]);
    assert.equal(done.frame, button.frame);
    // The bounds are those of the tab's view.
    b.site.said.child = undefined;
    await b.ok('mouse_click', { tab_id: tab, x: button.bounds.x + button.bounds.width / 2, y: button.bounds.y + button.bounds.height / 2 });
    assert.equal(await b.site.heard('child'), ['?same', '?cross'][i]);
  }
  assert.equal(new Set(nodes.map((n) => n.ref)).size, nodes.length);
  await b.inPage('/frames', 'void document.querySelectorAll("iframe").forEach((f) => { f.src += "2"; })');
  await new Promise((r) => setTimeout(r, 500));
  for (const button of buttons) await stale(tab, button.ref);
});

test('child frames of a page that comes back from the browser\'s own cache: Chrome lists them no more, and they are found all the same', async () => {
  const tab = await b.open('/frames?back');
  const refs = async () => (await snapshot(tab)).nodes.filter((n) => n.name === 'In child').map((n) => n.ref);
  const before = await refs();
  await b.inPage('/frames?back', 'window.kept = true');
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/list` });
  await b.ok('go_back', { tab_id: tab });
  for (const [i, search] of ['?same', '?cross'].entries()) {
    for (const trusted of [false, true]) {
      b.site.said.child = undefined;
      await b.ok('click', { tab_id: tab, target: { by: 'text', value: 'In child', index: i }, trusted });
      assert.equal(await b.site.heard('child'), search);
    }
  }
  await b.ok('wait_for', { tab_id: tab, target: { value: 'input' } });
  if (await b.inPage('/frames?back', 'window.kept === true')) assert.deepEqual(await refs(), before);
});

test('a pane that comes to show another thing: what belonged to the first one is stale, although its nodes stayed', async () => {
  const tab = await b.open('/mail');
  const [del, all, compose] = [await refOf(tab, 'Delete'), await refOf(tab, 'Archive all'), await refOf(tab, 'Compose')];
  await b.inPage('/mail', 'show("Lunch (3)")');
  await b.ok('click', { tab_id: tab, target: { ref: del } });
  await b.inPage('/mail', 'show("Invoice 2041")');
  await stale(tab, del);
  await stale(tab, del, 'click', { trusted: true });
  await b.ok('click', { tab_id: tab, target: { ref: await refOf(tab, 'Delete') } });
  // An address alone says little; with another heading it is another page. What stands around both goes on.
  await b.inPage('/mail', 'route("/mail?page=2", "Inbox")');
  await b.ok('click', { tab_id: tab, target: { ref: all } });
  await b.inPage('/mail', 'route("/mail/spam", "Spam")');
  await stale(tab, all);
  await b.ok('click', { tab_id: tab, target: { ref: compose } });
  assert.deepEqual(await b.inPage('/mail', 'hits'), ['Lunch (3)', 'Invoice 2041', 'Inbox', 'Compose']);
});

test('a ref of another tab is stale here, also where both show the same page, and in their frames', async () => {
  for (const path of ['/', '/frames']) {
    const [one, two] = [await b.open(`${path}?one`), await b.open(`${path}?two`)];
    const of = async (tab) => (await snapshot(tab)).nodes.filter((n) => n.role === 'button');
    let [a, z] = [await of(one), await of(two)];
    if (path === '/frames') for (let i = 0; i < 100 && (a.length < 2 || z.length < 2); i++) [a, z] = [await of(one), await of(two)];
    assert.equal(a.length, z.length);
    assert.ok(a.length >= 2);
    const all = [...a, ...z].map((n) => n.ref);
    assert.equal(new Set(all).size, all.length);
    for (const { ref } of a.slice(0, 3)) await stale(two, ref);
    for (const { ref } of z.slice(0, 3)) await stale(one, ref);
    await b.ok('click', { tab_id: one, target: { ref: a[0].ref } });
    await b.ok('click', { tab_id: two, target: { ref: z[1].ref } });
  }
});

test('a page that comes back from the back/forward cache keeps its refs; a new copy of it has none', async () => {
  const tab = await b.open('/single?cache');
  const ref = await refOf(tab, 'Follow');
  await b.inPage('/single?cache', 'void addEventListener("pageshow", (e) => { window.kept = e.persisted; })');
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/list` });
  await stale(tab, ref);
  await b.ok('go_back', { tab_id: tab });
  const kept = await b.inPage('/single?cache', 'window.kept === true');
  if (kept) {
    await b.ok('click', { tab_id: tab, target: { ref } });
    assert.deepEqual(await b.inPage('/single?cache', 'hits'), ['Follow']);
  } else await stale(tab, ref);
});

test('refs outlive a restart of the worker', async () => {
  const tab = await b.open('/?worker');
  const ref = await refOf(tab, 'Beta');
  await b.chromium.restartWorker();
  await b.ready();
  await b.ok('click', { tab_id: tab, target: { ref } });
  assert.deepEqual(await b.inPage('/?worker', 'hits'), ['Beta']);
  // And no number is given anew afterwards.
  const other = await b.open('/?afterwards');
  const [before, after] = [await snapshot(tab), await snapshot(other)].map((s) => s.nodes.map((n) => n.ref));
  assert.ok(before.includes(ref) && !after.some((r) => before.includes(r)));
  await stale(other, ref);
});
