// network and console: what is recorded, from where, how much of it is kept, and that nothing stays behind.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b, tab, other;
before(async () => {
  other = await otherServer();
  b = await start({
    pages: {
      '/': '<title>Home</title><script src="/__page.js"></script>',
      '/framed': '<title>Framed</title><iframe src="{{cross}}/inner"></iframe>',
      '/flood': '<title>Flood</title><script>window.flood = (n) => { for (let i = 1; i <= n; i++) console.log("line " + i) }</script>',
      '/works': '<title>Works</title><script>new Worker("/work.js")</script>',
      '/deep': '<title>Deep</title><iframe src="{{cross}}/middle"></iframe>',
      '/middle': '<script>console.log("middle says"); fetch("/api/items?middle").then((r) => r.text()); new Worker("/says.js")</script><iframe src="{{base}}/innermost"></iframe>',
      '/innermost': '<script>console.log("innermost says"); fetch("/api/items?innermost").then((r) => r.text())</script>',
      '/leaves': '<title>Leaves</title><script>window.leave = () => fetch("/api/items?left").then((r) => r.text()).then(() => { location.href = "{{cross}}/" })</script>',
      '/inner': '<script>setTimeout(() => { fetch("/api/inner", { method: "POST", body: "sent" }).then((r) => r.text()); console.log("from the frame") }, 300)</script>',
      '/late': '<title>Late</title><button onclick="const n = this.n = (this.n ?? 0) + 1; setTimeout(() => { throw new Error(`thrown ${n}`) })">Throw</button>',
      '/early': '<title>Early</title><script>console.log("before anybody listened"); setTimeout(() => { throw new TypeError("nobody caught me") })</script>',
      '/second': '<title>Second</title><script>console.info("the next page")</script>',
    },
    routes: {
      '/api/items': { body: '[1,2,"drei ✓"]', type: 'application/json' },
      '/api/new': { status: 201, body: '{"ok":true}', type: 'application/json' },
      '/api/inner': { body: '{}', type: 'application/json' },
      '/work.js': { body: 'setTimeout(() => fetch("/api/items?worker").then((r) => r.text()), 300)', type: 'text/javascript' },
      '/says.js': { body: 'console.log("worker says"); fetch("/api/items?inside").then((r) => r.text())', type: 'text/javascript' },
      '/lines': { body: '{"a":1}\n{"b":"ä"}\n', type: 'application/x-ndjson' },
      '/plain': { body: 'Größe 测试', type: 'text/plain' },
      '/latin': { body: Buffer.from([0xe4, 0xf6]), type: 'text/plain; charset=iso-8859-1' },
      '/cookie': { body: 'ok', type: 'text/plain', headers: { 'set-cookie': 'seen=1; HttpOnly' } },
      '/stream': { hang: true, first: 'data: one\n\nevent: named\ndata: two\n\n', type: 'text/event-stream' },
      '/api/gone': { status: 404, body: 'no', type: 'text/plain' },
      '/moved': { redirect: '/api/items?moved', status: 302 },
      '/some.bin': { body: 'abc', type: 'application/octet-stream' },
      '/drop': { drop: true },
    },
  });
  tab = await b.open('/');
});
after(async () => { await b?.stop(); other?.stop(); });

