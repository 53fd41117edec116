// Who acts where, the badge on what an agent holds, and "stop now": every call under way is answered, and nothing of it happens later.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPopup, popupShows } from './harness/popup.mjs';
import { start } from './harness/start.mjs';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const AGENT = { class: 'agent' };
const form = '<title>A <b>title</b></title><input id="field"><button id="late" style="display: none" onclick="clicked++">Late</button><script>window.clicked = 0</script>';
let b;
let tab;
let agent;
before(async () => {
  b = await start({ daemon: 'hub', pages: { '/form': form, '/other': '<title>Other</title>' }, routes: { '/hangs': { hang: true } } });
  agent = await b.client({ client_id: 'agent-1' });
  tab = (await agent.ok('new_tab', { url: `${b.base}/form` }, AGENT)).tab_id;
  await shows('state', /Connected/);
});
after(() => b?.stop());

/** The popup; it closes by itself when a tab is opened. */
const popup = async () => (await b.chromium.targets((t) => t.url.endsWith('/popup.html')))[0]?.targetId ?? openPopup(b);
const inPopup = async (expression) => b.chromium.evaluate(await popup(), expression);
const shows = async (id, want) => popupShows(b, await popup(), id, want);
const press = async (id) => { await shows('state', /./); await inPopup(`document.getElementById('${id}').click()`); };
const badge = (id = tab) => b.chromium.inWorker(`chrome.action.getBadgeText({ tabId: ${id} })`);
const attached = () => b.chromium.inWorker('chrome.debugger.getTargets().then((all) => all.filter((t) => t.attached && t.tabId !== undefined).map((t) => t.tabId))');
async function until(what, look, want, ms = 5000) {
  for (const end = Date.now() + ms; ;) {
    const now = await look();
    if (want(now)) return now;
    if (Date.now() > end) throw new Error(`${what}: ${JSON.stringify(now)}`);
    await sleep(40);
  }
}
const resume = async () => { await press('pause'); await shows('state', /Connected/); };
const rows = () => inPopup(`[...document.querySelectorAll('#acting li')].map((li) => ({ running: li.classList.contains('running'), ...Object.fromEntries([...li.children].map((c) => [c.className.split(' ')[0], c.textContent])) }))`);

test('a call under way has a row that says who, what, where and since when; afterwards how long ago', async () => {
  const waiting = agent.call('wait_for', { tab_id: tab, text: 'Later', timeout: 20_000 }, AGENT);
  const [row] = await until('rows', rows, (r) => r[0]?.running);
  assert.deepEqual({ name: row.name, kind: row.kind, doing: row.doing, tab: row.tab }, { name: 'agent-1', kind: 'agent', doing: 'wait_for', tab: 'A <b>title</b>' });
  assert.match(row.time, /^for \d+ s$/);
  assert.match(await shows('acting-state', /At work/), /agent-1/);
  await b.chromium.inPage('/form', 'document.body.append("Later")');
  assert.equal((await waiting).success, true);
  await until('rows', rows, (r) => r[0] && !r[0].running && /ago$/.test(r[0].time));
});

test('a name is asked for once, and shown as the text it is', async () => {
  const asked = () => b.daemon.hub().frames.filter((f) => f.type === 'event' && f.event === 'who');
  await until('question', asked, (f) => f.some((frame) => frame.owner === 'agent-1'));
  const count = asked().length;
  b.daemon.hub().tell({ type: 'policy', policy: { clients: { 'agent-1': { name: `Cl\u202eau\nde <img src=x onerror="document.title='broken'"> ${'x'.repeat(200)}` } } } });
  const [{ name }] = await until('name', rows, (r) => r[0]?.name.startsWith('Cl'));
  assert.equal([...name].length, 64);
  assert.ok(name.startsWith('Clau de <img src=x onerror='), name);
  assert.equal(await inPopup('document.querySelector("#acting img") === null && document.title === "bridged"'), true);
  assert.equal(asked().length, count);
});

