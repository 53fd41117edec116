// An MCP server on stdio as a client meets it, with nothing between: one JSON text a line.
import { spawn } from 'node:child_process';
import fs from 'node:fs';

const LIMIT_MS = 90_000;

export const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

export class McpServer {
  #waiting = new Map();
  #id = 0;
  #rest = '';

  constructor([program, ...args], env) {
    this.begun = performance.now();
    this.child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.pid = this.child.pid;
    this.ended = new Promise((done) => this.child.on('exit', done));
    this.child.on('error', (e) => this.#fail(e));
    this.child.on('exit', () => this.#fail(new Error(`${program} ended`)));
    this.child.stdin.on('error', () => {});
    this.child.stdout.setEncoding('utf8').on('data', (text) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop();
      for (const line of lines) if (line.trim()) this.#take(line);
    });
  }

  #take(line) {
    const message = JSON.parse(line);
    // A server may ask its client something; there is nothing here to tell it.
    if (message.method !== undefined) {
      if (message.id !== undefined) this.#send({ id: message.id, error: { code: -32601, message: 'not here' } });
      return;
    }
    const waiter = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    waiter?.done({ message, line });
  }

  #fail(error) {
    for (const { failed } of this.#waiting.values()) failed(error);
    this.#waiting.clear();
  }

  #send(message) { this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`); }

  async request(method, params = {}) {
    const id = ++this.#id;
    const answer = new Promise((done, failed) => {
      const timer = setTimeout(() => failed(new Error(`${method}: no answer`)), LIMIT_MS);
      const ended = (then) => (value) => { clearTimeout(timer); then(value); };
      this.#waiting.set(id, { done: ended(done), failed: ended(failed) });
    });
    this.#send({ id, method, params });
    const { message, line } = await answer;
    if (message.error) throw new Error(`${method}: ${message.error.message}`);
    return { result: message.result, line };
  }

  /** How long it took from the start of the process, in milliseconds. */
  async initialize() {
    await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'compare', version: '1' } });
    const took = performance.now() - this.begun;
    this.#send({ method: 'notifications/initialized' });
    return took;
  }

  async list() {
    const { result, line } = await this.request('tools/list');
    return { tools: result.tools.length, bytes: Buffer.byteLength(line) };
  }

  async tool(name, args) {
    const { result } = await this.request('tools/call', { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content).slice(0, 400)}`);
    return result;
  }

  async stop() {
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 5000);
    await this.ended;
    clearTimeout(timer);
  }
}

/** Resident memory of a process and those it started, in MB; the browser is everybody's, so it is left out. */
export function memoryOf(pid) {
  const all = new Map();
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const status = fs.readFileSync(`/proc/${name}/status`, 'utf8');
      const program = fs.readlinkSync(`/proc/${name}/exe`);
      const number = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
      all.set(Number(name), { parent: number('PPid'), kb: number('VmRSS'), browser: /chrom/i.test(program) });
    } catch { /* It has ended meanwhile. */ }
  }
  const sum = (of) => {
    const own = all.get(of);
    if (!own || own.browser) return 0;
    let total = own.kb;
    for (const [other, { parent }] of all) if (parent === of) total += sum(other);
    return total;
  };
  return sum(pid) / 1024;
}
