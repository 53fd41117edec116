// evaluate where the daemon lets everything through: the extension itself refuses it once its time is up, also after its worker was
// stopped and started anew; it never goes on from memory.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b, tab;
const policy = {};
before(async () => {
  b = await start({ daemon: 'hub', policy, pages: { '/': '<!doctype html><title>Alone</title><script>window.app = 7; window.ran = 0;</script>' } });
  tab = await b.open('/');
});
after(() => b?.stop());
const evaluate = (expression = '++ran') => b.call('evaluate', { tab_id: tab, expression });
const allow = (from, ms) => ({ evaluate: { since: Date.now() + from, until: Date.now() + from + ms } });
const tell = (given) => b.daemon.hub().tell({ type: 'policy', policy: given });
const refused = async (why) => {
  const ran = await b.inPage(b.base, 'ran');
  const answer = await evaluate();
  assert.deepEqual([answer.success, answer.code], [false, 'PERMISSION_DENIED'], why);
  assert.match(answer.error, /evaluate is off/);
  assert.equal(await b.inPage(b.base, 'ran'), ran, why);
};
const untilRefused = async (until) => {
  for (let answer; ; await new Promise((r) => setTimeout(r, 40))) {
    answer = await evaluate();
    if (!answer.success) break;
    assert.ok(Date.now() < until + 1000, 'it ran after its time');
  }
  assert.ok(Date.now() >= until - 50, 'it ended before its time');
  await refused('when its time is up');
};
const restart = async () => {
  await b.chromium.restartWorker();
  await b.ready();
};

test('off until somebody says for how long; switched off again at once', async () => {
  await refused('nobody said');
  tell({ evaluate: true });
  await refused('no time was said');
  tell(allow(-1000, 60_000));
  assert.equal((await evaluate('app')).result.result, 7);
  tell({});
  await refused('switched off');
});

test('its time is up by the own clock', async () => {
  const given = allow(0, 1500);
  tell(given);
  assert.equal((await evaluate('app')).result.result, 7);
  await untilRefused(given.evaluate.until);
  // A clock that was put back far prolongs nothing.
  tell(allow(10 * 60_000, 60_000));
  await refused('it begins in the future');
});

test('a worker that starts anew knows nothing of an old word, and keeps to the time of the new one', async () => {
  tell(allow(0, 600_000));
  assert.equal((await evaluate('app')).success, true);
  await restart();
  await refused('the new hello said nothing of it');
  Object.assign(policy, allow(0, 4000));
  const { until } = policy.evaluate;
  await restart();
  if (Date.now() < until - 500) assert.equal((await evaluate('app')).success, true);
  await untilRefused(Math.min(until, Date.now() + 5000));
  await restart();
  await refused('the same word, told again after its time');
});
