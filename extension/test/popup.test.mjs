// The popup: says whether the daemon is there and which browser this is, pauses, takes a pasted key; can be used by keyboard alone.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openPopup, popupShows } from './harness/popup.mjs';
import { start } from './harness/start.mjs';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let b;
before(async () => { b = await start({ daemon: 'hub', pages: { '/': '<title>x</title>' } }); });
after(() => b?.stop());

const listens = (port) => new Promise((r) => { const socket = net.connect(port, '127.0.0.1', () => { socket.destroy(); r(true); }).on('error', () => r(false)); });
const popup = () => openPopup(b);
const shows = (target, id, want) => popupShows(b, target, id, want);

test('connected: the state, the browser id, the last round trip', async () => {
  const page = await popup();
  await shows(page, 'state', /Connected/);
  assert.equal(await shows(page, 'browser-id', /^b-/), b.daemon.hub().hellos.at(-1).browser_id);
  await shows(page, 'round-trip', /\d+ s ago, in \d+ ms/);
  await shows(page, 'daemon', new RegExp(`hub\\.mjs.*127\\.0\\.0\\.1:${b.daemon.port}`));
});

test('pause stops every command until it is lifted here', async () => {
  const page = await popup();
  await shows(page, 'pause', /Pause/);
  await b.chromium.evaluate(page, 'document.getElementById("pause").click()');
  await shows(page, 'state', /Paused/);
  assert.equal((await b.fails('list_tabs')).code, 'PAUSED');
  assert.equal((await b.fails('new_tab', { url: b.base })).code, 'PAUSED');
  assert.equal(b.site.requests.length, 0);
  await b.chromium.evaluate(page, 'document.getElementById("pause").click()');
  await shows(page, 'state', /Connected/);
  assert.equal((await b.call('list_tabs')).success, true);
});

// T131: a popup that a client opened as a tab.
test('opened as a tab, where a client could reach it, it shows but changes nothing', async () => {
  const { targetId } = await b.chromium.cdp.send('Target.createTarget', { url: `chrome-extension://${b.extensionId}/popup.html` });
  await shows(targetId, 'state', /Connected/);
  await b.chromium.evaluate(targetId, 'document.getElementById("pause").click()');
  await sleep(300);
  assert.equal((await b.call('list_tabs')).success, true);
  await b.chromium.cdp.send('Target.closeTarget', { targetId });
});

test('every control can be reached and named without a mouse', async () => {
  const page = await popup();
  await shows(page, 'state', /Connected/);
  const names = await b.chromium.evaluate(page, `[...document.querySelectorAll('button, input')].filter((e) => e.checkVisibility()).map((e) => [e.tabIndex, e.textContent || e.labels?.[0]?.textContent])`);
  assert.ok(names.length >= 2);
  for (const [index, name] of names) assert.ok(index >= 0 && name, JSON.stringify(names));
  assert.equal(await b.chromium.evaluate(page, 'document.documentElement.lang'), 'en', 'the language of the words, not the browser\'s');
});

test('a liar on the port is named; without a key the popup takes one', async () => {
  await b.daemon.restart({ mode: 'wrong-proof' });
  const page = await popup();
  await shows(page, 'state', new RegExp(`Another program answers on 127\\.0\\.0\\.1:${b.daemon.port}`));
  fs.rmSync(path.join(b.extension, 'pairing.json'));
  await b.chromium.evaluate(page, 'document.getElementById("again").click()');
  await shows(page, 'state', /Not paired/);
  const paste = (key) => b.chromium.evaluate(page, `document.getElementById('key').value = ${JSON.stringify(key)}; document.getElementById('pair').requestSubmit()`);
  await paste('not a key');
  await shows(page, 'key-problem', /bridged1/);
  const key = `bridged1.k-pasted00.${randomBytes(32).toString('base64url')}`;
  await paste(key);
  // It goes to the daemon's usual port from then on, where one of this machine's own may be, which does not know the key.
  await shows(page, 'state', (await listens(9225)) ? /Not paired|Connecting|refuse/ : /daemon is not running|Connecting|Another program/);
  assert.equal((await b.chromium.inWorker("chrome.storage.local.get('pasted_key')")).pasted_key, key);
});
