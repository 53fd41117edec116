// What agents may do with the tabs that no client opened: anything, nothing, or what the user says in a window that no page and no command
// reaches (T124, T129, T130).
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { openPopup, popupShows } from './harness/popup.mjs';
import { asked, prompt, prompts } from './harness/prompt.mjs';
import { start } from './harness/start.mjs';

const AGENT = { class: 'agent' };
const DENY = 'forbidden: the user keeps their own tabs to themselves (user-tabs is deny)';
let b;
let agent;
let theirs;
before(async () => {
  b = await start({
    daemon: 'hub', flags: ['--host-resolver-rules=MAP *.test 127.0.0.1'], policy: { user_tabs: 'ask' },
    pages: {
      '/': '<title>The user\'s own</title><h1>private words</h1><input id="i" value="theirs">',
      '/same': '<title>bridged asks: share your tabs?</title><h1>Let this agent use your tabs of this site?</h1><button id="yes" onclick="document.title = \'pressed\'">Share this site</button>',
      '/leads': '<title>Leads</title><a id="a" href="/hop">on</a>',
      '/writes': '<title>Writes</title><script src="/__page.js"></script><script>say("writes", location.origin)</script>',
    },
    routes: { '/hop': { redirect: '{{cross}}/?token=1' } },
  });
  agent = await b.client({ client_id: 'agent-a' });
  theirs = await userTab(`${b.base}/`);
});
after(() => b?.stop());
afterEach(async () => {
  // Nothing asks any more, nothing is shared, and who was refused is asked about again.
  limit({ user_tabs: 'allow' });
  await b.ok('list_tabs');
  limit({ user_tabs: 'ask' });
  await asked(b, 0);
});

const limit = (policy) => b.daemon.hub().tell({ type: 'policy', policy });
const value = { target: { value: '#i' } };
const read = (tab, client = agent, frame = {}) => client.call('get_value', { tab_id: tab, ...value }, { ...AGENT, ...frame });
let counter = 0;
/** An agent that has nothing yet. */
const newAgent = () => b.client({ client_id: `agent-${++counter}` });

async function userTab(url) {
  await b.chromium.cdp.send('Target.createTarget', { url });
  for (let i = 0; i < 200; i++) {
    const { tabs } = await b.ok('list_tabs');
    const found = tabs.find((t) => t.url === url && t.owner === undefined && t.title);
    if (found) return found.tab_id;
    await new Promise((r) => setTimeout(r, 25));
  }
  throw new Error(`no tab at ${url}`);
}

test('deny: the user\'s tabs are neither listed to agents nor worked on by them; their own and persons are free', async () => {
  limit({ user_tabs: 'deny' });
  const el = { target: { value: '#i' } };
  const all = {
    activate_tab: {}, navigate: { url: `${b.base}/same` }, click: el, click_at: { x: 5, y: 5 }, press_key: { key: 'a' }, run_script: { code: '1' }, scroll: { dy: 10 }, set_value: { ...el, value: 'x' }, clear: el, get_value: el, get_page_content: {}, get_page_markdown: {},
    get_a11y_tree: {}, screenshot: {}, snapshot: {}, network: { action: 'start' }, console: {}, wait_for: { text: 'x' }, go_back: {}, reload: {}, mouse_click: { x: 5, y: 5 }, type_text: { text: 'x' }, send_keys: { keys: 'a' }, insert_text: { text: 'x' }, hover: el, save_as_pdf: {},
    handle_dialog: { accept: true }, close_tab: {},
  };
  for (const [method, params] of Object.entries(all)) {
    const answer = await agent.fails(method, { ...params, tab_id: theirs }, AGENT);
    assert.deepEqual([answer.code, answer.error], ['PERMISSION_DENIED', DENY], method);
  }
  assert.equal((await agent.ok('batch', { steps: [{ method: 'get_value', params: { tab_id: theirs, ...el } }] }, AGENT)).results[0].error, DENY);
  assert.ok(!(await agent.ok('list_tabs', {}, AGENT)).tabs.some((t) => t.owner === undefined));
  assert.equal((await agent.ok('find_tab', { query: 'own' }, AGENT)).count, 0);
  const { tab_id: own } = await agent.ok('new_tab', { url: `${b.base}/` }, AGENT);
  assert.equal((await read(own)).result.value, 'theirs');
  assert.equal((await b.ok('get_value', { tab_id: theirs, ...el })).value, 'theirs');
  assert.deepEqual(await prompts(b), []);
  await agent.ok('close_tab', { tab_id: own }, AGENT);
});

