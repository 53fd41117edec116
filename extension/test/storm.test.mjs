// Answers at the worst moment: calls are sent again and again, at every step, while the page goes, the tab is closed or a dialog comes. Each
// of them gets an answer that fits; none says done for what the page never saw.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

// A beacon is sent even if its page is gone a moment later.
const ACT = `<!doctype html><title>Act</title><script>const count = (key) => navigator.sendBeacon('/__say', JSON.stringify({ key: key + new URLSearchParams(location.search).get('in'), count: true }));</script>
<button id="quiet" onclick="count('quiet')">Quiet</button> <button id="real" onclick="count('real')">Real</button> <button id="named" onclick="count('named')">Named</button> <input id="f"> <input type="file" id="up"> <iframe src="/frame"></iframe>`;
let b;
before(async () => {
  b = await start({ pages: { '/': '<title>Free</title>', '/act': ACT, '/frame': '<button id="inner">In</button>' } });
  await b.open('/');
});
after(() => b?.stop());

const css = (value) => ({ target: { value }, timeout: 10_000 });
const CALLS = {
  quiet: () => ['click', css('#quiet')],
  named: ({ ref }) => ['click', { target: { ref }, timeout: 10_000 }],
  real: () => ['click', { ...css('#real'), trusted: true }],
  inner: () => ['click', css('#inner')],
  awaited: () => ['wait_for', css('#f')],
  fill: () => ['set_value', { ...css('#f'), value: 'x' }],
  files: () => ['upload', { ...css('#up'), files: [{ name: 'a.txt', data: 'aGk=' }] }],
  keys: () => ['send_keys', { keys: 'Shift' }],
  content: () => ['get_page_content', {}],
  picture: () => ['screenshot', { full_page: true }],
  pdf: () => ['save_as_pdf', {}],
  script: () => ['run_script', { code: '1' }],
  shown: () => ['activate_tab', {}],
};
/** Answers that no caller can do anything with, or that are another situation's. */
const NEVER = /^(?:INTERNAL_ERROR|UNSUPPORTED|CANCELLED|INVALID_PARAMS|EXTENSION_DISCONNECTED)$/;

/** Sends the calls by turns until `event` is over; gives all answers, by what was asked. */
async function storm(key, names, event) {
  const url = `${b.base}/act?in=${key}`;
  const tab = await b.open(url);
  const { nodes } = await b.ok('snapshot', { tab_id: tab });
  const { ref } = nodes.find((n) => n.name === 'Named');
  await b.ok('hover', { tab_id: tab, ...css('#real') });
  let over = false;
  const done = event({ tab, url }).finally(() => { over = true; });
  const sent = [];
  while (!over) {
    for (const name of names) {
      const [method, params] = CALLS[name]({ ref });
      sent.push(b.call(method, { tab_id: tab, ...params }).then((answer) => ({ name, ...answer })));
      await new Promise((next) => setImmediate(next));
    }
    await Promise.any([...sent.slice(-names.length), done]);
    if (sent.length > 60) await done;
  }
  await done;
  const answers = await Promise.all(sent);
  for (const a of answers) assert.ok(a.success || !NEVER.test(a.code), JSON.stringify(a));
  const of = (name) => answers.filter((a) => a.name === name);
  const count = (name, is) => of(name).filter(is).length;
  return { tab, answers, of, ok: (name) => count(name, (a) => a.success), maybe: (name) => count(name, (a) => a.success || a.maybe_executed) };
}

const seen = (name, key) => b.said[name + key] ?? 0;
/** What was told as done was done. */
const allDone = async ({ ok }, key) => {
  for (const name of ['quiet', 'real', 'named']) if (ok(name)) await b.site.heard(name + key, (n) => (n ?? 0) >= ok(name));
};
const ACTS = ['quiet', 'real', 'named', 'awaited'];
const REST = ['inner', 'fill', 'files', 'keys', 'content', 'picture', 'pdf', 'script'];

for (const [what, key, names, event] of [
  ['another page of the site', 'same', ACTS, ({ tab, url }) => b.ok('navigate', { tab_id: tab, url: `${url}&2` })],
  ['another site\'s page', 'cross', ACTS, ({ tab }) => b.ok('navigate', { tab_id: tab, url: `${b.cross}/act?in=cross` })],
  ['a reload, all other kinds of calls', 'reload', REST, ({ tab }) => b.ok('reload', { tab_id: tab })],
]) {
  test(`the page is left for ${what}: nothing is told as done that was not, and a ref is stale`, async () => {
    const { tab, answers, of, ...told } = await storm(key, names, event);
    for (const a of answers) assert.notEqual(a.code, 'TAB_NOT_FOUND', JSON.stringify(a));
    for (const a of of('named')) assert.ok(a.success || a.code === 'STALE_REF' || a.maybe_executed, JSON.stringify(a));
    for (const a of of('awaited')) assert.ok(a.success, `the field is in either page: ${JSON.stringify(a)}`);
    await allDone(told, key);
    await b.ok('close_tab', { tab_id: tab });
  });
}

test('the tab is closed: whatever was on its way says just that', async () => {
  const { answers } = await storm('close', [...ACTS, ...REST, 'shown'], ({ tab }) => b.ok('close_tab', { tab_id: tab }));
  for (const a of answers) assert.ok(a.success || a.code === 'TAB_NOT_FOUND', JSON.stringify(a));
  assert.ok(answers.some((a) => !a.success));
});

test('a dialog comes: what is refused because of it is not done when it has gone', async () => {
  const { tab, answers, ...told } = await storm('alert', ['quiet', 'real', 'named'], async ({ tab, url }) => {
    await b.inPage(url, 'void setTimeout(() => alert("Hi"), 1)');
    const until = Date.now() + 20_000;
    for (let answer; !answer?.success;) {
      answer = await b.call('handle_dialog', { tab_id: tab, accept: true });
      if (!answer.success && Date.now() > until) throw new Error(`the dialog was not closed: ${answer.error}`);
    }
  });
  for (const a of answers) assert.ok(a.success || a.code === 'DIALOG_OPEN', JSON.stringify(a));
  await allDone(told, 'alert');
  // What the page had before it by now is through.
  await b.page(tab, '1');
  for (const name of ['quiet', 'real', 'named']) assert.ok(seen(name, 'alert') <= told.maybe(name), `${name}: ${seen(name, 'alert')} seen, ${told.maybe(name)} told`);
  await b.ok('close_tab', { tab_id: tab });
});

test('a click that waits when a dialog comes is over with its answer, also where the page goes on to make it possible', async () => {
  const tab = await b.open(`${b.base}/act?in=waits`);
  await b.ok('hover', { tab_id: tab, ...css('#real') });
  await b.inPage('in=waits', 'document.querySelector("#quiet").disabled = true; void setTimeout(() => { alert("Hi"); document.querySelector("#quiet").disabled = false; }, 300)');
  const answer = await b.call('click', { tab_id: tab, ...css('#quiet') });
  assert.deepEqual([answer.code, answer.maybe_executed], ['DIALOG_OPEN', undefined], JSON.stringify(answer));
  await b.ok('handle_dialog', { tab_id: tab, accept: true });
  await b.ok('click', { tab_id: tab, ...css('#real') });
  await b.site.heard('realwaits');
  assert.equal(seen('quiet', 'waits'), 0);
});
