// The fixture web site: pages and routes that are late, redirect, hang, fail or drop the connection; reachable as 127.0.0.1 and as
// localhost, which to a browser are two sites. Pages tell what happened in them with /__page.js: say(key, value), count(key).
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.png': 'image/png', '.svg': 'image/svg+xml', '.json': 'application/json', '.txt': 'text/plain; charset=utf-8' };

const PAGE_JS = `
(() => {
  const tell = (body) => { try { const x = new XMLHttpRequest(); x.open('POST', '/__say', false); x.send(JSON.stringify(body)); } catch {} };
  window.say = (key, value) => tell({ key, value });
  window.count = (key) => tell({ key, count: true });
})();`;

/**
 * pages: {'/path': '<html>'}; routes: {'/path': {delay, redirect, status, headers, body, type, hang, first, drop}}; dir: files.
 * `{{base}}` and `{{cross}}` in bodies, redirects and headers stand for the two origins.
 */
export async function startSite({ pages = {}, routes = {}, dir } = {}) {
  const site = { requests: [], said: {}, pages: { ...pages }, routes: { ...routes }, sockets: new Set() };
  const fill = (text) => String(text).replaceAll('{{base}}', site.base).replaceAll('{{cross}}', site.cross);

  const server = http.createServer((req, res) => {
    const url = new URL(req.url, 'http://x');
    if (url.pathname === '/__page.js') return void res.writeHead(200, { 'content-type': TYPES['.js'] }).end(PAGE_JS);
    if (url.pathname === '/__say') {
      let body = '';
      req.on('data', (d) => { body += d; });
      req.on('end', () => {
        const { key, value, count } = JSON.parse(body);
        site.said[key] = count ? (site.said[key] ?? 0) + 1 : value;
        res.writeHead(204).end();
      });
      return;
    }
    site.requests.push({ method: req.method, path: url.pathname, url: req.url, host: req.headers.host, at: Date.now() });
    const route = site.routes[url.pathname] ?? {};
    const timer = setTimeout(() => answer(url, route, req, res), route.delay ?? 0);
    res.on('close', () => clearTimeout(timer));
  });

  function answer(url, route, req, res) {
    if (route.drop) return void req.socket.destroy();
    const headers = Object.fromEntries(Object.entries(route.headers ?? {}).map(([k, v]) => [k, fill(v)]));
    if (route.hang) {
      if (route.first !== undefined) {
        res.writeHead(200, { 'content-type': route.type ?? TYPES['.html'], ...headers });
        res.write(fill(route.first));
      }
      return;
    }
    if (route.redirect) return void res.writeHead(route.status ?? 302, { location: fill(route.redirect), ...headers }).end();
    let body = route.body ?? site.pages[url.pathname];
    let type = route.type ?? TYPES[path.extname(url.pathname)] ?? TYPES['.html'];
    if (body === undefined && dir) {
      const file = path.join(dir, path.normalize(url.pathname), url.pathname.endsWith('/') ? 'index.html' : '');
      if (file.startsWith(dir) && fs.existsSync(file) && fs.statSync(file).isFile()) {
        body = fs.readFileSync(file);
        type = route.type ?? TYPES[path.extname(file)] ?? 'application/octet-stream';
      }
    }
    if (body === undefined && !route.status) return void res.writeHead(404, { 'content-type': TYPES['.txt'] }).end('not found');
    const status = route.status ?? 200;
    res.writeHead(status, status === 204 ? headers : { 'content-type': type, ...headers });
    res.end(status === 204 || body === undefined ? undefined : Buffer.isBuffer(body) ? body : fill(body));
  }

  server.on('connection', (socket) => { site.sockets.add(socket); socket.on('close', () => site.sockets.delete(socket)); });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  const { port } = server.address();
  site.port = port;
  site.base = `http://127.0.0.1:${port}`;
  site.cross = `http://localhost:${port}`;
  site.count = (p) => site.requests.filter((r) => r.path === p).length;
  /** Waits until a page has said something under the key; gives it back. */
  site.heard = async (key, until = (v) => v !== undefined, ms = 5000) => {
    const end = Date.now() + ms;
    while (!until(site.said[key])) {
      if (Date.now() > end) throw new Error(`the page did not say ${key} as expected: ${JSON.stringify(site.said)}`);
      await new Promise((r) => setTimeout(r, 20));
    }
    return site.said[key];
  };
  site.stop = () => new Promise((r) => { for (const s of site.sockets) s.destroy(); server.close(r); });
  return site;
}
