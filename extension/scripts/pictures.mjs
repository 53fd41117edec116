#!/usr/bin/env node
// Takes the pictures of the README from the real thing: the daemon, a Chromium with the extension, agents at work. `npm run pictures`
// writes docs/pictures/*.png; look at them before committing. The overlay is taken by DevTools, since the bridge leaves it out of its own.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPopup, popupShows } from '../test/harness/popup.mjs';
import { start } from '../test/harness/start.mjs';

const out = path.resolve(process.argv[2] ?? path.join(path.dirname(fileURLToPath(import.meta.url)), '../../docs/pictures'));
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const MOST_BYTES = 80_000;

const order = `<!doctype html><html lang="en"><title>Tea to order</title><style>
  :root { color-scheme: light dark } body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#f4f6f8, #14181d); color: light-dark(#1b1f24, #e6e8eb) }
  main { width: 620px; margin: 34px auto; padding: 26px 34px 30px; border-radius: 12px; background: light-dark(#fff, #1d2329); box-shadow: 0 1px 4px light-dark(#0002, #0008) }
  h1 { margin: 0 0 14px; font-size: 24px } label { display: grid; grid-template-columns: 130px 1fr; align-items: center; margin: 10px 0 }
  input, select { padding: 7px 10px; border: 1px solid light-dark(#c9d1d9, #444c56); border-radius: 7px; background: light-dark(#fff, #14181d); color: inherit; font: inherit }
  p { margin: 20px 0 0; text-align: right } button { padding: 8px 20px; border: 0; border-radius: 7px; background: light-dark(#2f7d4f, #3d9a63); color: #fff; font: inherit; font-weight: 600 }
</style><main><h1>Tea to order</h1><label>Name <input id="name"></label><label>Tea <select id="tea"><option>Oolong<option>Darjeeling</select></label><label>Send to <input id="town"></label>
<p><button id="order">Order now</button></p></main></html>`;

const b = await start({ daemon: 'real', pages: { '/order': order, '/mail': '<title>Inbox (3) – Post</title><h1>Inbox</h1>' }, flags: ['--hide-scrollbars', '--force-device-scale-factor=1.5'] });
try {
  fs.mkdirSync(out, { recursive: true });
  const token = b.daemon.run('token').trim();
  const agent = await b.client({ protocol: 2, name: 'Claude Code', token });
  const other = await b.client({ protocol: 2, name: 'mail helper', token });
  const { tab_id: tab } = await agent.ok('new_tab', { url: `${b.base}/order` });
  await other.ok('new_tab', { url: `${b.base}/mail` });
  await b.chromium.inWorker('chrome.storage.local.set({ overlay: { box: true, cursor: true } })');
  const [{ targetId }] = await b.chromium.targets((t) => t.type === 'page' && t.url.endsWith('/order'));
  const page = await attach(targetId);
  await agent.ok('set_value', { tab_id: tab, target: { by: 'label', value: 'Name' }, value: 'Mei Lin' });
  await agent.ok('set_value', { tab_id: tab, target: { by: 'label', value: 'Send to' }, value: 'Hangzhou' });

  await page('Emulation.setDeviceMetricsOverride', { width: 760, height: 365, deviceScaleFactor: 1.5, mobile: false });
  // Slowly, so that the picture shows the middle of the movement.
  await page('Animation.enable');
  await page('Animation.setPlaybackRate', { playbackRate: 0.25 });
  for (const scheme of ['light', 'dark']) {
    await colours(page, scheme);
    await sleep(300);
    await agent.ok('click', { tab_id: tab, target: { by: 'text', value: 'Order now' } });
    await sleep(900);
    save(`overlay-${scheme}`, await page('Page.captureScreenshot', { format: 'png' }));
    await sleep(2000);
  }

  const waiting = other.call('wait_for', { text: 'A mail that never comes', timeout: 25_000 }).catch(() => {});
  const popupTarget = await openPopup(b);
  const popup = await attach(popupTarget);
  await agent.ok('type_text', { tab_id: tab, target: { value: '#name' }, text: '!' });
  await popupShows(b, popupTarget, 'acting-state', /mail helper/);
  await popupShows(b, popupTarget, 'acting', /type_text/);
  await popupShows(b, popupTarget, 'round-trip', /^[0-2] s/);
  for (const scheme of ['light', 'dark']) {
    await colours(popup, scheme);
    await sleep(300);
    // All of it, however much of it the window without a screen makes room for.
    const { result: { value: height } } = await popup('Runtime.evaluate', { expression: 'Math.ceil(document.body.getBoundingClientRect().height)', returnByValue: true });
    save(`popup-${scheme}`, await popup('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip: { x: 0, y: 0, width: 330, height, scale: 1 } }));
  }
  b.chromium.cdp.send('Target.closeTarget', { targetId: popupTarget }).catch(() => {});
  other.close();
  await waiting;
} finally {
  await b.stop();
}

async function attach(target) {
  const { sessionId } = await b.chromium.cdp.send('Target.attachToTarget', { targetId: target, flatten: true });
  return (method, params) => b.chromium.cdp.send(method, params, sessionId);
}

function colours(send, value) {
  return send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
}

function save(name, { data }) {
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length > MOST_BYTES) throw new Error(`${name}.png has ${bytes.length} bytes`);
  fs.writeFileSync(path.join(out, `${name}.png`), bytes);
  console.log(`${path.join(out, name)}.png: ${bytes.length} bytes`);
}