/** Another origin, which answers a known copy with 304, and whose web sockets say hello and hang up at "bye". */
async function otherServer() {
  const server = http.createServer((req, res) => {
    if (req.url === '/copy') return void (req.headers['if-none-match'] ? res.writeHead(304) : res.writeHead(200, { etag: '"1"', 'cache-control': 'no-cache', 'content-type': 'text/plain' })).end(req.headers['if-none-match'] ? undefined : 'the copy');
    res.writeHead(200, { 'content-type': 'text/html' }).end('<title>Other server</title>');
  });
  server.on('upgrade', (req, socket) => {
    socket.on('error', () => {});
    if (req.url === '/none') return void socket.end('HTTP/1.1 503 no\r\n\r\n');
    const accept = createHash('sha1').update(`${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`HTTP/1.1 101 yes\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`);
    socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from('hello')]));
    // A close frame is answered with one.
    socket.on('data', (d) => { if (d[0] === 0x88 || d.includes(0x88)) socket.end(Buffer.from([0x88, 0])); });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  return { base: `http://127.0.0.1:${server.address().port}`, stop: () => { server.closeAllConnections(); server.close(); } };
}

const network = (action, more) => b.ok('network', { tab_id: tab, action, ...more });
const messages = async (more) => (await b.ok('console', { tab_id: tab, ...more })).messages;
/** Repeats until the check passes, for what the browser tells a moment later. */
async function until(look, holds) {
  const end = Date.now() + 5000;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > end) assert.fail(`did not come: ${JSON.stringify(seen)}`);
    await new Promise((r) => setTimeout(r, 50));
  }
}
const settled = (count, filter) => until(async () => (await network('get', { filter })).events, (events) => events.filter((e) => e.duration_ms !== undefined).length >= count);

test('requests of a page: address, method, status, redirects and failures', async () => {
  assert.deepEqual(await network('start'), { status: 'recording', count: 0, tab_id: tab });
  await b.page(tab, `(async () => { await fetch('/api/items?page=1'); await fetch('/api/new', { method: 'POST', body: '{"a":"ä"}' }); await fetch('/api/gone'); await fetch('/moved'); await fetch('/drop').catch(() => {}); })()`);
  const events = await settled(6);
  const of = (part) => events.find((e) => e.url.includes(part));
  assert.deepEqual([of('/api/items?page=1').method, of('/api/items?page=1').status, of('/api/items?page=1').mime], ['GET', 200, 'application/json']);
  assert.deepEqual([of('/api/new').method, of('/api/new').status, of('/api/new').type], ['POST', 201, 'fetch']);
  assert.equal(of('/api/gone').status, 404);
  assert.deepEqual([of('/moved').status, of('/moved').redirected_to], [302, `${b.base}/api/items?moved`]);
  assert.equal(of('items?moved').status, 200);
  assert.match(of('/drop').error, /ERR_/);
  assert.ok(Math.abs(of('/api/new').at - Date.now()) < 60_000);
});

test('a filter, a limit, and one request with its headers and bodies', async () => {
  const { events } = await network('get', { filter: 'post 201' });
  assert.deepEqual(events.map((e) => e.url), [`${b.base}/api/new`]);
  assert.equal((await network('get', { limit: 2 })).events.length, 2);
  const { events: [whole] } = await network('get', { request_id: events[0].request_id });
  assert.equal(whole.request_body, '{"a":"ä"}');
  assert.equal(whole.response_body, '{"ok":true}');
  assert.match(JSON.stringify(whole.response_headers), /application\/json/);
  assert.ok(Object.keys(whole.request_headers).length);
  const items = (await network('get', { filter: 'page=1' })).events[0];
  assert.equal((await network('get', { request_id: items.request_id })).events[0].response_body, '[1,2,"drei ✓"]');
  await b.page(tab, 'fetch("/some.bin").then((r) => r.arrayBuffer()).then(() => 1)');
  const [pixel] = await settled(1, 'some.bin');
  const { events: [binary] } = await network('get', { request_id: pixel.request_id });
  assert.deepEqual([binary.base64, binary.response_body], [true, 'YWJj']);
  assert.equal((await b.fails('network', { tab_id: tab, action: 'get', request_id: 'r0' })).code, 'INVALID_PARAMS');
});

/** The one request whose address has this part, with all there is. */
const whole = async (part) => {
  const [entry] = await settled(1, part);
  return (await network('get', { request_id: entry.request_id })).events[0];
};

test('texts are texts, in the letters that the page reads; what is none is in base64, sent or answered', async () => {
  await b.page(tab, `(async () => { for (const path of ['/lines', '/plain', '/latin']) await fetch(path).then((r) => r.text()); await fetch('/api/new?bytes', { method: 'POST', body: new Uint8Array([0, 255, 1]) }); })()`);
  for (const [path, text] of [['/lines', '{"a":1}\n{"b":"ä"}\n'], ['/plain', 'Größe 测试'], ['/latin', 'äö']]) {
    const { response_body, base64 } = await whole(path);
    assert.deepEqual([response_body, base64], [text, undefined], path);
  }
  const { request_body, request_base64, response_body } = await whole('?bytes');
  assert.deepEqual([request_body, request_base64, response_body], ['AP8B', true, '{"ok":true}']);
});

test('what the network saw: cookies that are set, 304 for a copy, and why a page is not given an answer', async () => {
  await b.page(tab, `fetch('/cookie').then((r) => r.text())`);
  // What the network saw comes on a road of its own, now and then after the rest.
  await until(() => whole('/cookie'), ({ response_headers: headers }) => /seen=1; HttpOnly/.test(JSON.stringify(headers)));
  await b.page(tab, `fetch('${other.base}/refused').catch(() => 0)`);
  const refused = await until(() => whole('/refused'), ({ status }) => status !== undefined);
  assert.deepEqual([refused.status, refused.error], [200, 'net::ERR_FAILED (CORS: MissingAllowOriginHeader)']);
  const there = (await b.ok('new_tab', { url: `${other.base}/` })).tab_id;
  await b.ok('network', { tab_id: there, action: 'start' });
  await b.page(there, `(async () => { for (let i = 0; i < 2; i++) await fetch('/copy').then((r) => r.text()); })()`);
  const events = await until(async () => (await b.ok('network', { tab_id: there, action: 'get', filter: '/copy' })).events, (all) => all.filter((e) => e.duration_ms !== undefined).length === 2 && all[1].status === 304);
  assert.equal(events[0].status, 200);
  const { events: [copy] } = await b.ok('network', { tab_id: there, action: 'get', request_id: events[1].request_id });
  assert.equal(copy.response_body, 'the copy');
  await b.ok('close_tab', { tab_id: there });
});

test('bodies outlive the page that asked for them', async () => {
  tab = await b.open('/leaves');
  await network('start');
  await b.inPage('/leaves', 'leave()');
  await b.ok('wait_for', { tab_id: tab, url: `${b.cross}/` });
  assert.equal((await whole('?left')).response_body, '[1,2,"drei ✓"]');
  await network('stop');
  tab = await b.open('/');
  await network('start');
});

test('web sockets and event streams: what goes to and fro; a web socket that comes to nothing is an error', async () => {
  await b.page(tab, `(async () => {
    const open = (address) => new Promise((done) => { const w = new WebSocket(address); w.onmessage = () => { w.send('hi'); w.send(new Uint8Array([1, 2])); w.close(); }; w.onclose = () => done(1); });
    await open('${other.base.replace('http', 'ws')}/talk');
    await open('${other.base.replace('http', 'ws')}/none');
    await new Promise((done) => new EventSource('/stream').addEventListener('named', done));
  })()`);
  const said = ({ messages }) => messages.map(({ at, ...m }) => { assert.ok(Math.abs(at - Date.now()) < 60_000); return m; });
  const talk = await whole('/talk');
  assert.deepEqual([talk.type, talk.status], ['websocket', 101]);
  assert.deepEqual(said(talk), [{ from: 'server', text: 'hello' }, { from: 'page', text: 'hi' }, { from: 'page', text: 'AQI=', base64: true }]);
  assert.match((await whole('/none')).error, /503|web socket/i);
  const { events: [{ request_id }] } = await network('get', { filter: 'eventsource' });
  const stream = await until(async () => (await network('get', { request_id })).events[0], ({ messages }) => messages?.length === 2);
  assert.deepEqual(said(stream), [{ from: 'server', text: 'one' }, { from: 'server', text: 'two', event: 'named' }]);
});

test('clear forgets, stop ends and keeps, start begins anew', async () => {
  await network('clear');
  assert.deepEqual((await network('get')).events, []);
  await b.page(tab, 'fetch("/api/items?kept").then((r) => r.text())');
  await settled(1, 'kept');
  assert.equal((await network('stop')).status, 'stopped');
  await b.page(tab, 'fetch("/api/items?unseen").then((r) => r.text())');
  const after = await network('get');
  assert.deepEqual([after.status, after.events.map((e) => e.url)], ['stopped', [`${b.base}/api/items?kept`]]);
  const { events: [late] } = await network('get', { request_id: after.events[0].request_id });
  assert.match(late.note, /stopped/);
  assert.equal((await network('start')).count, 0);
  await network('stop');
});

test('only the last 500 are kept, and it says how many are not', async () => {
  await network('start');
  await b.page(tab, `(async () => { for (let i = 0; i < 520; i += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => fetch('/api/items?n=' + (i + k)).then((r) => r.text()))); })()`);
  const { events, dropped } = await until(() => network('get', { limit: 500 }), (r) => (r.dropped ?? 0) >= 20);
  assert.deepEqual([events.length, dropped], [500, 20]);
  await network('stop');
});

test('frames of other sites are recorded too', async () => {
  await network('start');
  await b.ok('console', { tab_id: tab });
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/framed` });
  const [inner] = await settled(1, '/api/inner');
  const { events: [whole] } = await network('get', { request_id: inner.request_id });
  assert.deepEqual([whole.request_body, whole.response_body], ['sent', '{}']);
  await until(() => messages(), (m) => m.some((x) => x.text === 'from the frame'));
  await network('stop');
});

test('frames within frames and their workers: from their first word, whichever recording began first, and after a stop', async () => {
  tab = await b.open('/deep');
  const { events: none } = await network('get');
  assert.deepEqual(none, []);
  await network('start');
  await until(() => messages(), (m) => ['middle', 'innermost', 'worker'].every((who) => m.some((x) => x.text === `${who} says` && x.source === 'console')));
  const all = (events) => ['middle', 'innermost', 'inside'].every((part) => events.some((e) => e.url.includes(`?${part}`) && e.duration_ms !== undefined));
  const look = async () => (await network('get', { limit: 500 })).events;
  await b.ok('reload', { tab_id: tab });
  await until(look, all);
  assert.equal((await whole('?innermost')).response_body, '[1,2,"drei ✓"]');
  assert.equal((await messages()).filter((m) => m.text === 'worker says').length, 2, 'once for each time that the page was loaded');
  await network('stop');
  await network('start');
  await b.ok('reload', { tab_id: tab });
  await until(look, all);
  await network('stop');
});

test('a worker\'s requests, with their bodies', async () => {
  await network('start');
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/works` });
  const [entry] = await settled(1, 'items?worker');
  assert.equal((await network('get', { request_id: entry.request_id })).events[0].response_body, '[1,2,"drei ✓"]');
  await network('stop');
});