test('the badge is on what an agent holds, over a navigation too, and not on what a person\'s program uses', async () => {
  await agent.ok('get_page_content', { tab_id: tab }, AGENT);
  await until('badge', badge, (t) => t === '●');
  assert.match(await b.chromium.inWorker(`chrome.action.getTitle({ tabId: ${tab} })`), /Clau de .*works in this tab/);
  await agent.ok('navigate', { tab_id: tab, url: `${b.base}/other` }, AGENT);
  await until('badge', badge, (t) => t === '●');
  const mine = await b.open('/other');
  await b.ok('get_page_content', { tab_id: mine });
  assert.equal(await badge(mine), '');
  const group = (id) => b.chromium.inWorker(`chrome.tabs.get(${id}).then((t) => t.groupId)`);
  assert.deepEqual([await group(tab), await group(mine)], [-1, -1]);
  await agent.ok('navigate', { tab_id: tab, url: `${b.base}/form` }, AGENT);
});

test('stop now: a wait, an act that waits and one under way end at once, with what is true of each', async () => {
  const waiting = agent.call('wait_for', { tab_id: tab, target: { value: '#never' }, timeout: 25_000 }, AGENT);
  const clicking = agent.call('click', { tab_id: tab, target: { value: '#late' }, timeout: 25_000 }, AGENT);
  const typing = agent.call('type_text', { tab_id: tab, target: { value: '#field' }, text: 'a'.repeat(200), delay_ms: 100 }, AGENT);
  await until('typing', () => b.chromium.inPage('/form', 'field.value.length'), (n) => n > 2);
  assert.ok((await attached()).includes(tab));
  await press('stop');
  const began = Date.now();
  const [waited, clicked, typed] = await Promise.all([waiting, clicking, typing]);
  assert.ok(Date.now() - began < 5000, 'not at once');
  for (const answer of [waited, clicked, typed]) assert.equal(answer.code, 'DENIED_BY_USER', JSON.stringify(answer));
  assert.deepEqual([waited, clicked, typed].map((a) => a.maybe_executed ?? false), [false, false, true]);
  await shows('hint', /^Stopped: 3 calls/);
  await until('debugger', attached, (a) => a.length === 0);
  assert.equal((await agent.fails('get_page_content', { tab_id: tab }, AGENT)).code, 'PAUSED');
  await until('badge', badge, (t) => t !== '●');
  // What was told as not done is not done later either.
  const typedSoFar = await b.chromium.inPage('/form', 'field.value.length');
  await b.chromium.inPage('/form', 'late.style.display = ""');
  await sleep(500);
  assert.deepEqual(await b.chromium.inPage('/form', '[clicked, field.value.length]'), [0, typedSoFar]);
  await resume();
  assert.equal((await agent.call('click', { tab_id: tab, target: { value: '#late' } }, AGENT)).success, true);
  assert.equal(await b.chromium.inPage('/form', 'clicked'), 1);
});

test('stop now in a page that does not react: what may have been done is told so', async () => {
  // The page stands still until it is let go, however slow the rest is.
  const before = b.site.count('/held');
  b.site.routes['/held'] = { body: 'held' };
  const busy = b.chromium.inPage('/form', 'const x = new XMLHttpRequest(); do { x.open("GET", "/held", false); x.send() } while (x.responseText === "held"); 1');
  await until('held', () => b.site.count('/held'), (n) => n > before);
  const clicking = agent.call('click', { tab_id: tab, target: { value: '#late' } }, AGENT);
  const reading = agent.call('get_page_content', { tab_id: tab }, AGENT);
  await until('running', rows, (r) => r.some((row) => row.running));
  await press('stop');
  const [clicked, read] = await Promise.all([clicking, reading]);
  b.site.routes['/held'] = { body: 'go' };
  assert.deepEqual([clicked.code, clicked.maybe_executed, read.code, read.maybe_executed], ['DENIED_BY_USER', true, 'DENIED_BY_USER', undefined]);
  await busy;
  await resume();
});

test('a navigation that hangs is stopped, and a batch goes no further', async () => {
  const before = b.site.count('/other');
  const going = agent.call('batch', { steps: [{ method: 'navigate', params: { tab_id: tab, url: `${b.base}/hangs` } }, { method: 'navigate', params: { tab_id: tab, url: `${b.base}/other` } }] }, AGENT);
  await until('running', rows, (r) => r.some((row) => row.running && row.doing === 'navigate'));
  await press('stop');
  assert.equal((await going).code, 'DENIED_BY_USER');
  await sleep(300);
  assert.equal(b.site.count('/other'), before);
  await resume();
});