test('ask: one question for a site and an agent; what it says is kept until the browser exits, over a restart of the worker', async () => {
  const a = await newAgent();
  const { tabs } = await a.ok('list_tabs', {}, AGENT);
  // Enough to ask for it by its id.
  assert.deepEqual((({ url, title }) => ({ url, title }))(tabs.find((t) => t.tab_id === theirs)), { url: b.base, title: '' });
  assert.equal((await a.ok('find_tab', { query: 'own' }, AGENT)).count, 0);
  const held = read(theirs, a);
  const window = await prompt(b);
  assert.equal(window.place, b.base);
  assert.match(window.name, /^agent-\d+$/);
  await window.armed();
  await window.press('yes');
  assert.equal((await held).result.value, 'theirs');
  await asked(b, 0);
  assert.equal((await read(theirs, a)).result.value, 'theirs');
  assert.equal((await a.ok('list_tabs', {}, AGENT)).tabs.find((t) => t.tab_id === theirs).title, 'The user\'s own');
  // Another site, and another agent, are questions of their own.
  const elsewhere = await userTab(`http://a.test:${b.site.port}/`);
  const other = read(elsewhere, a);
  const second = await prompt(b);
  assert.equal(second.place, `http://a.test:${b.site.port}`);
  await second.armed();
  await second.press('no');
  const no = await other;
  assert.equal(no.code, 'DENIED_BY_USER');
  assert.match(no.error, /^denied: the user does not share/);
  // Not asked about again at once.
  assert.equal((await read(elsewhere, a)).code, 'DENIED_BY_USER');
  assert.deepEqual(await prompts(b), []);
  const stranger = await newAgent();
  const third = read(theirs, stranger);
  await (await prompt(b)).close();
  assert.equal((await third).code, 'DENIED_BY_USER');
  await b.chromium.restartWorker();
  await b.ready();
  assert.equal((await read(theirs, a)).result.value, 'theirs');
  assert.deepEqual(await prompts(b), []);
  await b.ok('close_tab', { tab_id: elsewhere });
});

test('the buttons take nothing in the first half second, nothing that a script presses, and the keyboard as well', async () => {
  const a = await newAgent();
  const held = read(theirs, a);
  const window = await prompt(b);
  // A script in the very page, as if a page could be that.
  const early = await b.chromium.evaluate(window.targetId, 'const y = document.getElementById("yes"); y.disabled = false; y.click(); 1');
  assert.equal(early, 1);
  await window.press('yes');
  assert.equal((await prompts(b)).length, 1);
  await window.armed();
  await b.chromium.evaluate(window.targetId, 'document.getElementById("yes").click()');
  assert.equal((await prompts(b)).length, 1);
  const focused = () => b.chromium.evaluate(window.targetId, 'document.activeElement.id');
  for (let i = 0; i < 4 && (await focused()) !== 'yes'; i++) await window.key('Tab', 'Tab', 9);
  assert.equal(await focused(), 'yes');
  await window.key('Enter', 'Enter', 13, '\r');
  assert.equal((await held).result.value, 'theirs');
});

test('a hundred calls raise one question, the others are told that one is open', async () => {
  const a = await newAgent();
  const calls = Array.from({ length: 100 }, () => read(theirs, a, { timeout_ms: 8000 }));
  const busy = (await Promise.all(calls.slice(1))).map((x) => [x.code, x.error.slice(0, 5)].join());
  assert.deepEqual([...new Set(busy)], ['OVERLOADED,busy:']);
  const window = await prompt(b);
  await window.armed();
  await window.press('yes');
  assert.equal((await calls[0]).result.value, 'theirs');
  assert.equal((await read(theirs, a)).result.value, 'theirs');
});

test('a call whose time is up is told so; the question stands, and its answer counts for the next one', async () => {
  const a = await newAgent();
  const late = await read(theirs, a, { timeout_ms: 700 });
  assert.equal(late.code, 'PERMISSION_DENIED');
  assert.match(late.error, /^denied: no confirmation/);
  assert.equal((await read(theirs, a)).code, 'OVERLOADED');
  const window = await prompt(b);
  await window.armed();
  await window.press('yes');
  await asked(b, 0);
  assert.equal((await read(theirs, a)).result.value, 'theirs');
});

