// The popup's switches are the daemon's: a pause set there holds everywhere, evaluate goes on for an hour, and the command line sees both.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPopup, popupShows } from './harness/popup.mjs';
import { start } from './harness/start.mjs';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let b;
let page;
before(async () => {
  b = await start({ daemon: 'real', pages: { '/': '<title>x</title>' }, routes: { '/hop': { redirect: '{{cross}}/' } } });
  page = await openPopup(b);
  await popupShows(b, page, 'state', /Connected/);
});
after(() => b?.stop());
const press = (id) => b.chromium.evaluate(page, `document.getElementById(${JSON.stringify(id)}).click()`);
const policy = () => JSON.parse(b.daemon.run('policy', 'show', '--json'));

async function until(what, want) {
  for (let i = 0; i < 100; i++) {
    if (want(policy())) return;
    await sleep(50);
  }
  throw new Error(`${what}: ${JSON.stringify(policy())}`);
}

test('pause and resume are the daemon\'s too', async () => {
  await press('pause');
  await popupShows(b, page, 'state', /Paused/);
  await until('paused', (p) => p.paused === true);
  assert.equal((await b.fails('list_tabs')).code, 'PAUSED');
  await press('pause');
  await popupShows(b, page, 'state', /Connected/);
  await until('resumed', (p) => p.paused === false);
  assert.equal((await b.call('list_tabs')).success, true);
});

test('what the popup paused, the command line can end', async () => {
  await press('pause');
  await until('paused', (p) => p.paused === true);
  b.daemon.run('policy', 'set', 'pause', 'off');
  await popupShows(b, page, 'state', /Connected/);
  assert.equal((await b.call('list_tabs')).success, true);
});

test('the evaluate switch says until when it is on', async () => {
  await popupShows(b, page, 'evaluate', /^Off$/);
  await press('evaluate');
  await popupShows(b, page, 'evaluate', /^On until \d/);
  assert.equal(await b.chromium.evaluate(page, 'document.getElementById("evaluate").getAttribute("aria-checked")'), 'true');
  const { evaluate } = policy();
  assert.equal(evaluate.until - evaluate.since, 3_600_000);
  await press('evaluate');
  await popupShows(b, page, 'evaluate', /^Off$/);
  await until('off', (p) => p.evaluate === null);
});

test('an agent is told by the name that it gave itself, and no client learns of another', async () => {
  const token = b.daemon.run('token').trim();
  const agent = await b.client({ protocol: 2, name: 'Shopping \u202ehelper', token });
  await agent.ok('new_tab', { url: `${b.base}/` });
  // The popup closes when a tab is opened.
  page = await openPopup(b);
  await popupShows(b, page, 'acting', /Shopping .{0,3}helper/);
  assert.equal(await b.chromium.evaluate(page, 'document.getElementById("acting").textContent.includes("\u202e")'), false);
  const acks = [];
  const next = await b.client({ protocol: 2, name: 'another', token });
  next.socket.on('message', (text) => acks.push(text));
  await next.ok('list_tabs');
  assert.match(acks.join(), /hello_ack/);
  assert.equal(acks.join().includes('Shopping'), false);
  agent.close();
  next.close();
});

test('what the command line says of sites and of the user\'s tabs counts here at once, and is shown', async () => {
  b.daemon.run('policy', 'set', 'deny', 'localhost, *.mail.example');
  await popupShows(b, page, 'deny', /^localhost, \*\.mail\.example$/);
  // The daemon judges the address that is named, the extension where it leads.
  for (const url of [`${b.cross}/`, `${b.base}/hop`]) {
    const { code, error } = await b.fails('new_tab', { url });
    assert.deepEqual([code, error.slice(0, 51)], ['PERMISSION_DENIED', 'forbidden: domain localhost is on the user\'s deny l']);
  }
  page = await openPopup(b);
  b.daemon.run('policy', 'set', 'deny', 'none');
  b.daemon.run('policy', 'set', 'user-tabs', 'deny');
  await popupShows(b, page, 'user-tabs', /^Not allowed$/);
  const agent = await b.client({ protocol: 2, name: 'agent', token: b.daemon.run('token').trim() });
  assert.deepEqual((await agent.ok('list_tabs')).tabs, []);
  agent.close();
  b.daemon.run('policy', 'set', 'user-tabs', 'allow');
  for (let i = 0; i < 100 && !(await b.chromium.evaluate(page, 'document.getElementById("user-tabs-line").hidden')); i++) await sleep(50);
});
