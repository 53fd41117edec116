// What is put in the place of a page's own functions for the moment of an act: pages that hinder it are clicked all the same, and none of it stays.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const opener = (code, more = '') => `<!doctype html><title>Opener</title><script src="/__page.js"></script><script>${code}</script><button id="go" onclick="say('opened', !!window.open('/two'))">x</button>${more}`;

let b;
before(async () => {
  b = await start({
    pages: {
      '/two': '<title>Two</title><h1>Two</h1>',
      '/deaf': opener('EventTarget.prototype.addEventListener = () => {};'),
    },
  });
});
after(() => b?.stop());

const click = (tab, id = 'go') => b.ok('click', { tab_id: tab, target: { value: `#${id}` } });

test('a page whose own world does not hear is clicked as if nothing were put there', async () => {
  const tab = await b.open('/deaf');
  for (let n = 0; n < 2; n++) {
    delete b.said.opened;
    assert.equal((await click(tab)).opened, undefined);
    assert.equal(await b.heard('opened'), false);
  }
});