test('neither a page that looks the same nor a command on the window itself grants anything', async () => {
  const a = await newAgent();
  const { tab_id: own } = await a.ok('new_tab', { url: `${b.base}/same` }, AGENT);
  const held = read(theirs, a, { timeout_ms: 20_000 });
  const window = await prompt(b);
  await window.armed();
  await a.ok('click', { tab_id: own, target: { value: '#yes' }, trusted: true }, AGENT);
  assert.equal((await a.ok('list_tabs', {}, AGENT)).tabs.find((t) => t.tab_id === own).title, 'pressed');
  const id = await b.chromium.inWorker('chrome.tabs.query({}).then((all) => all.find((t) => t.url.includes("/prompt.html")).id)');
  const point = { x: 300, y: 250 };
  const tries = {
    click_at: point, mouse_click: point, click: { target: { value: '#yes' } }, send_keys: { keys: 'Enter' }, press_key: { key: 'Enter' }, run_script: { code: '1' }, screenshot: {}, snapshot: {}, get_page_content: {}, activate_tab: {}, navigate: { url: `${b.base}/` },
    close_tab: {}, console: {}, network: { action: 'start' }, save_as_pdf: {}, drag: { from: point, to: point }, reload: {},
  };
  for (const [client, frame] of [[a, AGENT], [b.main, {}]]) {
    for (const [method, params] of Object.entries(tries)) assert.equal((await client.fails(method, { ...params, tab_id: id }, frame)).code, 'PERMISSION_DENIED', method);
    assert.ok(!(await client.ok('list_tabs', {}, frame)).tabs.some((t) => t.tab_id === id || t.url.includes('prompt.html')));
  }
  // A person's default tab is never that window, though it is the one in front.
  assert.notEqual((await b.ok('get_page_content', {})).tab_id, id);
  // The same page in a tab, even at the very address, is not heard.
  const before = (await b.chromium.targets((t) => t.type === 'page')).length;
  await b.chromium.cdp.send('Target.createTarget', { url: window.url });
  for (let i = 0; i < 100 && (await b.chromium.targets((t) => t.type === 'page')).length > before; i++) await new Promise((r) => setTimeout(r, 25));
  assert.equal((await b.chromium.targets((t) => t.type === 'page')).length, before, 'it closes itself');
  assert.equal((await prompts(b)).length, 1);
  await window.press('no');
  assert.equal((await held).code, 'DENIED_BY_USER');
  await a.ok('close_tab', { tab_id: own }, AGENT);
});

test('the popup tells what is shared and takes it back', async () => {
  const a = await newAgent();
  const held = read(theirs, a);
  const window = await prompt(b);
  await window.armed();
  await window.press('yes');
  await held;
  const popup = await openPopup(b);
  await popupShows(b, popup, 'user-tabs', /^You are asked$/);
  await popupShows(b, popup, 'shared', new RegExp(`agent-${counter}`));
  const label = `button[aria-label="Stop sharing ${b.base} with agent-${counter}"]`;
  await b.chromium.evaluate(popup, `document.querySelector(${JSON.stringify(label)}).click()`);
  for (let i = 0; i < 100 && (await b.chromium.evaluate(popup, `!!document.querySelector(${JSON.stringify(label)})`)); i++) await new Promise((r) => setTimeout(r, 25));
  assert.equal(await b.chromium.evaluate(popup, 'document.activeElement.id'), 'shared-name');
  const again = read(theirs, a, { timeout_ms: 700 });
  await asked(b, 1);
  assert.match((await again).error, /^denied: no confirmation/);
});

