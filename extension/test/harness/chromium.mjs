// Starts a Chromium of its own with the extension: fresh profile, seeded so that user scripts are allowed, in its own process group,
// driven over a pipe. Stops only what it started.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export const EXTENSION_ID = 'fdembngelboffhfimppaoglbmaphnhfm';
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

const BINARIES = [process.env.CHROME, '/usr/lib/chromium/chromium', '/usr/bin/chromium', '/usr/bin/google-chrome-for-testing'];

export function findChromium() {
  const found = BINARIES.find((b) => b && fs.existsSync(b));
  if (!found) throw new Error('no Chromium found: install it, or name it in CHROME');
  return found;
}

/** CDP over the pipe: fd 3 in, fd 4 out, JSON ended by NUL. */
class Cdp {
  constructor(child) {
    this.input = child.stdio[3];
    this.waiting = new Map();
    this.count = 0;
    let rest = Buffer.alloc(0);
    this.input.on('error', () => {});
    child.stdio[4].on('error', () => {});
    child.stdio[4].on('data', (d) => {
      rest = Buffer.concat([rest, d]);
      for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
        const message = JSON.parse(rest.subarray(0, end).toString());
        const waiter = this.waiting.get(message.id);
        if (!waiter) continue;
        this.waiting.delete(message.id);
        if (message.error) waiter.reject(new Error(`${waiter.method}: ${message.error.message}`)); else waiter.resolve(message.result);
      }
    });
  }

  send(method, params = {}, sessionId) {
    return new Promise((resolve, reject) => {
      const id = ++this.count;
      const timer = setTimeout(() => { this.waiting.delete(id); reject(new Error(`${method}: no answer`)); }, 15_000);
      const done = (f) => (v) => { clearTimeout(timer); f(v); };
      this.waiting.set(id, { method, resolve: done(resolve), reject: done(reject) });
      this.input.write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    });
  }
}

export async function startChromium({ dir, extension, userScripts = true, flags = [], headful = false, occlusion = false, env, bar = false }) {
  const profile = path.join(dir, 'profile');
  const downloads = path.join(dir, 'downloads');
  fs.mkdirSync(path.join(profile, 'Default'), { recursive: true });
  fs.mkdirSync(downloads, { recursive: true });
  fs.writeFileSync(path.join(profile, 'Default', 'Preferences'), JSON.stringify({
    extensions: { ui: { developer_mode: true }, settings: userScripts ? { [EXTENSION_ID]: { user_scripts_enabled: true } } : {} },
    download: { default_directory: downloads, prompt_for_download: false },
    credentials_enable_service: false,
    profile: { password_manager_enabled: false, default_content_setting_values: { notifications: 2 } },
  }));
  const log = fs.openSync(path.join(dir, 'chromium.log'), 'w');
  const child = spawn(findChromium(), [
    ...(headful ? [] : ['--headless=new']), '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--no-default-browser-check',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--password-store=basic', '--window-size=1280,800',
    ...(bar ? [] : ['--silent-debugger-extension-api']), ...(occlusion ? [] : ['--disable-backgrounding-occluded-windows']), '--remote-debugging-pipe', '--enable-unsafe-extension-debugging',
    `--user-data-dir=${profile}`, `--load-extension=${extension}`, ...flags, 'about:blank',
  ], { stdio: ['ignore', log, log, 'pipe', 'pipe'], detached: true, ...(env ? { env } : {}) });
  fs.closeSync(log);
  const exited = new Promise((r) => child.on('exit', r));
  const cdp = new Cdp(child);

  const targets = async (want) => (await cdp.send('Target.getTargets', { filter: [{}] })).targetInfos.filter(want);
  /** Evaluates in the page's own world of a target, attached for just that. */
  const evaluate = async (targetId, expression) => {
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
    try {
      const r = await cdp.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true, userGesture: true }, sessionId);
      if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
      return r.result.value;
    } finally {
      await cdp.send('Target.detachFromTarget', { sessionId }).catch(() => {});
    }
  };
  const workers = () => targets((t) => t.type === 'service_worker' && t.url.startsWith(`chrome-extension://${EXTENSION_ID}/`));

  /** Stops the worker as Chrome does when it is idle; resolves when it is gone. */
  const stopWorker = async () => {
    const running = await workers();
    for (const t of running) await cdp.send('Target.closeTarget', { targetId: t.targetId });
    for (const end = Date.now() + 10_000; (await workers()).some((t) => running.some((r) => r.targetId === t.targetId)); await sleep(20)) {
      if (Date.now() > end) throw new Error('the worker does not end');
    }
    return running.length;
  };

  return {
    pid: child.pid,
    cdp,
    downloads,
    targets,
    evaluate,
    /** Evaluates in the page whose address contains `part`: a look at the effect that does not go through the product. */
    async inPage(part, expression) {
      const [page] = await targets((t) => t.type === 'page' && t.url.includes(part));
      if (!page) throw new Error(`no page with ${part} in its address`);
      return evaluate(page.targetId, expression);
    },
    /** Evaluates in the extension's worker. Keeps it alive while it runs. */
    async inWorker(expression) {
      const [worker] = await workers();
      if (!worker) throw new Error('the worker is not running');
      return evaluate(worker.targetId, expression);
    },
    /** For a failure: whether the worker runs, since when, and what its button says of the connection. */
    async workerSays() {
      try {
        const [worker] = await workers();
        return worker ? await evaluate(worker.targetId, 'chrome.action.getTitle({}).then((title) => `the worker has run for ${Math.round(performance.now())} ms and says ${JSON.stringify(title)}`)') : 'the worker is not running';
      } catch (e) {
        return `the worker runs but says nothing: ${e.message}`;
      }
    },
    stopWorker,
    /** Stops the worker and has an event, a tab that opens, start the next one at once, instead of at the next alarm; resolves when that one is there. */
    async restartWorker() {
      await stopWorker();
      const { targetId } = await cdp.send('Target.createTarget', { url: 'about:blank', background: true });
      for (const end = Date.now() + 10_000; !(await workers()).length; await sleep(20)) {
        if (Date.now() > end) throw new Error('the event does not start the worker');
      }
      await cdp.send('Target.closeTarget', { targetId });
    },
    async stop() {
      await Promise.race([cdp.send('Browser.close').catch(() => {}), sleep(2000)]);
      await Promise.race([exited, sleep(3000)]);
      try { process.kill(-child.pid, 'SIGKILL'); } catch { /* the group is gone */ }
    },
  };
}
