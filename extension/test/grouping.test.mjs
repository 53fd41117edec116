// The switch "Group the tabs an agent works in": what it does while an agent holds tabs, what is as before afterwards, and whom it leaves alone.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openPopup, popupShows } from './harness/popup.mjs';
import { savedGroups } from './harness/saved-groups.mjs';
import { start } from './harness/start.mjs';

const AGENT = { class: 'agent' };
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let b, agent, window_id, tabs;
before(async () => {
  b = await start({ daemon: 'hub', pages: { '/': '<title>Page</title><a href="/opened" target="_blank">open</a>', '/opened': '<title>Opened</title>' } });
  agent = await b.client({ client_id: 'agent-1' });
  window_id = await chrome('chrome.windows.getLastFocused().then((w) => w.id)');
  tabs = [];
  for (let i = 0; i < 6; i++) tabs.push(await chrome(`chrome.tabs.create({ windowId: ${window_id}, active: false, url: '${b.base}/?${i}' }).then((t) => t.id)`));
  await until('pages', () => chrome('chrome.tabs.query({}).then((all) => all.every((t) => t.status === "complete"))'), Boolean);
});
after(() => b?.stop());

const chrome = (expression) => b.chromium.inWorker(expression);
async function until(what, look, want, ms = 8000) {
  for (const end = Date.now() + ms; ;) {
    const now = await look();
    if (want(now)) return now;
    if (Date.now() > end) throw new Error(`${what}: ${JSON.stringify(now)}`);
    await sleep(40);
  }
}
const group = (tab) => chrome(`chrome.tabs.get(${tab}).then((t) => t.groupId === -1 ? null : chrome.tabGroups.get(t.groupId)).then((g) => g && { id: g.id, title: g.title, color: g.color, windowId: g.windowId }).catch(() => null)`);
const order = (window = window_id) => chrome(`chrome.tabs.query({ windowId: ${window} }).then((all) => all.map((t) => t.id))`);
const active = () => chrome('Promise.all([chrome.tabs.query({ active: true }), chrome.windows.getAll()]).then(([t, w]) => JSON.stringify([t.map((t) => t.id), w.map((w) => [w.id, w.focused])]))');
const work = (tab, client = agent) => client.ok('get_page_content', { tab_id: tab }, AGENT);
const pause = (paused) => b.daemon.hub().tell({ type: 'policy', policy: { paused } });
/** Everybody lets go at once, and holds nothing when work goes on. */
async function allLetGo(...of) {
  pause(true);
  for (const tab of of) await until('let go', () => group(tab), (g) => g === null);
  // A worker that starts anew knows of nobody who holds anything, and of no pause.
  await newWorker();
}
async function newWorker() {
  await b.chromium.restartWorker();
  await b.ready();
}
async function press(want) {
  const popup = (await b.chromium.targets((t) => t.url.endsWith('/popup.html')))[0]?.targetId ?? await openPopup(b);
  await popupShows(b, popup, 'state', /Connected/);
  await b.chromium.evaluate(popup, 'document.getElementById("group").click()');
  await popupShows(b, popup, 'group', want);
  return popup;
}

test('off by default: nothing is grouped, nothing kept', async () => {
  await work(tabs[0]);
  await until('badge', () => chrome(`chrome.action.getBadgeText({ tabId: ${tabs[0]} })`), (t) => t === '●');
  await sleep(300);
  assert.equal(await group(tabs[0]), null);
  assert.deepEqual(await chrome('chrome.storage.session.get("held_groups")'), {});
});

