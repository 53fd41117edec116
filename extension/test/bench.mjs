// npm run bench: what a command costs from the client to the page and back, beside the one call of the browser's extension API that
// it rests on, taken in turns in one run; and how many bytes the readings of the largest fixture pages are. Only ratios carry over to
// another machine. BENCH_N: calls of each kind (default 200; a tenth for pictures).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findDaemon } from './harness/daemon.mjs';
import { start } from './harness/start.mjs';

const N = Number(process.env.BENCH_N ?? 200);
const ROUNDS = 10;
/** Chrome takes two pictures a second; more are refused. */
const PICTURE_GAP_MS = 750;
const dir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'pages/read');
const largest = fs.readdirSync(dir).map((name) => ({ name, bytes: fs.statSync(path.join(dir, name)).size })).sort((a, b) => b.bytes - a.bytes).slice(0, 3);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

const b = await start({
  dir,
  pages: {
    '/act': '<title>Act</title><button id="go">Go</button><input id="field"><script>window.n = 0; document.querySelector("#go").onclick = () => n++;</script>',
    '/elements': `<title>Elements</title><body><script>let h = ''; for (let i = 0; i < 12500; i++) h += '<div><p>text <a href="/' + i + '">' + i + '</a> <i>more</i></p></div>'; document.body.innerHTML = h</script>`,
  },
});

/** Times calls of an expression in the extension's worker, there, so that asking for them does not count. */
const bare = (count, expression) => b.chromium.inWorker(`(async () => {
  const times = [];
  for (let i = 0; i < ${count}; i++) { const from = performance.now(); await (${expression}); times.push(performance.now() - from); }
  return times;
})()`);

async function ours(count, method, params) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const from = performance.now();
    await b.ok(method, typeof params === 'function' ? params(i) : params);
    times.push(performance.now() - from);
  }
  return times;
}

const quantile = (times, q) => [...times].sort((x, y) => x - y)[Math.min(times.length - 1, Math.floor(times.length * q))];
const ms = (n) => n.toFixed(2);
const table = (head, rows) => {
  const all = [head, ...rows.map((r) => r.map(String))];
  const width = head.map((_, i) => Math.max(...all.map((r) => r[i].length)));
  const line = (r) => `| ${r.map((c, i) => (i ? c.padStart(width[i]) : c.padEnd(width[i]))).join(' | ')} |`;
  console.log([line(head), `| ${width.map((w, i) => (i ? `${'-'.repeat(w - 1)}:` : '-'.repeat(w))).join(' | ')} |`, ...all.slice(1).map(line)].join('\n'), '\n');
};

try {
  const act = await b.open('/act');
  const read = await b.open('/article.html');
  const inject = (tab, body) => `chrome.scripting.executeScript({ target: { tabId: ${tab} }, injectImmediately: true, func: () => { ${body} } })`;
  const set = 'const f = document.querySelector("#field"); f.value = "bare"; f.dispatchEvent(new InputEvent("input", { bubbles: true })); f.dispatchEvent(new Event("change", { bubbles: true })); return f.value;';
  // An injected function that does no more than it must: for the readings, one that gives the text of the page.
  const kinds = [
    { method: 'click', tab: act, params: { tab_id: act, target: { value: '#go' } }, call: inject(act, 'document.querySelector("#go").click();'), name: 'executeScript: el.click()' },
    { method: 'set_value', tab: act, params: (i) => ({ tab_id: act, target: { value: '#field' }, value: `v${i}` }), call: inject(act, set), name: 'executeScript: value, input, change' },
    { method: 'get_a11y_tree', tab: read, params: { tab_id: read }, call: inject(read, 'return document.body.innerText;'), name: 'executeScript: body.innerText' },
    { method: 'get_page_markdown', tab: read, params: { tab_id: read }, call: inject(read, 'return document.body.innerText;'), name: 'executeScript: body.innerText' },
  ];
  const rows = [];
  const row = ({ method, name }, api, own) => rows.push([method, ms(quantile(own, 0.5)), ms(quantile(own, 0.95)), name, ms(quantile(api, 0.5)), ms(quantile(api, 0.95)), ms(quantile(own, 0.5) - quantile(api, 0.5)), `x${(quantile(own, 0.5) / quantile(api, 0.5)).toFixed(1)}`, own.length]);
  const each = Math.max(1, Math.round(N / ROUNDS));
  for (const kind of kinds) {
    await b.ok('activate_tab', { tab_id: kind.tab });
    // Warm: the page has the code, the engine has seen it.
    await ours(5, kind.method, kind.params);
    await bare(5, kind.call);
    const api = [], own = [];
    for (let round = 0; round < ROUNDS; round++) {
      api.push(...await bare(each, kind.call));
      own.push(...await ours(each, kind.method, kind.params));
    }
    row(kind, api, own);
  }
  // Every click of either way must have been one.
  assert.equal(await b.inPage('/act', 'n'), 2 * (5 + each * ROUNDS));

  const { window_id } = (await b.ok('list_tabs')).tabs.find((t) => t.tab_id === read);
  const api = [], own = [];
  for (let i = 0; i < Math.max(3, Math.round(N / 10)); i++) {
    await sleep(PICTURE_GAP_MS);
    api.push(...await bare(1, `chrome.tabs.captureVisibleTab(${window_id}, { format: 'png' })`));
    await sleep(PICTURE_GAP_MS);
    own.push(...await ours(1, 'screenshot', { tab_id: read }));
  }
  row({ method: 'screenshot', name: 'captureVisibleTab png' }, api.slice(1), own.slice(1));

  const readings = [];
  const bytes = (value) => Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
  for (const { name } of [...largest, { name: 'elements' }]) {
    const tab = await b.open(`/${name}`);
    const html = bytes(await b.inPage(`/${name}`, 'document.documentElement.outerHTML'));
    const tree = await b.ok('get_a11y_tree', { tab_id: tab });
    const whole = await b.ok('get_a11y_tree', { tab_id: tab, max_nodes: 5000 });
    const main = await b.ok('get_page_markdown', { tab_id: tab });
    const full = await b.ok('get_page_markdown', { tab_id: tab, full: true });
    readings.push([name === 'elements' ? '50,000 elements (made)' : name, html, bytes(tree), `${tree.count}${tree.truncated ? '+' : ''}`, bytes(whole), `${whole.count}${whole.truncated ? '+' : ''}`, bytes(main.markdown), bytes(full.markdown)]);
    await b.ok('close_tab', { tab_id: tab });
  }

  const daemon = findDaemon();
  console.log(`\n${daemon ? `daemon ${path.relative(process.cwd(), daemon)}` : 'hub in node'}, ${(await b.chromium.cdp.send('Browser.getVersion')).product}, node ${process.version}; milliseconds, client to page and back\n`);
  table(['command', 'p50', 'p95', 'bare call', 'p50', 'p95', 'more', 'ratio', 'n'], rows);
  table(['page (bytes)', 'HTML', 'a11y tree', 'nodes', 'tree, 5000', 'nodes', 'Markdown', 'Markdown, full'], readings);
} finally {
  await b.stop();
}
