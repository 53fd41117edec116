// npm run bench:debugger: what a call of each method that works through the debugger, or gives refs, costs from the client to the page and
// back. BENCH_N: calls of each kind (default 40).
import assert from 'node:assert/strict';
import { start } from './harness/start.mjs';

const N = Number(process.env.BENCH_N ?? 40);
const b = await start({
  pages: {
    '/': `<!doctype html><title>Bench</title><style>* { margin: 0 } .at { position: absolute }</style><button class="at" id="go" style="left:20px;top:20px" onclick="n++">Go</button><input class="at" id="f" style="left:120px;top:20px">
      <div class="at" id="box" style="left:20px;top:100px;width:60px;height:60px;background:red;touch-action:none"></div><div class="at" id="card" draggable="true" style="left:120px;top:100px;width:60px;height:60px;background:lime">c</div>
      <div class="at" id="zone" style="left:300px;top:100px;width:200px;height:100px;background:#ddd"></div><button class="at" id="ask" style="left:20px;top:200px" onclick="confirm('Sure?')">Ask</button><div style="height:3000px"></div>
      <script>window.n = 0; zone.ondragover = (e) => e.preventDefault(); zone.ondrop = (e) => e.preventDefault();</script>`,
    '/two-hundred': '<!doctype html><title>200</title><script>for (let i = 0; i < 200; i++) document.write("<button>Button " + i + "</button> ")</script>',
  },
});
const quantile = (times, q) => [...times].sort((x, y) => x - y)[Math.min(times.length - 1, Math.floor(times.length * q))].toFixed(1);
const rows = [];
async function measure(name, method, params, { times = N, before, after } = {}) {
  const took = [];
  for (let i = -3; i < times; i++) {
    await before?.();
    const from = performance.now();
    await b.ok(method, params);
    if (i >= 0) took.push(performance.now() - from);
    await after?.();
  }
  rows.push(`| ${name} | ${quantile(took, 0.5)} | ${quantile(took, 0.95)} |`);
}
try {
  const tab = await b.open('/');
  const on = (more) => ({ tab_id: tab, ...more });
  const go = { target: { value: '#go' } };
  const { nodes } = await b.ok('snapshot', on());
  const { ref } = nodes.find((n) => n.name === 'Go');
  await measure('click', 'click', on(go));
  await measure('click by ref', 'click', on({ target: { ref } }));
  await measure('click, trusted', 'click', on({ ...go, trusted: true }));
  assert.equal(await b.inPage('/', 'n'), 3 * (N + 3));
  await measure('mouse_click', 'mouse_click', on({ x: 700, y: 400 }));
  await measure('hover', 'hover', on(go));
  await measure('drag, HTML5', 'drag', on({ from: { value: '#card' }, to: { value: '#zone' } }), { times: N / 4 });
  await measure('drag, pointer', 'drag', on({ from: { value: '#box' }, to: { value: '#zone' } }), { times: N / 4 });
  const empty = () => b.inPage('/', 'void (f.value = "")');
  await measure('type_text, 10 letters', 'type_text', on({ target: { value: '#f' }, text: 'abcdefghij' }), { before: empty });
  await measure('insert_text', 'insert_text', on({ text: 'abcdefghij' }), { before: empty });
  await measure('send_keys, one', 'send_keys', on({ keys: 'Home' }));
  await measure('scroll, trusted, until it rests', 'scroll', on({ dy: 100, trusted: true }), { times: N / 4, after: () => b.inPage('/', 'scrollTo(0, 0)') });
  await measure('handle_dialog', 'handle_dialog', on({ accept: true }), { times: N / 4, before: () => b.ok('click', on({ target: { value: '#ask' }, trusted: true })) });
  await measure('screenshot of the view, debugger there', 'screenshot', on(), { times: N / 2 });
  await measure('screenshot, full_page of 3,000 px', 'screenshot', on({ full_page: true }), { times: N / 4 });
  await measure('screenshot, target', 'screenshot', on({ target: { value: '#zone' } }), { times: N / 4 });
  await measure('save_as_pdf', 'save_as_pdf', on(), { times: N / 4 });
  await measure('snapshot, 5 nodes', 'snapshot', on());
  await measure('snapshot, 200 nodes', 'snapshot', { tab_id: await b.open('/two-hundred') }, { times: N / 2 });
  console.log(['| method | p50 | p95 |', '| --- | --- | --- |', ...rows].join('\n'));
} finally {
  await b.stop();
}
