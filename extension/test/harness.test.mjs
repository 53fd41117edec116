// The harness itself: everything comes up, a page is opened, and what it says arrives; the screen outlives whoever looks at it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startDisplay } from './harness/display.mjs';
import { start } from './harness/start.mjs';

let b;
before(async () => { b = await start({ pages: { '/': '<title>Hello</title><script src="/__page.js"></script><script>say("here", 1)</script>' } }); });
after(() => b?.stop());

test('the extension answers list_tabs', async () => {
  const { tabs } = await b.ok('list_tabs');
  assert.ok(tabs.length >= 1);
  assert.equal(typeof tabs[0].tab_id, 'number');
});

test('a screen does not start over when nobody is left on it', async () => {
  const { xdotool, stop } = await startDisplay({ windowManager: false });
  try {
    xdotool('mousemove', 3, 4);
    assert.match(xdotool('getmouselocation'), /^x:3 y:4 /);
  } finally {
    await stop();
  }
});