test('console: what was written before the first call, errors that nobody caught, objects as they are', async () => {
  await b.ok('new_tab', { url: `${b.base}/early` }).then((t) => { tab = t.tab_id; });
  const early = await until(() => messages(), (m) => m.length >= 2);
  assert.ok(early.some((m) => m.text === 'before anybody listened' && m.level === 'log' && m.source === 'console' && m.line === 1));
  assert.ok(early.some((m) => m.source === 'exception' && m.level === 'error' && /Uncaught TypeError: nobody caught me/.test(m.text)));
  await b.ok('console', { tab_id: tab, action: 'clear' });
  assert.deepEqual(await messages(), []);
  await b.inPage('/early', `console.log('plain 测试', { a: 1, b: { c: 'x' }, d: [1, 'two'] }, null, undefined, 12n, true); console.warn('%s has %d files%c!', 'Anna', 3.7, 'color:red'); console.error(new Error('made')); console.debug(new Map([['k', 1]]), document.body)`);
  const written = await until(() => messages(), (m) => m.length >= 4);
  assert.equal(written[0].text, 'plain 测试 {a: 1, b: {c: "x"}, d: [1, "two"]} null undefined 12n true');
  assert.deepEqual([written[1].level, written[1].text], ['warning', 'Anna has 3 files!']);
  assert.deepEqual([written[2].level, written[2].text.split('\n')[0]], ['error', 'Error: made']);
  assert.match(written[3].text, /^Map\(1\) \{"k" => 1\} body$/);
  assert.deepEqual((await messages({ level: 'warning' })).map((m) => m.level), ['warning', 'error']);
  assert.equal((await messages({ limit: 1 })).length, 1);
  await b.inPage('/early', 'console.assert(1 > 2, "one is not more", 3); console.assert(false)');
  await until(() => messages({ limit: 2 }), ([one, two]) => one.text === 'Assertion failed: one is not more 3' && two.text === 'Assertion failed' && one.level === 'error');
});

