// Measures MCP servers side by side; ../compare-mcp sets it up. A round takes every server in turn, so that a busy moment of the
// machine falls on all of them; what is printed is the median of the rounds.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { start } from '../../extension/test/harness/start.mjs';
import { McpServer, memoryOf, median } from './server.mjs';

const args = process.argv.slice(2);
const json = args.includes('--json');
const at = args.indexOf('--rounds');
const rounds = at < 0 ? 5 : Number(args[at + 1]);
const named = args.filter((arg, i) => !arg.startsWith('--') && (at < 0 || i !== at + 1));
const CHROMIUM = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
const modules = process.env.COMPARE_NODE;
const PAUSE = 200;
const CALLS = 30;

/** How each is started, and what its tools are called: a list of tabs, and a script that takes its time. */
const SERVERS = {
  bridged: {
    prepare: async () => {
      const b = await start({ daemon: 'real', pages: { '/': '<title>Home</title><h1>Home</h1>' } });
      return { b, env: b.daemon.env, stop: () => b.stop(), daemon: () => daemonOf(b.daemon.env) };
    },
    command: () => [process.env.BRIDGED_BIN, 'mcp'],
    open: (server, { b }) => server.tool('new_tab', { url: `${b.base}/` }),
    light: (server) => server.tool('list_tabs', {}),
    slow: (server) => server.tool('run_script', { code: `await new Promise((done) => setTimeout(done, ${PAUSE})); return 1` }),
  },
  'chrome-devtools': {
    command: () => [process.execPath, path.join(modules, 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'), '--headless', '--isolated',
      `--executablePath=${CHROMIUM}`, '--chromeArg=--no-sandbox', '--usageStatistics=false'],
    open: async (server) => { server.page = Number(/^(\d+):/m.exec((await server.tool('list_pages', {})).content[0].text)[1]); },
    light: (server) => server.tool('list_pages', {}),
    slow: (server) => server.tool('evaluate_script', { pageId: server.page, function: `async () => { await new Promise((done) => setTimeout(done, ${PAUSE})); return 1 }` }),
  },
  playwright: {
    command: () => [process.execPath, path.join(modules, '@playwright/mcp/cli.js'), '--headless', '--isolated', '--no-sandbox', '--executable-path', CHROMIUM],
    light: (server) => server.tool('browser_tabs', { action: 'list' }),
    slow: (server) => server.tool('browser_evaluate', { function: `async () => { await new Promise((done) => setTimeout(done, ${PAUSE})); return 1 }` }),
  },
};

/** The daemon's process, by its lock. */
function daemonOf(env) {
  try { return JSON.parse(fs.readFileSync(path.join(env.XDG_STATE_HOME, 'bridged/bridged.lock'), 'utf8')).pid; } catch { return undefined; }
}

async function measure(name, how, ready, note) {
  const server = new McpServer(how.command(), ready.env);
  try {
    note('start to initialize, ms', await server.initialize());
    const { tools, bytes } = await server.list();
    note('tools', tools);
    note('tools/list, bytes', bytes);
    note('bytes a tool', Math.round(bytes / tools));
    await how.open?.(server, ready);
    await how.light(server);
    const times = [];
    for (let i = 0; i < CALLS; i++) {
      const begun = performance.now();
      await how.light(server);
      times.push(performance.now() - begun);
    }
    note('a list of tabs, p50 ms', median(times));
    await how.slow(server);
    const begun = performance.now();
    await Promise.all([1, 2, 3, 4].map(() => how.slow(server)));
    note('4 calls of 200 ms at once, ms', performance.now() - begun);
    const daemon = ready.daemon?.();
    note('memory, MB', memoryOf(server.pid) + (daemon ? memoryOf(daemon) : 0));
  } finally {
    await server.stop();
  }
}

/** From nothing: the daemon is started by the server itself. */
async function cold(how, note) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'bridged-cold-'));
  const folder = (of) => { const dir = path.join(home, of); fs.mkdirSync(dir, { mode: 0o700 }); return dir; };
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: folder('state'), XDG_RUNTIME_DIR: folder('run'), XDG_CONFIG_HOME: folder('config'), BRIDGED_PORT: String(20000 + (process.pid % 20000)), BRIDGED_HTTP_PORT: 'off' };
  const server = new McpServer(how.command(), env);
  try {
    note('start to initialize, daemon down, ms', await server.initialize());
  } finally {
    // It may be starting still: asked to end, it is found and waited for.
    await server.tool('ping', {}).catch(() => {});
    await server.stop();
    await new Promise((done) => spawn(process.env.BRIDGED_BIN, ['stop'], { env, stdio: 'ignore' }).on('exit', done));
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

const names = named.length ? named : Object.keys(SERVERS);
const unknown = names.find((name) => !SERVERS[name]);
if (unknown || !(rounds >= 1)) {
  console.error(`compare-mcp: ${unknown ? `there is no ${unknown}` : '--rounds takes a number'}`);
  process.exit(2);
}
const found = Object.fromEntries(names.map((name) => [name, {}]));
const ready = {};
for (const name of names) ready[name] = await SERVERS[name].prepare?.() ?? { env: process.env };
try {
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) {
      process.stderr.write(`  round ${round} of ${rounds}: ${name}\n`);
      const note = (what, value) => { (found[name][what] ??= []).push(value); };
      await measure(name, SERVERS[name], ready[name], note);
      if (name === 'bridged') await cold(SERVERS[name], note);
    }
  }
} finally {
  for (const name of names) await ready[name].stop?.();
}

const rows = [...new Set(names.flatMap((name) => Object.keys(found[name])))];
const value = (name, row) => (found[name][row] ? median(found[name][row]) : undefined);
if (json) {
  console.log(JSON.stringify(Object.fromEntries(names.map((name) => [name, Object.fromEntries(rows.map((row) => [row, value(name, row)]))]))));
} else {
  const shown = (number) => (number === undefined ? '' : number >= 100 ? String(Math.round(number)) : String(Number(number.toFixed(2))));
  console.log(`| median of ${rounds} | ${names.join(' | ')} |\n| --- |${names.map(() => ' ---: |').join('')}`);
  for (const row of rows) console.log(`| ${row} | ${names.map((name) => shown(value(name, row))).join(' | ')} |`);
}
