// A client of the bridge as anybody would write one: Browser Bridge v1 over WebSocket.
import { connect } from './ws.mjs';

export async function openClient(url, hello = {}) {
  const socket = await connect(url);
  socket.send(JSON.stringify({ type: 'hello', role: 'client', name: 'extension tests', ...hello }));
  const waiting = new Map();
  let count = 0;
  let closed;
  socket.on('message', (text) => {
    const frame = JSON.parse(text);
    const waiter = waiting.get(frame.id);
    if (waiter) { waiting.delete(frame.id); waiter.resolve(frame); } else if (frame.type === 'error') closed = new Error(frame.error);
  });
  socket.on('close', (code) => {
    for (const w of waiting.values()) w.reject(closed ?? new Error(`the connection was closed: ${code}`));
    waiting.clear();
  });

  const client = {
    socket,
    /** The whole answer. `frame` holds further fields of the request, such as once, timeout_ms, class. */
    call(method, params = {}, frame = {}) {
      const id = frame.id ?? `t${++count}`;
      return new Promise((resolve, reject) => {
        const ms = (frame.timeout_ms ?? 30_000) + 5000;
        const timer = setTimeout(() => { waiting.delete(id); reject(new Error(`${method}: no answer in ${ms} ms`)); }, ms);
        const settle = (f) => (v) => { clearTimeout(timer); f(v); };
        waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
        socket.send(JSON.stringify({ ...frame, id, method, params }));
      });
    },
    /** The result; an error answer is thrown. */
    async ok(method, params, frame) {
      const answer = await client.call(method, params, frame);
      if (!answer.success) throw Object.assign(new Error(`${method}: ${answer.code}: ${answer.error}`), { answer });
      return answer.result;
    },
    /** The error answer; a success is thrown. */
    async fails(method, params, frame) {
      const answer = await client.call(method, params, frame);
      if (answer.success) throw new Error(`${method} succeeded: ${JSON.stringify(answer.result)}`);
      return answer;
    },
    close: () => socket.close(),
  };
  return client;
}
