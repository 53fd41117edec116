// run_script while Chrome's switch "Allow User Scripts" is off: said in plain words, with the way to it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b;
before(async () => { b = await start({ userScripts: false, pages: { '/': '<title>x</title>' } }); });
after(() => b?.stop());

test('the error names the switch and where it is; other methods work', async () => {
  const tab = await b.open('/');
  const answer = await b.fails('run_script', { tab_id: tab, code: '1' });
  assert.equal(answer.code, 'UNSUPPORTED');
  assert.match(answer.error, /Allow User Scripts/);
  assert.match(answer.error, new RegExp(`chrome://extensions/\\?id=${b.extensionId}`));
  assert.equal(answer.maybe_executed, undefined);
  assert.equal((await b.ok('navigate', { tab_id: tab, url: b.base })).title, 'x');
});
