// The harness itself: everything comes up, a page is opened, and what it says arrives.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

let b;
before(async () => { b = await start({ pages: { '/': '<title>Hello</title><script src="/__page.js"></script><script>say("here", 1)</script>' } }); });
after(() => b?.stop());

test('the extension answers list_tabs', async () => {
  const { tabs } = await b.ok('list_tabs');
  assert.ok(tabs.length >= 1);
  assert.equal(typeof tabs[0].tab_id, 'number');
});
