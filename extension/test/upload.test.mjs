// upload: every kind of place that takes files, from the daemon's reading of a path to what the page read in its change event.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const TELL = `<script src="/__page.js"></script><script>
  const tell = async (key, files) => say(key, await Promise.all([...files].map(async (f) => ({ name: f.name, type: f.type, size: f.size, text: f.size < 100 ? await f.text() : (await f.arrayBuffer()).byteLength }))));
  document.addEventListener('change', (e) => { if (e.target.type === 'file') { tell(e.target.id, e.target.files); count('changes'); } });
</script>`;
let b, folder;
before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'upload-test-'));
  b = await start({
    pages: {
      '/': `${TELL}<input type="file" id="plain"><label for="hidden">Choose a photo</label><input type="file" id="hidden" style="display:none">
        <input type="file" id="many" multiple><div id="styled"><span>Pick</span><input type="file" id="inner" hidden></div>
        <button id="opener">Attach</button><input type="file" id="opened" hidden><input id="text"><p id="nothing">Nothing</p>
        <input type="file" id="off" disabled>
        <script>document.querySelector('#opener').onclick = () => document.querySelector('#opened').click()</script>`,
      '/drop': `${TELL}<div id="zone" style="width:200px;height:100px">Drop here</div><script>
        const z = document.querySelector('#zone');
        z.addEventListener('dragover', (e) => { if ([...e.dataTransfer.types].includes('Files')) e.preventDefault(); });
        z.addEventListener('drop', (e) => { e.preventDefault(); tell('zone', e.dataTransfer.files); });</script>`,
      '/made': `${TELL}<button id="click">Click</button><button id="picker">Picker</button><button id="event">Event</button><button id="late">Late</button><script>
        const made = (id) => { const i = document.createElement('input'); i.type = 'file'; i.onchange = () => tell('made ' + id, i.files); return i; };
        document.querySelector('#click').onclick = () => made('click').click();
        document.querySelector('#picker').onclick = () => made('picker').showPicker();
        document.querySelector('#event').onclick = () => made('event').dispatchEvent(new MouseEvent('click'));
        document.querySelector('#late').onclick = async () => { await fetch('/'); made('late').click(); };
        new MutationObserver(() => { if (document.querySelector('input')) window.kept = true; }).observe(document, { childList: true, subtree: true });</script>`,
      '/framed': '<iframe src="{{cross}}/"></iframe>',
      '/late': `${TELL}<script>setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<input type=file id=late>') }, 500)</script>`,
    },
  });
});
after(async () => { await b?.stop(); fs.rmSync(folder, { recursive: true, force: true }); });

const file = (name, content) => { const p = path.join(folder, name); fs.writeFileSync(p, content); return p; };
const real = { skip: process.env.BRIDGED_BIN === 'hub' && 'needs the daemon, which reads the files' };
async function up(page, target, paths, more) {
  const tab = await b.open(page);
  return b.ok('upload', { tab_id: tab, target: { value: target }, paths, ...more });
}

test('a plain input: name, type and content arrive, the page is told once', real, async () => {
  const { files, element } = await up('/', '#plain', [file('Über mich 📎.txt', 'contents of the file')]);
  assert.deepEqual(files, [{ name: 'Über mich 📎.txt', size: 20 }]);
  assert.equal(element.id, 'plain');
  assert.deepEqual(await b.site.heard('plain'), [{ name: 'Über mich 📎.txt', type: 'text/plain', size: 20, text: 'contents of the file' }]);
  assert.equal(b.said.changes, 1);
});

test('an input that is hidden behind its label, inside a styled box, or opened by a button', real, async () => {
  const one = file('a.csv', 'x,y');
  await up('/', '#hidden', [one]);
  assert.equal((await b.site.heard('hidden'))[0].type, 'text/csv');
  delete b.said.hidden;
  const tab = await b.open('/');
  await b.ok('upload', { tab_id: tab, target: { by: 'text', value: 'Choose a photo' }, paths: [one] });
  assert.equal((await b.site.heard('hidden')).length, 1);
  await up('/', '#styled', [one]);
  assert.equal((await b.site.heard('inner')).length, 1);
  const { element, dropped } = await up('/', '#opener', [one]);
  assert.deepEqual([element.id, dropped], ['opened', undefined]);
  assert.equal((await b.site.heard('opened'))[0].text, 'x,y');
});

