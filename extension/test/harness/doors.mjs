// Every door of the daemon behind one shape: `call(method, params)` gives `{ok: true, result}` or `{ok: false, code, error}`. MCP's
// results are for models, not for programs: `shown` holds what its text blocks say, between the marks, and `picture` its image.
import { spawn } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { findDaemon } from './daemon.mjs';

export const DOORS = ['websocket', 'unix', 'cli', 'http', 'mcp-stdio', 'mcp-http'];

/** Opens a door of a running harness. Each time it is opened somebody else stands in it. */
export async function openDoor(b, name) {
  const address = /http:\/\/127\.0\.0\.1:(\d+)/.exec(b.daemon.log())?.[1];
  const open = {
    websocket: () => websocket(b),
    unix: () => unix(path.join(b.daemon.env.XDG_RUNTIME_DIR, 'bridged/bridged.sock')),
    cli: () => cli(b.daemon.env),
    http: () => httpCommand(address),
    'mcp-stdio': () => mcpStdio(b.daemon.env),
    'mcp-http': () => mcpHttp(address),
  };
  return { name, ...(await open[name]()) };
}

const fromFrame = (f) => (f.success ? { ok: true, result: f.result } : { ok: false, code: f.code, error: f.error });

async function websocket(b) {
  const client = await b.client({ client_id: `doors-${Math.random().toString(36).slice(2)}` });
  return { call: async (method, params) => fromFrame(await client.call(method, params)), close: () => client.close() };
}

/** Splits what comes at line ends and hands each line on as JSON. */
function lines(stream, got) {
  let rest = Buffer.alloc(0);
  stream.on('data', (d) => {
    rest = Buffer.concat([rest, d]);
    for (let end; (end = rest.indexOf(10)) >= 0; rest = rest.subarray(end + 1)) {
      const text = rest.subarray(0, end).toString();
      if (text.trim()) got(JSON.parse(text));
    }
  });
}

/** Questions and answers with ids over something that sends and receives JSON. */
function asking(send) {
  const waiting = new Map();
  let count = 0;
  return {
    answered(message) {
      waiting.get(String(message.id))?.(message);
      waiting.delete(String(message.id));
    },
    ask: (message) => new Promise((resolve, reject) => {
      const id = String(++count);
      const timer = setTimeout(() => reject(new Error(`no answer to ${JSON.stringify(message)}`)), 45_000);
      waiting.set(id, (answer) => { clearTimeout(timer); resolve(answer); });
      send({ ...message, id });
    }),
  };
}

async function unix(file) {
  const socket = net.connect(file);
  await new Promise((resolve, reject) => { socket.once('connect', resolve); socket.once('error', reject); });
  const { ask, answered } = asking((m) => socket.write(JSON.stringify(m) + '\n'));
  lines(socket, answered);
  // Its first line is a request: that is a hello too.
  return { call: async (method, params = {}) => fromFrame(await ask({ method, params })), close: () => socket.end() };
}

function cli(env) {
  const binary = findDaemon();
  const run = (args) => new Promise((resolve, reject) => {
    // One program behind two names.
    const child = spawn(binary, args, { env, argv0: 'bridge', stdio: ['ignore', 'pipe', 'pipe'] });
    const parts = { stdout: [], stderr: [] };
    for (const name of ['stdout', 'stderr']) child[name].on('data', (d) => parts[name].push(d));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout: String(Buffer.concat(parts.stdout)), stderr: String(Buffer.concat(parts.stderr)) }));
  });
  return {
    async call(method, params = {}) {
      const { code, stdout } = await run(['call', method, JSON.stringify(params), '--json']);
      return code === 0 ? { ok: true, result: JSON.parse(stdout) } : fromFrame(JSON.parse(stdout));
    },
    close() {},
  };
}

function post(port, where, headers, body) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const request = http.request(
      { host: '127.0.0.1', port, path: where, method: 'POST', headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers } },
      (answer) => {
        const parts = [];
        answer.on('data', (d) => parts.push(d));
        answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(parts).toString() }));
      });
    request.on('error', reject);
    request.end(text);
  });
}

function httpCommand(port) {
  const session = `doors-${Math.random().toString(36).slice(2)}`;
  return {
    async call(method, params = {}) {
      const { text } = await post(port, '/command', {}, { toolName: method, args: params, sessionId: session });
      const { data, error } = JSON.parse(text);
      return error ? { ok: false, code: error.code, error: error.message } : { ok: true, result: data };
    },
    close() {},
  };
}

const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'doors test', version: '1' } };

function fromTool({ result, error }) {
  if (error) return { ok: false, code: error.code === -32602 ? 'INVALID_PARAMS' : String(error.code), error: error.message };
  const text = result.content.filter((c) => c.type === 'text').map((c) => c.text).join('\n');
  if (result.isError) return { ok: false, code: /\b([A-Z]+(?:_[A-Z]+)+|TIMEOUT|PAUSED)\b/.exec(text)?.[1], error: text };
  const image = result.content.find((c) => c.type === 'image');
  return {
    ok: true,
    result: result.structuredContent ?? {},
    shown: text,
    picture: image && Buffer.from(image.data, 'base64'),
  };
}

async function mcpStdio(env) {
  const child = spawn(findDaemon(), ['mcp', '--tools', 'all'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const send = (m) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
  const { ask, answered } = asking(send);
  lines(child.stdout, answered);
  await ask({ method: 'initialize', params: CLIENT });
  send({ method: 'notifications/initialized' });
  return {
    call: async (name, params = {}) => fromTool(await ask({ method: 'tools/call', params: { name, arguments: params } })),
    close: () => child.stdin.end(),
  };
}

/** The answer in a body that is JSON or a stream of events. */
const inBody = (text) => JSON.parse(text.startsWith('{') ? text : text.split('\n').filter((l) => l.startsWith('data: {')).map((l) => l.slice(6)).find((l) => 'id' in JSON.parse(l)));

async function mcpHttp(port) {
  const accept = { accept: 'application/json, text/event-stream' };
  const hello = await post(port, '/mcp', accept, { jsonrpc: '2.0', id: 0, method: 'initialize', params: CLIENT });
  const headers = { ...accept, 'mcp-session-id': hello.headers['mcp-session-id'], 'mcp-protocol-version': CLIENT.protocolVersion };
  await post(port, '/mcp', headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
  let count = 0;
  return {
    async call(name, params = {}) {
      const { text } = await post(port, '/mcp', headers, { jsonrpc: '2.0', id: ++count, method: 'tools/call', params: { name, arguments: params } });
      return fromTool(inBody(text));
    },
    close() {},
  };
}
