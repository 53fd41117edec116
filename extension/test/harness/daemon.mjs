// The real daemon, `bridged serve`, with folders of its own; or, where it has not been built, the small hub in node.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyOf, startHub } from './hub.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

/** The daemon's binary, or undefined. BRIDGED_BIN names it; BRIDGED_BIN=hub asks for the hub in node. */
export function findDaemon() {
  const { BRIDGED_BIN } = process.env;
  if (BRIDGED_BIN === 'hub') return undefined;
  if (BRIDGED_BIN) return BRIDGED_BIN;
  return ['release', 'debug'].map((p) => path.join(root, 'target', p, 'bridged')).find((f) => fs.existsSync(f));
}

/** Starts a daemon and writes pairing.json into the extension folder. */
export async function startDaemon({ dir, extension, kind, policy }) {
  const binary = kind === 'hub' ? undefined : findDaemon();
  if (kind === 'real' && !binary) throw new Error('bridged is not built: cargo build -p bridged, or name it in BRIDGED_BIN');
  return binary ? realDaemon(binary, dir, extension) : nodeHub(extension, policy);
}

async function nodeHub(extension, policy) {
  const secret = randomBytes(32);
  const keyId = 'k-harness1';
  const key = keyOf(secret, keyId);
  let hub = await startHub({ key, policy });
  const { port } = hub;
  writePairing(extension, { url: hub.url, key_id: keyId, key: key.toString('base64url'), browser_id: null });
  return {
    kind: 'hub', port, url: hub.url, key, keyId,
    hub: () => hub,
    stop: () => hub.stop(),
    restart: async (options = {}) => { await hub.stop(); hub = await startHub({ key, policy, port, ...options }); },
  };
}

async function realDaemon(binary, dir, extension) {
  const xdg = (name) => { const d = path.join(dir, name); fs.mkdirSync(d, { recursive: true, mode: 0o700 }); return d; };
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith('BRIDGED_'))),
    HOME: xdg('home'), BRIDGED_HTTP_PORT: '0', XDG_STATE_HOME: xdg('state'), XDG_CONFIG_HOME: xdg('config'), XDG_RUNTIME_DIR: xdg('run'),
  };
  let child;
  const serve = async (port) => {
    const log = path.join(dir, 'daemon.log');
    const out = fs.openSync(log, 'w');
    child = spawn(binary, ['serve', '--port', String(port)], { env, stdio: ['ignore', out, out], detached: true });
    fs.closeSync(out);
    let failed;
    child.on('error', (e) => { failed = e.message; });
    for (let i = 0; i < 500; i++) {
      if (failed || child.exitCode !== null) throw new Error(`bridged ended: ${failed ?? fs.readFileSync(log, 'utf8')}`);
      const text = fs.readFileSync(log, 'utf8');
      const found = port || Number(/ws:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1] ?? /127\.0\.0\.1:(\d+)/.exec(text)?.[1] ?? 0);
      if (found && (await listens(found))) return found;
      await sleep(20);
    }
    throw new Error(`bridged does not listen: ${fs.readFileSync(log, 'utf8')}`);
  };
  const end = async () => {
    const gone = new Promise((r) => (child.exitCode !== null || child.signalCode ? r() : child.once('exit', r)));
    child.kill('SIGTERM');
    await Promise.race([gone, sleep(4000)]);
    try { process.kill(-child.pid, 'SIGKILL'); } catch { /* gone */ }
  };
  const port = await serve(0);
  const run = (...args) => execFileSync(binary, args, { env, encoding: 'utf8', timeout: 20_000 });
  // Install into a folder of its own and take the key file: the build under test stays as it is.
  const installed = path.join(dir, 'installed');
  run('extension', 'install', installed, '--port', String(port));
  fs.copyFileSync(path.join(installed, 'pairing.json'), path.join(extension, 'pairing.json'));
  const { key_id: keyId, key } = JSON.parse(fs.readFileSync(path.join(installed, 'pairing.json'), 'utf8'));
  return {
    kind: 'real', port, url: `ws://127.0.0.1:${port}`, keyId, key: Buffer.from(key, 'base64url'), run, env,
    log: () => fs.readFileSync(path.join(dir, 'daemon.log'), 'utf8'),
    stop: end,
    restart: async () => { await end(); await serve(port); },
  };
}

export function writePairing(extension, pairing) {
  fs.writeFileSync(path.join(extension, 'pairing.json'), JSON.stringify(pairing), { mode: 0o600 });
}

const listens = (port) => new Promise((r) => {
  const s = net.connect(port, '127.0.0.1');
  s.once('connect', () => { s.destroy(); r(true); });
  s.once('error', () => r(false));
});
