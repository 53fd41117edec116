// Who the extension obeys: only a daemon that has proved that it holds the key; and how it comes back after a loss.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { writePairing } from './harness/daemon.mjs';
import { openPopup, popupShows } from './harness/popup.mjs';
import { start } from './harness/start.mjs';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function until(what, holds, ms = 15_000) {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await sleep(50);
  }
}

let b;
before(async () => { b = await start({ daemon: 'hub', pages: { '/': '<title>x</title>', '/evil': '<title>evil</title>' } }); });
after(() => b?.stop());

const hub = () => b.daemon.hub();
/** Brings the alarm forward that makes the extension dial after it was told off, instead of waiting its half minute. */
const nudge = () => b.chromium.inWorker("chrome.alarms.create('connect', { when: Date.now(), periodInMinutes: 0.5 })");
const badge = () => b.chromium.inWorker('Promise.all([chrome.action.getBadgeText({}), chrome.action.getTitle({}), chrome.action.getBadgeBackgroundColor({})])');

test('the hello says who, which build and which methods; the Origin is the pinned id', async () => {
  const [hello] = hub().hellos;
  assert.equal(hello.protocol, 2);
  assert.equal(hello.role, 'extension');
  assert.match(hello.browser_id, /^b-[A-Za-z0-9_-]{12}$/);
  assert.equal(Buffer.from(hello.nonce, 'base64url').length, 32);
  assert.match(hello.version, /^\d+\.\d+\.\d+$/);
  assert.ok(hello.methods.includes('navigate') && hello.methods.includes('run_script'));
  assert.ok(hub().origins.includes(`chrome-extension://${b.extensionId}`));
});

test('a restarted daemon is found again, with the same browser id and a fresh nonce', async () => {
  const [first] = hub().hellos;
  await b.daemon.restart();
  await until('connected again', () => hub().connected());
  const [again] = hub().hellos;
  assert.equal(again.browser_id, first.browser_id);
  assert.notEqual(again.nonce, first.nonce);
  await b.ready();
  assert.equal((await b.ok('ping')).pong, true);
});

test('a connection that is cut without a word is made anew', async () => {
  const count = hub().extensions;
  hub().drop();
  await until('connected again', () => hub().extensions === count + 1 && hub().connected());
});

test('a browser that was suspended is connected and answers once it goes on, and the worker dials again where it must (T108)', async () => {
  await b.ready();
  process.kill(-b.chromium.pid, 'SIGSTOP');
  const asked = b.call('list_tabs', {}, { timeout_ms: 20_000 });
  await sleep(1500);
  process.kill(-b.chromium.pid, 'SIGCONT');
  assert.equal((await asked).success, true);
  // Cut while it slept: what it finds on waking is a dead socket.
  const count = hub().extensions;
  process.kill(-b.chromium.pid, 'SIGSTOP');
  hub().drop();
  process.kill(-b.chromium.pid, 'SIGCONT');
  await until('connected again', () => hub().extensions > count && hub().connected());
  await b.ready();
  assert.equal((await b.ok('ping')).pong, true);
});

for (const [mode, atOnce] of [['wrong-proof', true], ['reflect', true], ['no-challenge', true], ['command-first', true], ['v1', true], ['silent', false]]) {
  // T40, T42.
  test(`a liar on the daemon's port (${mode}) gets close 4004 and nothing done`, async () => {
    await b.daemon.restart({ mode });
    hub().evilUrl = `${b.base}/evil`;
    const began = Date.now();
    await b.chromium.inWorker('chrome.runtime.getPlatformInfo().then(() => 1)');
    await until('told off', () => hub().closes.includes(4004), 40_000);
    if (!atOnce) assert.ok(Date.now() - began >= 4000, 'it had its five seconds');
    await sleep(300);
    assert.deepEqual(hub().frames, [], 'not one frame after the hello');
    assert.equal(b.site.count('/evil'), 0);
    const [text, title, color] = await badge();
    assert.equal(text, '!');
    assert.match(title, new RegExp(`another program answers on 127\\.0\\.0\\.1:${b.daemon.port}`));
    assert.ok(color[0] > 150 && color[1] < 80, 'red');
    // The next mode: the honest daemon first, so that the extension dials at once.
    await b.daemon.restart({});
    await nudge();
    await until('connected to the honest one', () => hub().connected(), 40_000);
    assert.equal((await badge())[0], '');
  });
}

test('a popup that is open meanwhile asks nothing of who has not proved itself: a daemon would turn the browser away for it', async () => {
  const popup = await openPopup(b);
  await popupShows(b, popup, 'state', /Connected/);
  await b.daemon.restart({ mode: 'silent' });
  // It asks every second, so several times within the five seconds that are left for the proof.
  await until('told off', () => hub().closes.includes(4004), 40_000);
  assert.deepEqual(hub().frames, [], 'not one frame after the hello');
  await b.chromium.cdp.send('Target.closeTarget', { targetId: popup });
  await b.daemon.restart({});
  await nudge();
  await until('connected to the honest one', () => hub().connected(), 40_000);
});

test('a key file that is rewritten counts at the next connect, without a reload', async () => {
  const key = randomBytes(32);
  await b.daemon.restart({ key });
  await until('told off', () => hub().closes.includes(4004), 40_000);
  writePairing(b.extension, { url: hub().url, key_id: 'k-second00', key: key.toString('base64url'), browser_id: null });
  await nudge();
  await until('connected with the new key', () => hub().connected(), 40_000);
  assert.equal(hub().hellos.at(-1).key_id, 'k-second00');
});

// T42.
test('a port that takes the connection and says nothing at all is a liar too', async () => {
  const { port } = b.daemon;
  await b.daemon.stop();
  const sockets = new Set();
  const mute = net.createServer((s) => { sockets.add(s); s.on('error', () => {}); });
  await new Promise((r) => mute.listen(port, '127.0.0.1', r));
  await until('the badge warns', async () => (await badge())[0] === '!', 40_000);
  for (const s of sockets) s.destroy();
  await new Promise((r) => mute.close(r));
  await b.daemon.restart({});
});
