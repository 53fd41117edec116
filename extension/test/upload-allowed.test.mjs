// Who may upload what: an agent only once the user allows it, a person at once; and no path leads out of the folders that are open.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openDoor } from './harness/doors.mjs';
import { start } from './harness/start.mjs';

let b, folder, agents, cli;
before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'upload-allowed-'));
  b = await start({
    daemon: 'real',
    pages: {
      '/': `<script src="/__page.js"></script><input type="file" id="file" multiple><script>
        document.querySelector('#file').onchange = async (e) => { for (const f of e.target.files) say(f.name, await f.text()); }</script>`,
    },
  });
  agents = await Promise.all(['mcp-stdio', 'mcp-http'].map((name) => openDoor(b, name)));
  agents.push(await proven());
  cli = await openDoor(b, 'cli');
});
after(async () => {
  for (const door of [...(agents ?? []), cli]) door?.close();
  await b?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** A protocol-2 client with the token: an agent, if its hello says nothing else. */
async function proven() {
  const token = fs.readFileSync(path.join(b.daemon.env.XDG_STATE_HOME, 'bridged/client.token'), 'utf8').trim();
  const client = await b.client({ protocol: 2, token });
  return { name: 'protocol 2', close: () => client.close(), call: async (method, params) => { const a = await client.call(method, params); return { ...a, ok: a.success }; } };
}
const file = (name, content = name) => { const p = path.join(folder, name); fs.writeFileSync(p, content); return p; };
const up = async (door, paths) => {
  const opened = await door.call('new_tab', { url: `${b.base}/` });
  assert.ok(opened.ok, opened.error);
  return door.call('upload', { tab_id: opened.result.tab_id, target: { value: '#file' }, paths });
};

test('an agent is refused until the user allows it, on every door, and again once it is off', async () => {
  for (const [i, door] of agents.entries()) {
    const refused = await up(door, [file(`early-${i}.txt`)]);
    assert.deepEqual([refused.ok, refused.code], [false, 'PERMISSION_DENIED'], door.name);
    assert.match(refused.error, /policy set uploads on/);
  }
  b.daemon.run('policy', 'set', 'uploads', 'on');
  for (const [i, door] of agents.entries()) {
    const name = `allowed-${i}.txt`;
    const done = await up(door, [file(name, `by ${door.name}`)]);
    assert.ok(done.ok, `${door.name}: ${done.error}`);
    assert.equal(await b.site.heard(name), `by ${door.name}`);
  }
  b.daemon.run('policy', 'set', 'uploads', 'off');
  assert.equal((await up(agents[0], [file('late.txt')])).code, 'PERMISSION_DENIED');
  assert.deepEqual(Object.keys(b.said).filter((k) => /early|late/.test(k)), []);
});

test('a person may at once', async () => {
  assert.ok((await up(cli, [file('person.txt')])).ok);
  assert.equal(await b.site.heard('person.txt'), 'person.txt');
});

test('dot files, links, folders, our own files and what lies elsewhere are never read, for a person neither', async () => {
  file('target.txt');
  fs.symlinkSync('/etc/passwd', path.join(folder, 'link.txt'));
  fs.symlinkSync('/etc', path.join(folder, 'away'));
  fs.mkdirSync(path.join(folder, 'inside'));
  for (const [what, given] of [
    ['a dot file', file('.env')], ['a link', path.join(folder, 'link.txt')], ['a folder on the way that is a link', path.join(folder, 'away/passwd')], ['a folder', path.join(folder, 'inside')],
    ['the client\'s token', path.join(b.daemon.env.XDG_STATE_HOME, 'bridged/client.token')], ['the extension\'s key', path.join(b.dir, 'installed/pairing.json')],
    ['elsewhere', '/etc/passwd'], ['by way of the parent', path.join(folder, '../../etc/passwd')], ['the process', '/proc/self/environ'],
  ]) {
    const answer = await up(cli, [given]);
    assert.deepEqual([answer.ok, answer.code], [false, 'PERMISSION_DENIED'], `${what}: ${JSON.stringify(answer)}`);
    assert.match(answer.error, /forbidden: path/, what);
  }
  // Beside one that may be read, too: all or none.
  assert.equal((await up(cli, [file('fine.txt'), '/etc/passwd'])).code, 'PERMISSION_DENIED');
  assert.equal(b.said['fine.txt'], undefined);
});
