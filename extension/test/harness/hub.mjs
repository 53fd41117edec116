// A small hub in node: the daemon's side of the proof and of the protocol, just enough to drive the extension where the real daemon
// is not built, and, with `mode`, the liar on the daemon's port that the proof tests need.
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import http from 'node:http';
import { accept } from './ws.mjs';

const b64 = (bytes) => Buffer.from(bytes).toString('base64url');

export function keyOf(root, keyId) {
  return Buffer.from(hkdfSync('sha256', root, Buffer.alloc(0), `ext|${keyId}`, 32));
}

/** The transcript that both sides sign: each field with its length in front. */
export function transcript(fields) {
  const parts = [];
  for (const field of ['bridged-proof-v2', ...fields]) {
    const bytes = Buffer.isBuffer(field) ? field : Buffer.from(field);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    parts.push(length, bytes);
  }
  return Buffer.concat(parts);
}
export const mac = (key, letter, t) => createHmac('sha256', key).update(letter).update(t).digest();

/**
 * mode: 'honest' | 'silent' (never answers the hello) | 'wrong-proof' | 'no-challenge' (sends hello_ack and a command at once) |
 * 'command-first' (a command instead of the challenge) | 'reflect' (sends the nonce back as a proof) | 'v1'.
 */
export async function startHub({ port = 0, key, mode = 'honest', policy = {} } = {}) {
  const hub = { key, mode, hellos: [], frames: [], closes: [], origins: [], extensions: 0 };
  let extension;
  let count = 0;
  const pending = new Map();
  const server = http.createServer((req, res) => res.writeHead(426).end());
  const sockets = new Set();
  server.on('connection', (s) => { sockets.add(s); s.on('close', () => sockets.delete(s)); });
  server.on('upgrade', (req, stream) => {
    hub.origins.push(req.headers.origin);
    const ws = accept(req, stream);
    let state = 'hello', hello, nonceS, client;
    ws.on('close', (code) => {
      hub.closes.push(code);
      if (extension === ws) {
        extension = undefined;
        for (const [id, p] of pending) if (p.ws === ws) { pending.delete(id); p.reply({ success: false, error: 'extension disconnected', code: 'EXTENSION_DISCONNECTED', maybe_executed: true }); }
      }
    });
    const t = () => transcript([hello.role, hello.key_id ?? '', hello.browser_id ?? '', Buffer.from(hello.nonce, 'base64url'), nonceS, `127.0.0.1:${hub.port}`, req.headers.origin ?? '']);
    ws.on('message', (text) => {
      const frame = JSON.parse(text);
      if (state === 'hello') {
        hello = frame;
        if (frame.type !== 'hello') { ws.send(JSON.stringify({ type: 'error', error: 'expected hello message' })); return ws.close(1008); }
        if (frame.role === 'client') { state = 'client'; client = frame.client_id ?? `c-${++count}`; return; }
        hub.hellos.push(frame);
        nonceS = randomBytes(32);
        const command = JSON.stringify({ id: 'evil', method: 'new_tab', params: { url: hub.evilUrl ?? 'http://127.0.0.1:9/' }, client_id: 'x' });
        if (hub.mode === 'silent') { state = 'mute'; return; }
        if (hub.mode === 'v1') { state = 'mute'; return ws.send(command); }
        if (hub.mode === 'command-first') { state = 'mute'; return ws.send(command); }
        if (hub.mode === 'no-challenge') { state = 'mute'; ws.send(JSON.stringify({ type: 'hello_ack', protocol: 2 })); return ws.send(command); }
        const proof = hub.mode === 'wrong-proof' ? randomBytes(32) : hub.mode === 'reflect' ? Buffer.from(hello.nonce, 'base64url') : mac(hub.key, 'S', t());
        state = 'confirm';
        return ws.send(JSON.stringify({ type: 'pair_challenge', alg: 'HMAC-SHA256', challenge: b64(nonceS), proof: b64(proof) }));
      }
      if (state === 'confirm') {
        hub.frames.push(frame);
        const right = frame.type === 'pair_confirm' && frame.challenge === b64(nonceS) && frame.signature === b64(mac(hub.key, 'C', t()));
        if (!right) { ws.send(JSON.stringify({ type: 'error', error: 'auth failed', code: 'AUTH_FAILED' })); return ws.close(4003); }
        ws.send(JSON.stringify({ type: 'hello_ack', protocol: 2, browser_id: hello.browser_id, limits: {}, policy, server: { name: 'hub.mjs', version: '0' } }));
        state = 'extension';
        extension?.close(4001, 'replaced');
        extension = ws;
        hub.extensions++;
        return;
      }
      if (state === 'client') return request(frame, client, ws);
      if (state === 'extension') {
        if (frame.method === 'ping') return ws.send(JSON.stringify({ id: frame.id, success: true, result: { pong: true } }));
        hub.frames.push(frame);
        hub.onText?.(text);
        const p = pending.get(frame.id);
        if (p) { pending.delete(frame.id); p.reply(frame, text); }
        return;
      }
      hub.frames.push(frame);
    });
  });

  function request(frame, client, ws) {
    const { id } = frame;
    const answer = (body) => ws.send(JSON.stringify({ ...body, id }));
    if (typeof id !== 'string' || !id) return ws.send(JSON.stringify({ id: '', success: false, error: 'missing id', code: 'INVALID_REQUEST' }));
    if (frame.method === 'ping') return answer({ id, success: true, result: { pong: true } });
    if (!extension) return answer({ id, success: false, error: 'no extension connected', code: 'NO_EXTENSION' });
    const wire = `h${++count}`;
    const ms = frame.timeout_ms ?? 30_000;
    const timer = setTimeout(() => {
      pending.delete(wire);
      extension?.send(JSON.stringify({ type: 'cancel', id: wire }));
      answer({ id, success: false, error: `timeout: extension did not respond in ${ms / 1000}s`, code: 'TIMEOUT', maybe_executed: true });
    }, ms);
    pending.set(wire, { ws: extension, reply: (body) => { clearTimeout(timer); answer(body); } });
    /** Cancels the request sent last; gives its id on the wire. */
    hub.cancel = () => { extension?.send(JSON.stringify({ type: 'cancel', id: wire })); return wire; };
    extension.send(JSON.stringify({ id: wire, method: frame.method, params: frame.params ?? {}, client_id: client, class: frame.class ?? 'person', timeout_ms: ms, ...(frame.once === undefined ? {} : { once: frame.once }) }));
  }

  await new Promise((resolve, reject) => { server.once('error', reject); server.listen(port, '127.0.0.1', resolve); });
  hub.port = server.address().port;
  hub.url = `ws://127.0.0.1:${hub.port}`;
  hub.connected = () => extension !== undefined;
  hub.tell = (frame) => extension?.send(JSON.stringify(frame));
  hub.drop = () => extension?.cut();
  hub.stop = () => new Promise((r) => { for (const s of sockets) s.destroy(); server.close(r); });
  return hub;
}