test('switched on by keyboard, it says what it is', async () => {
  const popup = await press(/^On$/);
  await press(/^Off$/);
  await b.chromium.evaluate(popup, 'document.getElementById("group").focus()');
  const { sessionId } = await b.chromium.cdp.send('Target.attachToTarget', { targetId: popup, flatten: true });
  for (const type of ['keyDown', 'keyUp']) await b.chromium.cdp.send('Input.dispatchKeyEvent', { type, key: ' ', code: 'Space', windowsVirtualKeyCode: 32 }, sessionId);
  await popupShows(b, popup, 'group', /^On$/);
  const { nodes } = await b.chromium.cdp.send('Accessibility.getFullAXTree', {}, sessionId);
  const node = nodes.find((n) => n.role?.value === 'switch' && /Group the tabs/.test(n.name?.value));
  assert.equal(node.name.value, 'Group the tabs an agent works in On');
  assert.equal(node.properties.find((p) => p.name === 'checked').value.value, 'true');
  assert.deepEqual(await chrome('chrome.storage.local.get("group_held_tabs")'), { group_held_tabs: true });
});

test('a held tab stands in its agent\'s group, nothing is shown or focused, and it goes back to its place', async () => {
  const before = [await order(), await active()];
  for (const tab of [tabs[1], tabs[3], tabs[5]]) {
    await work(tab);
    await until('group', () => group(tab), (g) => g !== null);
  }
  const [one, three, five] = await Promise.all([group(tabs[1]), group(tabs[3]), group(tabs[5])]);
  assert.equal(one.title, 'agent: agent-1');
  assert.match(one.color, /^(blue|red|yellow|green|cyan|orange|pink|purple|grey)$/);
  assert.deepEqual([three.id, five.id, one.windowId], [one.id, one.id, window_id]);
  assert.equal(await active(), before[1]);
  assert.deepEqual([await group(tabs[2]), await group(tabs[4])], [null, null]);
  // Nobody took it for a group of the user's or of a client.
  for (const t of (await b.ok('list_tabs')).tabs) assert.equal(t.group_id ?? t.group_title ?? t.session_id, undefined);
  await until('let go', async () => (await Promise.all(tabs.map(group))).filter(Boolean).length, (n) => n === 0, 15_000);
  await until('order', async () => (await order()).join(), (now) => now === before[0].join());
  assert.equal(await active(), before[1]);
  assert.deepEqual(await chrome('chrome.storage.session.get("held_groups")'), {});
});

test('two agents have two groups; an agent in two windows has one in each', async () => {
  const bert = await b.client({ client_id: 'agent-2' });
  const own = (await agent.ok('new_tab', { url: `${b.base}/` }, AGENT)).tab_id;
  await Promise.all([work(tabs[0]), work(tabs[2], bert)]);
  const [a, c, e] = await until('groups', () => Promise.all([tabs[0], tabs[2], own].map(group)), (all) => all.every(Boolean));
  assert.equal(new Set([a.id, c.id, e.id]).size, 3);
  assert.deepEqual([a.title, c.title, e.title, a.color], ['agent: agent-1', 'agent: agent-2', 'agent: agent-1', e.color]);
  assert.notEqual(e.windowId, a.windowId);
  await allLetGo(tabs[0], tabs[2], own);
});

test('a name that is learned later becomes the group\'s, a name that the user gives it stays', async () => {
  await work(tabs[2]);
  const { id } = await until('group', () => group(tabs[2]), (g) => g !== null);
  b.daemon.hub().tell({ type: 'policy', policy: { clients: { 'agent-1': { name: 'Claude\u202e' } } } });
  await until('name', () => group(tabs[2]), (g) => g?.title === 'agent: Claude');
  await chrome(`chrome.tabGroups.update(${id}, { title: 'mine' })`);
  b.daemon.hub().tell({ type: 'policy', policy: { clients: { 'agent-1': { name: 'Other' } } } });
  await work(tabs[4]);
  await until('second', () => group(tabs[4]), (g) => g?.id === id);
  assert.equal((await group(tabs[2])).title, 'mine');
  await allLetGo(tabs[2], tabs[4]);
});

