// WebSocket for both ends on node's own net module (node 20 has no client of its own): text frames, fragments, ping, close.
import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import net from 'node:net';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const acceptOf = (key) => createHash('sha1').update(key + GUID).digest('base64');

/** One connection. Events: message (text), close (code). */
export class Socket extends EventEmitter {
  constructor(stream, isClient) {
    super();
    this.stream = stream;
    this.isClient = isClient;
    this.code = 1006;
    this.chunks = [];
    this.size = 0;
    this.parts = [];
    this.open = true;
    stream.setNoDelay(true);
    stream.on('data', (d) => this.#feed(d));
    stream.on('error', () => {});
    stream.on('close', () => { this.open = false; this.emit('close', this.code); });
  }

  #feed(data) {
    this.chunks.push(data);
    this.size += data.length;
    for (;;) {
      if (this.chunks.length > 1 && (this.need === undefined || this.size >= this.need)) this.chunks = [Buffer.concat(this.chunks)];
      if (this.need !== undefined && this.size < this.need) return;
      const b = this.chunks[0];
      if (!b || b.length < 2) return;
      let length = b[1] & 127, at = 2;
      if (length === 126) { if (b.length < 4) return; length = b.readUInt16BE(2); at = 4; }
      else if (length === 127) { if (b.length < 10) return; length = Number(b.readBigUInt64BE(2)); at = 10; }
      const masked = (b[1] & 128) !== 0;
      const total = at + (masked ? 4 : 0) + length;
      if (b.length < total) { this.need = total; return; }
      this.need = undefined;
      const payload = Buffer.from(b.subarray(at + (masked ? 4 : 0), total));
      if (masked) { const mask = b.subarray(at, at + 4); for (let i = 0; i < payload.length; i++) payload[i] ^= mask[i & 3]; }
      this.chunks = [b.subarray(total)];
      this.size -= total;
      this.#frame(b[0] & 15, (b[0] & 128) !== 0, payload);
    }
  }

  #frame(op, fin, payload) {
    if (op === 8) {
      this.code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      if (this.open) { this.#write(8, payload); this.stream.end(); }
    } else if (op === 9) this.#write(10, payload);
    else if (op <= 2) {
      this.parts.push(payload);
      if (fin) { const text = Buffer.concat(this.parts).toString('utf8'); this.parts = []; this.emit('message', text); }
    }
  }

  #write(op, payload) {
    const n = payload.length;
    const head = Buffer.alloc(n < 126 ? 2 : n < 65536 ? 4 : 10);
    head[0] = 0x80 | op;
    if (n < 126) head[1] = n;
    else if (n < 65536) { head[1] = 126; head.writeUInt16BE(n, 2); } else { head[1] = 127; head.writeBigUInt64BE(BigInt(n), 2); }
    if (!this.isClient) { this.stream.write(head); this.stream.write(payload); return; }
    head[1] |= 128;
    const mask = randomBytes(4);
    const body = Buffer.from(payload);
    for (let i = 0; i < n; i++) body[i] ^= mask[i & 3];
    this.stream.write(Buffer.concat([head, mask, body]));
  }

  send(text) { if (this.open) this.#write(1, Buffer.from(text)); }

  close(code = 1000, reason = '') {
    if (!this.open) return;
    const body = Buffer.alloc(2 + Buffer.byteLength(reason));
    body.writeUInt16BE(code, 0);
    body.write(reason, 2);
    this.#write(8, body);
    this.stream.end();
  }

  /** Cuts the connection without a word. */
  cut() { this.stream.destroy(); }
}

/** Connects as a native program does: no Origin. */
export function connect(url, { timeoutMs = 5000, headers = {} } = {}) {
  const u = new URL(url);
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString('base64');
    const stream = net.connect({ host: u.hostname, port: Number(u.port || 80) });
    const fail = (why) => { clearTimeout(timer); stream.destroy(); reject(new Error(`${url}: ${why}`)); };
    const timer = setTimeout(() => fail('no handshake'), timeoutMs);
    stream.once('error', (e) => fail(e.message));
    stream.once('close', () => fail('closed before the handshake'));
    stream.once('connect', () => stream.write([`GET ${u.pathname || '/'} HTTP/1.1`, `Host: ${u.host}`, 'Upgrade: websocket', 'Connection: Upgrade',
      `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Version: 13', ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`), '', ''].join('\r\n')));
    let head = Buffer.alloc(0);
    stream.on('data', function onData(chunk) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = head.subarray(0, end).toString('latin1');
      if (!text.startsWith('HTTP/1.1 101')) return fail(text.split('\r\n')[0]);
      if (!text.includes(acceptOf(key))) return fail('wrong Sec-WebSocket-Accept');
      clearTimeout(timer);
      stream.removeAllListeners();
      const rest = head.subarray(end + 4);
      const socket = new Socket(stream, true);
      resolve(socket);
      if (rest.length) setImmediate(() => stream.emit('data', rest));
    });
  });
}

/** Answers an http server's upgrade; returns the connection. */
export function accept(req, stream) {
  stream.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(req.headers['sec-websocket-key'])}\r\n\r\n`);
  return new Socket(stream, false);
}
