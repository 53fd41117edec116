// Every act, with its tab closed by another client or by the page's own answer to it: what the page had of it is never answered as if nothing had
// been done, and the answer comes at once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

// A beacon is sent even if its page is gone a moment later.
const PAGE = `<!doctype html><title>Acts</title><body style="margin:0"><script>
  const q = new URLSearchParams(location.search);
  const tell = () => { navigator.sendBeacon('/__say', JSON.stringify({ key: q.get('in'), count: true })); if (q.has('closes')) close(); };
  const on = (...types) => { for (const type of types) addEventListener(type, (e) => { if (e.target !== document) tell(); }, true); };
  on('pointerdown', 'mousedown', 'click', 'input', 'change', 'keydown', 'drop', 'dragstart');
  if (q.has('hover')) on('pointerover');
  if (q.has('scroll')) addEventListener('scroll', tell, true);
</script><button id="go" style="display:block;width:200px;height:40px">Go</button><input id="f" value="old"><input type="checkbox" id="box"><select id="list"><option>a<option>b</select>
  <input type="file" id="up"><div id="to" style="height:60px;background:#eee">To</div><div style="height:4000px"></div>`;
let b;
let other;
before(async () => {
  b = await start({ pages: { '/': '<title>Free</title>', '/acts': PAGE } });
  await b.open('/');
  other = await b.client();
});
after(() => b?.stop());

const css = (value) => ({ target: { value } });
const ACTS = {
  click: css('#go'), 'click, trusted': { ...css('#go'), trusted: true }, click_at: { x: 50, y: 20 }, mouse_click: { x: 50, y: 20 }, hover: css('#go'),
  set_value: { ...css('#f'), value: 'x' }, clear: css('#f'), check: { ...css('#box'), checked: true }, select_option: { ...css('#list'), text: 'b' },
  press_key: { ...css('#f'), key: 'x' }, send_keys: { keys: 'x' }, type_text: { ...css('#f'), text: 'xy' }, insert_text: { text: 'x' },
  fill_form: { fields: [{ ...css('#f'), value: 'x' }, { ...css('#list'), value: 'b' }] }, upload: { ...css('#up'), files: [{ name: 'a.txt', data: 'aGk=' }] },
  drag: { from: { value: '#go' }, to: { value: '#to' } }, scroll: { y: 300 },
};
/** The others wait long for a debugger on a page without a process. */
const PLAIN = new Set(['click', 'set_value', 'check', 'press_key', 'fill_form']);
let counter = 0;

async function closing(name, params, more, close) {
  const method = name.split(',')[0];
  const key = `k${++counter}`;
  const tab = await b.open(`/acts?in=${key}&${method}${more}`);
  if (/send_keys|insert_text/.test(method)) await b.ok('run_script', { tab_id: tab, code: 'document.querySelector("#f").focus()' });
  const answer = b.call(method, { tab_id: tab, ...params });
  const closed = close(tab, key);
  const from = Date.now();
  return { name, key, tab, answer: await answer, closed, ms: Date.now() - from };
}

function judge(all, codes = /^(?:TAB_NOT_FOUND|NAVIGATION_FAILED)$/) {
  for (const { name, key, answer, ms } of all) {
    const where = `${name}: ${b.said[key] ?? 0} events, ${ms} ms, ${JSON.stringify(answer)}`;
    if (b.said[key]) assert.ok(answer.success || answer.maybe_executed, where);
    assert.ok(answer.success || codes.test(answer.code), where);
    assert.ok(ms < 4000, where);
  }
}

for (const [name, params] of Object.entries(ACTS)) {
  test(`${name}: the tab is closed at any step of it`, async () => {
    const all = [];
    for (const delay of [0, 3, 6, 10, 16, 25, 40, 80]) {
      all.push(await closing(name, params, '', async (tab) => {
        if (delay) await new Promise((r) => setTimeout(r, delay));
        await other.call('close_tab', { tab_id: tab });
      }));
    }
    await Promise.all(all.map((a) => a.closed));
    judge(all);
  });

  if (PLAIN.has(name)) test(`${name}: the page's process ends at any step of it`, async () => {
    const all = [];
    for (const delay of [0, 5, 12, 25]) {
      all.push(await closing(name, params, '', async (tab, key) => {
        if (delay) await new Promise((r) => setTimeout(r, delay));
        const { cdp, targets } = b.chromium;
        const [target] = await targets((t) => t.url.includes(`in=${key}&`));
        const { sessionId } = await cdp.send('Target.attachToTarget', { targetId: target.targetId, flatten: true });
        cdp.send('Page.crash', {}, sessionId).catch(() => {});
      }));
      await all.at(-1).closed;
      await other.ok('close_tab', { tab_id: all.at(-1).tab });
    }
    // Of a page without a process Chrome says now this and now that.
    judge(all, /^(?:TAB_NOT_FOUND|NAVIGATION_FAILED|RESTRICTED_PAGE|PAGE_BLOCKED)$/);
  });

  test(`${name}: the page closes its tab because of it`, async () => {
    const one = await closing(name, params, '&closes', () => undefined);
    if (!['hover', 'scroll', 'upload'].includes(name) && one.answer.success === false) await b.site.heard(one.key);
    judge([one]);
    await other.call('close_tab', { tab_id: one.tab });
  });
}