test('console: objects are told as deep as they are, within bounds; what was handled after all is no error', async () => {
  await b.ok('console', { tab_id: tab, action: 'clear' });
  await b.inPage('/early', `
    const ring = { name: 'ring', in: { its: 1 } }; ring.in.self = ring;
    console.log('user', { name: 'Anna', list: [{ id: 1, tags: ['a', 'b'] }], deep: { two: { three: { four: { five: { six: 6 } } } } } });
    console.log(Object.fromEntries(Array.from({ length: 8 }, (_, i) => ['k' + i, i % 2 ? { i } : 'v'.repeat(i * 30)])));
    console.log(ring, [[1, [2, [3]]]], new (class Point { at = { x: 1 } })());
    const state = { count: 1 }; console.log(state); state.count = 2;
    (function outer() { console.trace('here') })();
    const late = Promise.reject(new Error('handled after all')); setTimeout(() => late.catch(() => console.log('handled')), 50);`);
  const said = (await until(() => messages(), (m) => m.some((x) => x.text === 'handled'))).map((m) => m.text);
  assert.equal(said[0], 'user {name: "Anna", list: [{id: 1, tags: ["a", "b"]}], deep: {two: {three: {four: {five: {…}}}}}}');
  assert.equal(said[1], `{k0: "", k1: {i: 1}, k2: "${'v'.repeat(60)}", k3: {i: 3}, k4: "${'v'.repeat(120)}", k5: {i: 5}, k6: "${'v'.repeat(180)}", k7: {i: 7}}`);
  assert.match(said[2], /^\{name: "ring", in: \{its: 1, self: \{name: "ring", in: .*\} \[\[1, \[2, \[3\]\]\]\] Point \{at: \{x: 1\}\}$/);
  assert.equal(said[3], '{count: 1}', 'as it was');
  assert.match(said[4], /^here\n {4}at outer \(/);
  assert.equal(said.find((text) => /after all/.test(text)), undefined);
  await b.ok('console', { tab_id: tab, level: 'warn' });
});

test('console: an error that an act sets off a moment later is in the next answer', async () => {
  const page = await b.open('/late');
  await b.ok('console', { tab_id: page });
  for (let i = 1; i <= 10; i++) {
    await b.ok('click', { tab_id: page, target: { value: 'button' } });
    const asked = Date.now();
    const newest = async () => (await b.ok('console', { tab_id: page, limit: 1 })).messages[0]?.text ?? '';
    const error = new RegExp(`^Uncaught Error: thrown ${i}\\b`);
    const text = await newest();
    // A page that is held up for longer than the answer waits for it (300 ms) is a slow machine's.
    if (Date.now() - asked < 300) assert.match(text, error);
    else await until(newest, (t) => error.test(t));
  }
  await b.ok('close_tab', { tab_id: page });
});

test('console: a flood ends the listening and not the bridge; the next call says so and has the latest lines', async () => {
  const flood = await b.open('/flood');
  await b.ok('console', { tab_id: flood });
  const flooding = b.inPage('/flood', 'flood(30000)');
  // All of it would keep the worker busy for many seconds.
  await until(() => b.chromium.inWorker('chrome.debugger.getTargets().then((all) => all.filter((t) => t.attached && t.tabId !== undefined).map((t) => t.tabId))'), (all) => !all.includes(flood));
  await flooding;
  const { messages, gap, count } = await b.ok('console', { tab_id: flood, limit: 500 });
  assert.deepEqual([messages.at(-1).text, count], ['line 30000', 500]);
  assert.match(gap, /more than can be written down/);
  await b.ok('close_tab', { tab_id: flood });
});

test('console: it goes on over a navigation', async () => {
  await b.ok('navigate', { tab_id: tab, url: `${b.base}/second` });
  await until(() => messages(), (m) => m.some((x) => x.text === 'the next page' && x.level === 'info'));
});

test('a thousand times start and stop leave nothing behind', async () => {
  tab = await b.open('/');
  for (let i = 0; i < 1000; i += 50) await b.ok('batch', { steps: Array.from({ length: 50 }, (_, k) => ({ method: 'network', params: { tab_id: tab, action: k % 2 ? 'stop' : 'start' } })) });
  for (let i = 0; i < 1000; i += 100) await Promise.all(Array.from({ length: 100 }, (_, k) => network(k % 2 ? 'stop' : 'start')));
  await network('stop');
  await network('start');
  await b.page(tab, 'fetch("/api/items?once").then((r) => r.text())');
  await settled(1, 'once');
  assert.equal((await network('get', { filter: 'once' })).events.length, 1, 'one listener, one entry');
  await network('stop');
  await network('clear');
  assert.equal((await network('get')).status, 'off');
});

test('a tab that is closed takes its record along; a page closed to extensions has none', async () => {
  const other = await b.open('/');
  await b.ok('network', { tab_id: other, action: 'start' });
  await b.ok('close_tab', { tab_id: other });
  assert.equal((await b.fails('network', { tab_id: other, action: 'get' })).code, 'TAB_NOT_FOUND');
  const closed = (await b.ok('list_tabs')).tabs.find((t) => /^chrome:/.test(t.url));
  if (closed) assert.equal((await b.fails('network', { tab_id: closed.tab_id, action: 'start' })).code, 'RESTRICTED_PAGE');
});

test('after a restart of the worker the record goes on, and says that what came before is lost', async () => {
  const recorded = await b.open('/');
  await b.ok('network', { tab_id: recorded, action: 'start' });
  await b.ok('console', { tab_id: recorded });
  await b.page(recorded, 'fetch("/api/items?before").then((r) => r.text())');
  await b.chromium.restartWorker();
  await b.ready();
  const first = await b.ok('network', { tab_id: recorded, action: 'get' });
  assert.deepEqual([first.status, first.events], ['recording', []]);
  assert.match(first.gap, /restarted/);
  assert.match((await b.ok('console', { tab_id: recorded })).gap, /restarted/);
  await b.page(recorded, 'fetch("/api/items?after").then((r) => r.text())');
  const { events, gap } = await until(() => b.ok('network', { tab_id: recorded, action: 'get', filter: 'after' }), (r) => r.events.some((e) => e.duration_ms !== undefined));
  assert.deepEqual([events.length, /restarted/.test(gap)], [1, true]);
  await b.ok('network', { tab_id: recorded, action: 'clear' });
  assert.equal((await b.ok('network', { tab_id: recorded, action: 'get' })).gap, undefined, 'after clear nothing is missing');
  // What was stopped is not begun again.
  await b.ok('network', { tab_id: recorded, action: 'stop' });
  await b.chromium.restartWorker();
  await b.ready();
  assert.equal((await b.ok('network', { tab_id: recorded, action: 'get' })).status, 'off');
});
