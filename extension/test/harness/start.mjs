// One call sets up everything a test needs: fixture site, daemon, Chromium with the extension, a client.
//
//   const b = await start({ pages: { '/': '<h1>Hello</h1>' } });
//   const tab = await b.open('/');
//   await b.ok('click', { tab_id: tab, target: { value: 'h1' } });
//   await b.page(tab, 'document.title');      // through run_script
//   await b.inPage('/', 'document.title');    // through CDP: independent of what is being tested
//   await b.stop();
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSION_ID, startChromium } from './chromium.mjs';
import { openClient } from './client.mjs';
import { startDaemon } from './daemon.mjs';
import { startSite } from './site.mjs';

const extensionRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

/** Builds the extension straight into the test's own folder: tests beside each other share nothing. */
function build(out) {
  execFileSync(process.execPath, [path.join(extensionRoot, 'build.mjs'), `--out=${out}`], { stdio: ['ignore', 'inherit', 'inherit'] });
}

/**
 * pages, routes, dir: the site (site.mjs). daemon: 'real' | 'hub' (default: real if built). userScripts: false leaves Chrome's switch
 * off. flags: for Chromium. headful: with a window (needs an X server). occlusion: windows that others cover are put to sleep. env: Chromium's environment (display.mjs gives one with a screen). bar: Chrome says in a bar that it is debugged. policy: what the node hub announces. connect: false does not wait for the extension.
 */
export async function start(options = {}) {
  const { daemon: kind, userScripts, flags, headful, occlusion, env, bar, policy, connect = true, ...siteOptions } = options;
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bridged-test-'));
  const stops = [];
  const stop = async () => {
    for (const s of stops.reverse()) await s();
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    const extension = path.join(dir, 'extension');
    build(extension);
    const site = await startSite(siteOptions);
    stops.push(() => site.stop());
    const daemon = await startDaemon({ dir, extension, kind, policy });
    stops.push(() => daemon.stop());
    const chromium = await startChromium({ dir, extension, userScripts, flags, headful, occlusion, env, bar });
    stops.push(() => chromium.stop());
    const first = await openClient(daemon.url);

    const b = {
      dir, extension, extensionId: EXTENSION_ID, site, daemon, chromium,
      base: site.base, cross: site.cross, said: site.said,
      heard: site.heard,
      call: (...args) => b.main.call(...args),
      ok: (...args) => b.main.ok(...args),
      fails: (...args) => b.main.fails(...args),
      main: first,
      /** Another client; `hello` may name a client_id. */
      client: (hello) => openClient(daemon.url, hello),
      inPage: chromium.inPage,
      /** Opens a tab at a path of the site (or an address) and gives its id. */
      async open(where = '/') {
        return (await b.ok('new_tab', { url: /^[a-z]+:/.test(where) ? where : site.base + where })).tab_id;
      },
      /** What an expression gives in the page, by way of run_script. */
      async page(tab, code) { return (await b.ok('run_script', { tab_id: tab, code })).result; },
      /** Waits until the extension answers. */
      async ready(ms = 20_000) {
        const end = Date.now() + ms;
        for (;;) {
          let last;
          try {
            if (!b.main.socket.open) b.main = await openClient(daemon.url);
            last = await b.call('list_tabs', {}, { timeout_ms: 2000 });
            if (last.success) return;
          } catch (e) { last = { error: e.message }; }
          if (Date.now() > end) throw new Error(`the extension does not answer: ${last.error}; ${await chromium.workerSays()}; ${fs.readFileSync(path.join(dir, 'chromium.log'), 'utf8').slice(-500)}`);
          await sleep(30);
        }
      },
      stop,
    };
    if (connect) await b.ready();
    return b;
  } catch (e) {
    await stop();
    throw e;
  }
}