test('pinned tabs, the user\'s groups and sessions are left alone', async () => {
  const users = await chrome(`chrome.tabs.group({ tabIds: [${tabs[3]}], createProperties: { windowId: ${window_id} } })`);
  await chrome(`chrome.tabGroups.update(${users}, { title: 'agent: not yours', color: 'pink' }).then(() => chrome.tabs.update(${tabs[5]}, { pinned: true }))`);
  const session = await agent.ok('new_tab', { url: `${b.base}/`, session_id: 's' }, AGENT);
  for (const tab of [tabs[3], tabs[5], session.tab_id, tabs[0]]) await work(tab);
  await until('the one that is free', () => group(tabs[0]), (g) => g?.title.startsWith('agent: '));
  assert.deepEqual([(await group(tabs[3])).id, (await group(session.tab_id)).title, await group(tabs[5])], [users, 'agent:s', null]);
  // A session that takes a held tab keeps it.
  await agent.ok('navigate', { tab_id: tabs[0], url: `${b.base}/?s`, session_id: 's' }, AGENT);
  assert.equal((await group(tabs[0])).title, 'agent:s');
  await allLetGo();
  assert.deepEqual([(await group(tabs[3]))?.title, (await group(session.tab_id))?.title, (await group(tabs[0]))?.title], ['agent: not yours', 'agent:s', 'agent:s']);
  await agent.ok('close_session', { session_id: 's' }, AGENT);
  await chrome(`chrome.tabs.ungroup([${tabs[3]}]).then(() => chrome.tabs.update(${tabs[5]}, { pinned: false }))`);
});

test('a tab that the user takes out stays out; what the user puts in stays theirs; what a page opens leaves with it', async () => {
  for (const tab of [tabs[1], tabs[2]]) await work(tab);
  const { id } = (await until('groups', () => Promise.all([group(tabs[1]), group(tabs[2])]), (all) => all.every(Boolean)))[0];
  await chrome(`chrome.tabs.ungroup([${tabs[1]}]).then(() => chrome.tabs.group({ groupId: ${id}, tabIds: [${tabs[4]}] }))`);
  await work(tabs[1]);
  const popup = chrome(`new Promise((r) => chrome.tabs.onCreated.addListener((t) => r(t.id)))`);
  await b.chromium.inPage('/?2', 'document.querySelector("a").click()');
  const opened = await popup;
  await until('opened', () => group(opened), (g) => g?.id === id);
  assert.equal(await group(tabs[1]), null);
  await allLetGo(tabs[2], opened);
  assert.equal((await group(tabs[4])).id, id);
  await chrome(`chrome.tabs.ungroup([${tabs[4]}]).then(() => chrome.tabs.remove(${opened}))`);
});

test('a worker that starts anew takes apart what the one before it left', async () => {
  const before = await order();
  for (const tab of [tabs[1], tabs[3]]) await work(tab);
  await until('groups', () => Promise.all([group(tabs[1]), group(tabs[3])]), (all) => all.every(Boolean));
  await newWorker();
  for (const tab of [tabs[1], tabs[3]]) await until('apart', () => group(tab), (g) => g === null);
  await until('order', async () => (await order()).join(), (now) => now === before.join());
});

test('an agent\'s tabs that are closed leave no saved group; the switch off takes the rest apart', async () => {
  const saved = () => savedGroups(path.join(b.dir, 'profile')).filter((value) => value.includes('agent: ')).length;
  await agent.ok('new_tab', { url: `${b.base}/` }, AGENT);
  const { tab_id } = await agent.ok('new_tab', { url: `${b.base}/` }, AGENT);
  await until('group', () => group(tab_id), (g) => g !== null);
  await until('saved while it is there', saved, (n) => n > 0);
  await work(tabs[1]);
  await until('group', () => group(tabs[1]), (g) => g !== null);
  await agent.ok('close_agent_window', {}, AGENT);
  await press(/^Off$/);
  await until('apart', () => group(tabs[1]), (g) => g === null);
  await until('saved', saved, (n) => n === 0);
});
