// A key that a person pastes, against the real daemon: it serves where the folder's own key no longer does, and gives way to a newer one there.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openPopup, popupShows } from './harness/popup.mjs';
import { start } from './harness/start.mjs';

let b;
before(async () => { b = await start({ daemon: 'real', pages: { '/': '<title>x</title>' } }); });
after(() => b?.stop());

test('after its key was revoked the browser says that it is not paired, and takes a pasted one at the daemon\'s own port', async () => {
  const page = await openPopup(b);
  await popupShows(b, page, 'state', /Connected/);
  b.daemon.run('revoke', b.daemon.keyId);
  await popupShows(b, page, 'state', /Not paired/);
  const code = `${b.daemon.run('pair').trim()}:${b.daemon.port}`;
  await b.chromium.evaluate(page, `document.getElementById('key').value = ${JSON.stringify(code)}; document.getElementById('pair').requestSubmit()`);
  await popupShows(b, page, 'state', /Connected/);
  await b.ready();
  const known = JSON.parse(b.daemon.run('pairings', '--json')).extensions;
  assert.deepEqual(known.map((p) => p.label), ['pasted key']);
  // A key that is written into the folder afterwards is the newer one.
  b.daemon.run('extension', 'install', path.join(b.dir, 'installed'), '--port', String(b.daemon.port));
  fs.copyFileSync(path.join(b.dir, 'installed', 'pairing.json'), path.join(b.extension, 'pairing.json'));
  const { key_id } = JSON.parse(fs.readFileSync(path.join(b.extension, 'pairing.json'), 'utf8'));
  b.daemon.run('revoke', known[0].key_id);
  await popupShows(b, page, 'state', /Connected/);
  await b.ready();
  const now = JSON.parse(b.daemon.run('pairings', '--json')).extensions.find((p) => p.key_id === key_id);
  assert.ok(now?.last_seen, JSON.stringify(now));
});