test('a button that makes its input only when it is clicked, and never puts it into the page', real, async () => {
  const one = file('made.txt', 'made');
  const tab = await b.open('/made');
  for (const id of ['click', 'picker', 'event', 'late']) {
    const { files } = await b.ok('upload', { tab_id: tab, target: { value: `#${id}` }, paths: [one] });
    assert.deepEqual(files, [{ name: 'made.txt', size: 4 }], id);
    assert.equal((await b.site.heard(`made ${id}`))[0].text, 'made');
  }
  assert.equal(await b.inPage('/made', 'document.querySelectorAll("input").length + String(window.kept)'), '0undefined');
});

test('several files for an input that takes several, and only for such', real, async () => {
  const paths = [file('1.txt', 'one'), file('2.png', 'two'), file('empty.bin', '')];
  await up('/', '#many', paths);
  assert.deepEqual((await b.site.heard('many')).map((f) => [f.name, f.size]), [['1.txt', 3], ['2.png', 3], ['empty.bin', 0]]);
  const tab = await b.open('/');
  const refused = await b.fails('upload', { tab_id: tab, target: { value: '#plain' }, paths });
  assert.deepEqual([refused.code, refused.maybe_executed], ['INVALID_PARAMS', undefined]);
});

test('a place to drop files on', real, async () => {
  const { dropped } = await up('/drop', '#zone', [file('d.txt', 'dropped')]);
  assert.equal(dropped, true);
  assert.equal((await b.site.heard('zone'))[0].text, 'dropped');
});

test('in a frame of another site, and an input that comes late', real, async () => {
  delete b.said.plain;
  const { frame } = await up('/framed', '#plain', [file('f.txt', 'in a frame')]);
  assert.equal(frame, `${b.cross}/`);
  assert.equal((await b.site.heard('plain'))[0].text, 'in a frame');
  await up('/late', '#late', [file('l.txt', 'late')]);
  assert.equal((await b.site.heard('late')).length, 1);
});

test('twenty megabytes arrive whole', real, async () => {
  delete b.said.plain;
  const { files } = await up('/', '#plain', [file('large.bin', Buffer.alloc(20 * 1024 * 1024, 7))]);
  assert.equal(files[0].size, 20 * 1024 * 1024);
  assert.equal((await b.site.heard('plain'))[0].text, 20 * 1024 * 1024);
});

test('more than 32 MiB is refused with the reason', real, async () => {
  const tab = await b.open('/');
  const error = await b.fails('upload', { tab_id: tab, target: { value: '#plain' }, paths: [file('huge.bin', Buffer.alloc(33 * 1024 * 1024))] });
  assert.equal(error.code, 'TOO_LARGE');
  assert.match(error.error, /32 MiB/);
});

test('what takes no files is told apart, and nothing is done', real, async () => {
  const tab = await b.open('/');
  const one = file('n.txt', 'n');
  const go = (target) => b.fails('upload', { tab_id: tab, target: { value: target }, paths: [one], timeout: 300 });
  assert.equal((await go('#text')).code, 'INVALID_PARAMS');
  assert.equal((await go('#nothing')).code, 'ELEMENT_NOT_ACTIONABLE');
  assert.equal((await go('#off')).code, 'ELEMENT_NOT_ACTIONABLE');
  assert.equal((await go('#none')).code, 'ELEMENT_NOT_FOUND');
});

test('files may come in the request itself', async () => {
  delete b.said.plain;
  const tab = await b.open('/');
  await b.ok('upload', { tab_id: tab, target: { value: '#plain' }, files: [{ name: 'inline.txt', data: Buffer.from('inline ✓').toString('base64') }] });
  assert.equal((await b.site.heard('plain'))[0].text, 'inline ✓');
  for (const files of [[], [{ name: '../x', data: '' }], [{ name: 'x', data: 'no base64!' }]]) assert.equal((await b.fails('upload', { tab_id: tab, target: { value: '#plain' }, files })).code, 'INVALID_PARAMS');
});