test('a tab of the user\'s keeps the window of an agent that closes it, and the answer says so', async () => {
  const a = await newAgent();
  const { tab_id: own } = await a.ok('new_tab', { url: `${b.base}/` }, AGENT);
  const { windowId, users } = await b.chromium.inWorker(`chrome.tabs.get(${own}).then(async ({ windowId }) => ({ windowId, users: (await chrome.tabs.create({ windowId, url: '${b.base}/?kept' })).id }))`);
  const { note, ...answer } = await a.ok('close_agent_window', {}, AGENT);
  assert.deepEqual(answer, { closed: false, window_id: windowId });
  assert.match(note, /a tab of the user's is in it/);
  assert.deepEqual(await b.chromium.inWorker(`chrome.tabs.query({ windowId: ${windowId} }).then((all) => all.map((t) => t.id))`), [users]);
  await b.ok('close_tab', { tab_id: users });
  const { tab_id: next } = await a.ok('new_tab', { url: `${b.base}/` }, AGENT);
  assert.equal((await a.ok('close_agent_window', {}, AGENT)).closed, true);
  assert.ok(!(await b.ok('list_tabs')).tabs.some((t) => t.tab_id === next));
});

test('a tab that goes to a site that is not shared is asked about again, and a pause ends the question', async () => {
  const a = await newAgent();
  const tab = await userTab(`http://b.test:${b.site.port}/`);
  const held = read(tab, a);
  const window = await prompt(b);
  await window.armed();
  await window.press('yes');
  await held;
  await b.ok('navigate', { tab_id: tab, url: `http://c.test:${b.site.port}/` });
  const waiting = read(tab, a);
  assert.equal((await prompt(b)).place, `http://c.test:${b.site.port}`);
  limit({ user_tabs: 'ask', paused: true });
  assert.match((await waiting).error, /^denied: no confirmation/);
  await asked(b, 0);
  limit({ user_tabs: 'ask' });
  await b.ok('close_tab', { tab_id: tab });
});

/** Shares the site of the tab with the agent. */
async function share(a, tab) {
  const held = read(tab, a);
  const window = await prompt(b);
  await window.armed();
  await window.press('yes');
  await held;
  await asked(b, 0);
}

test('what leads a tab of the user\'s to a site that is not shared is told of it by its place alone, and asks nothing', async () => {
  const a = await newAgent();
  const tab = await userTab(`${b.cross}/?token=1`);
  const home = () => b.ok('navigate', { tab_id: tab, url: `${b.base}/` });
  const back = () => b.page(tab, 'void setTimeout(() => history.back(), 400)');
  await home();
  await share(a, tab);
  const step = await a.ok('go_back', { tab_id: tab }, AGENT);
  assert.deepEqual([step.url, step.title], [b.cross, '']);
  await home();
  await back();
  const waited = await a.fails('wait_for', { tab_id: tab, url: 'token=1', timeout: 2000 }, AGENT);
  assert.equal(waited.code, 'TIMEOUT');
  assert.match(waited.error, /it is at http:\/\/localhost:\d+ \(/);
  await home();
  await back();
  assert.equal((await a.ok('wait_for', { tab_id: tab, url: b.cross }, AGENT)).url, b.cross);
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/leads` });
  assert.equal((await a.ok('click', { tab_id: tab, target: { value: '#a' } }, AGENT)).navigated, b.cross);
  assert.deepEqual(await prompts(b), []);
  // What is shared is told as ever.
  await home();
  assert.equal((await a.ok('reload', { tab_id: tab }, AGENT)).title, 'The user\'s own');
  await b.ok('close_tab', { tab_id: tab });
});

test('a yes to one empty page that a site has written into shares that site, and no other\'s empty pages', async () => {
  const a = await newAgent();
  const write = async (site) => {
    const { targetId } = await b.chromium.cdp.send('Target.createTarget', { url: `${site}/writes` });
    await b.heard('writes', (said) => said === site);
    await b.chromium.evaluate(targetId, 'const w = open("about:blank"); w.document.title = "written"; w.document.body.textContent = "theirs"; 1');
    const { tabs } = await b.ok('list_tabs');
    return tabs.find((t) => t.url === 'about:blank' && t.title === 'written' && !blanks.includes(t.tab_id)).tab_id;
  };
  const blanks = [];
  blanks.push(await write(b.base));
  blanks.push(await write(b.cross));
  const held = read(blanks[0], a);
  const window = await prompt(b);
  assert.equal(window.place, b.base);
  await window.armed();
  await window.press('yes');
  // Past the question; such a page is only to be seen.
  assert.equal((await held).code, 'RESTRICTED_PAGE');
  await asked(b, 0);
  assert.equal((await read(theirs, a)).result.value, 'theirs');
  const other = read(blanks[1], a);
  const second = await prompt(b);
  assert.equal(second.place, b.cross);
  await second.close();
  assert.equal((await other).code, 'DENIED_BY_USER');
  for (const { tab_id: id, url } of (await b.ok('list_tabs')).tabs) if (blanks.includes(id) || url.endsWith('/writes')) await b.ok('close_tab', { tab_id: id });
});

// The last one: nobody is asked anything after it for a while.
test('a question that its agent let go is not raised again at once, and one refused under ever new names not for ever', async () => {
  // A yes begins anew.
  await share(await newAgent(), theirs);
  const a = await newAgent();
  const dropped = a.call('get_value', { tab_id: theirs, ...value }, AGENT).catch(() => {});
  await prompt(b);
  b.daemon.hub().cancel();
  await asked(b, 0);
  assert.match((await read(theirs, a)).error, /^denied: no confirmation/);
  a.close();
  await dropped;
  assert.deepEqual(await prompts(b), []);
  for (let i = 0; i < 2; i++) {
    const held = read(theirs, await newAgent());
    await (await prompt(b)).close();
    assert.equal((await held).code, 'DENIED_BY_USER');
    await asked(b, 0);
  }
  const { code, error } = await read(theirs, await newAgent());
  assert.equal(code, 'OVERLOADED');
  assert.match(error, /^busy: the user was asked several times in a row and shared nothing; nobody asks again for \d+ s$/);
  assert.deepEqual(await prompts(b), []);
});