test('what is recorded ends with it, says so, and can be begun anew', async () => {
  const { tab_id } = await agent.ok('new_tab', { url: `${b.base}/other` }, AGENT);
  const network = (action) => agent.ok('network', { tab_id, action }, AGENT);
  await network('start');
  await press('stop');
  await until('detached', attached, (all) => !all.includes(tab_id));
  await resume();
  const { status, ended } = await network('get');
  assert.deepEqual([status, /the user stopped all work/.test(ended)], ['stopped', true]);
  assert.equal((await network('start')).status, 'recording');
  assert.ok((await attached()).includes(tab_id));
  await network('stop');
  await agent.ok('close_tab', { tab_id }, AGENT);
});

// T131: messages from a page.
test('messages of the popup\'s kind from a page\'s script change nothing', async () => {
  await press('pause');
  await shows('state', /Paused/);
  const before = await b.chromium.inWorker('chrome.storage.local.get(["overlay", "paused", "pasted_key", "group_held_tabs"])');
  const said = await b.chromium.inWorker(`(async () => {
    const mine = ${await theirs()};
    const [{ result }] = await chrome.scripting.executeScript({ target: { tabId: mine }, func: async () => {
      const asks = [{ type: 'status' }, { type: 'pause', on: false }, { type: 'stop' }, { type: 'evaluate', on: true }, { type: 'overlay', what: 'box', on: true }, { type: 'group', on: true }, { type: 'pair', key: 'bridged1.k-stolen00.' + 'A'.repeat(43) }, { type: 'again' }];
      return Promise.all(asks.map((ask) => Promise.race([chrome.runtime.sendMessage(ask).then((r) => r ?? null, () => null), new Promise((r) => setTimeout(r, 300, null))])));
    } });
    return result;
  })()`);
  assert.deepEqual(said, Array(8).fill(null));
  assert.deepEqual(await b.chromium.inWorker('chrome.storage.local.get(["overlay", "paused", "pasted_key", "group_held_tabs"])'), before);
  assert.equal((await agent.fails('list_tabs', {}, AGENT)).code, 'PAUSED');
  assert.equal(b.daemon.hub().frames.some((f) => f.type === 'policy_set' && 'evaluate' in f.policy), false);
  await resume();
});
const theirs = () => b.chromium.inWorker(`chrome.tabs.query({ url: '${b.base}/other' }).then((all) => all[0].id)`);

test('a worker that starts anew takes off the badges that the one before it left', async () => {
  await agent.ok('get_page_content', { tab_id: tab }, AGENT);
  await until('badge', badge, (t) => t === '●');
  await b.chromium.restartWorker();
  await b.ready();
  await until('badge', badge, (t) => t !== '●');
});

test('who has let go holds nothing: the badge goes', async () => {
  await agent.ok('activate_tab', { tab_id: tab }, AGENT);
  await until('badge', badge, (t) => t === '●');
  await until('badge', badge, (t) => t === '', 15_000);
});

test('Escape closes it; every control has a name and is reached by the keyboard', async () => {
  await shows('state', /Connected|Paused/);
  const { sessionId } = await b.chromium.cdp.send('Target.attachToTarget', { targetId: await popup(), flatten: true });
  const { nodes } = await b.chromium.cdp.send('Accessibility.getFullAXTree', {}, sessionId);
  const controls = nodes.filter((n) => !n.ignored && ['button', 'switch', 'textbox'].includes(n.role?.value));
  assert.ok(controls.length >= 6, String(controls.length));
  for (const c of controls) assert.ok(c.name?.value, JSON.stringify(c));
  for (const c of controls) assert.ok(c.properties.some((p) => p.name === 'focusable' || p.name === 'disabled'), c.name.value);
  assert.deepEqual(controls.filter((c) => c.role.value === 'switch').map((c) => c.name.value), ['Code in pages Off', 'Show the element acted on Off', 'Show the pointer Off', 'Group the tabs an agent works in Off']);
  await b.chromium.cdp.send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Escape', code: 'Escape', windowsVirtualKeyCode: 27 }, sessionId).catch(() => {});
  await until('popup', () => b.chromium.targets((t) => t.url.endsWith('/popup.html')), (all) => all.length === 0);
});
