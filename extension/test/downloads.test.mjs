// Downloads that a click causes: the answer says where the file really is and how it stands, and the file is there.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const SAVE = `<script>
  const save = (href, name) => { const a = document.createElement('a'); a.href = href; a.download = name; a.click(); };
  const on = (id, f) => document.querySelector('#' + id).addEventListener('click', f);
</script>`;

let b;
before(async () => {
  b = await start({
    pages: {
      '/': `<title>Files</title>${SAVE}<a id="named" href="/file.bin" download="named.bin">a</a><a id="plain" href="/file.bin" download>b</a><a id="report" href="/report">c</a>
        <a id="moved" href="/moved">d</a><a id="blank" href="/report" target="_blank">e</a><form action="/report" method="post"><button id="post">f</button></form>
        <a id="data" href="data:text/csv,a%2Cb" download="table.csv">g</a><button id="blob">h</button><button id="script">i</button><button id="location">j</button>
        <button id="window">k</button><button id="nothing">l</button><a id="empty" href="/204">m</a><a id="slow" href="/slow">n</a><a id="late" href="/late" download>o</a>
        <a id="cross" href="{{cross}}/page" download>p</a><button id="two">q</button><button id="fetched">t</button><button id="chain">u</button><button id="told">v</button><button id="again">w</button><button id="stream">x</button><button id="never">y</button><button id="soon">z</button><button id="soon-fetched">A</button><button id="timers">B</button><button id="window-late">C</button><script>
        on('soon', () => setTimeout(() => setTimeout(() => save('/file.bin', 'soon.bin'), 100), 200));
        on('soon-fetched', () => setTimeout(async () => save(URL.createObjectURL(await get('/made')), 'soon-fetched.csv'), 150));
        on('window-late', () => { open('/late-report'); });
        on('timers', () => { setTimeout(() => { document.title = 'late'; }, 20_000); setInterval(() => {}, 50); });
        const get = (url) => fetch(url).then((r) => r.blob());
        on('fetched', async () => save(URL.createObjectURL(await get('/made')), 'fetched.csv'));
        on('chain', async () => { const x = new XMLHttpRequest(); x.open('GET', '/where'); x.onload = () => get(x.response).then((made) => setTimeout(() => save(URL.createObjectURL(made), 'chain.csv'), 20)); x.send(); });
        on('told', async () => { location.href = await (await fetch('/where?report')).text(); });
        on('again', async () => { const made = URL.createObjectURL(await get('/made')); save(made, 'again 1.csv'); save(made, 'again 2.csv'); });
        on('stream', () => { window.events = new EventSource('/events'); fetch('/events'); });
        on('never', () => { fetch('/never'); });</script><button id="kept">r</button><a id="page" href="/page">s</a><script>
        on('blob', () => save(URL.createObjectURL(new Blob(['made by the page ✓'], { type: 'text/plain' })), 'made.txt'));
        on('script', () => save('/file.bin', 'scripted.bin'));
        on('location', () => { location.href = '/report'; });
        on('window', () => { open('/report'); });
        on('two', () => { save('/file.bin', 'one.bin'); save(URL.createObjectURL(new Blob(['2'])), 'two.bin'); });
        on('kept', () => { navigation.addEventListener('navigate', (e) => e.preventDefault(), { once: true }); save('/file.bin', 'never.bin'); });</script>`,
      '/page': '<title>A page</title>',
      '/other': `<title>Other</title>${SAVE}<button id="go">x</button><script>on('go', () => save('/other.bin', 'other.bin'))</script>`,
    },
    routes: {
      '/file.bin': { body: 'the bytes', type: 'application/octet-stream' },
      '/other.bin': { body: 'another\'s', type: 'application/octet-stream', delay: 100 },
      '/report': { body: 'page,1\n', type: 'text/csv', headers: { 'content-disposition': 'attachment; filename="report.csv"' } },
      '/moved': { redirect: '/report', status: 302 },
      '/slow': { hang: true, first: 'only the beginning', type: 'application/octet-stream', headers: { 'content-disposition': 'attachment; filename=slow.bin' } },
      '/late-report': { delay: 700, body: 'late', type: 'text/csv', headers: { 'content-disposition': 'attachment; filename="late-report.csv"' } },
      '/late': { delay: 700, body: 'late', type: 'application/octet-stream' },
      '/204': { status: 204 },
      '/made': { delay: 600, body: 'a,b\n', type: 'text/csv' },
      '/where': { delay: 150, body: '/made', type: 'text/plain' },
      '/events': { hang: true, first: 'data: 1\n\n', type: 'text/event-stream' },
      '/never': { hang: true },
    },
  });
});
after(() => b?.stop());

const folder = () => b.chromium.downloads;
const click = async (id, more = {}, frame = {}) => b.ok('click', { tab_id: await b.open('/'), target: { value: `#${id}` }, ...more }, frame);
/** Ends what is under way and takes all out of Chrome's list. */
const forget = () => b.chromium.inWorker('chrome.downloads.search({}).then((all) => Promise.all(all.map((d) => chrome.downloads.cancel(d.id).then(() => chrome.downloads.erase({ id: d.id })))))');
/** The download of an answer, whose file must hold the content. */
function whole(result, name, content) {
  const { download, navigated, opened } = result;
  assert.deepEqual([download?.state, navigated, opened], ['complete', undefined, undefined], JSON.stringify(result));
  assert.equal(path.basename(download.path), name);
  assert.equal(path.dirname(download.path), folder());
  assert.equal(fs.readFileSync(download.path, 'utf8'), content);
  assert.equal(download.bytes, Buffer.byteLength(content));
  return download;
}

test('a link with the download attribute, under its own name and, once that is taken, under the next', async () => {
  const { mime, origin } = whole(await click('named'), 'named.bin', 'the bytes');
  assert.deepEqual([mime, origin], ['application/octet-stream', b.base]);
  whole(await click('plain'), 'file.bin', 'the bytes');
  whole(await click('plain'), 'file (1).bin', 'the bytes');
});

test('an attachment instead of a page: directly, over a redirect, for another tab, of a form', async () => {
  whole(await click('report'), 'report.csv', 'page,1\n');
  whole(await click('moved'), 'report (1).csv', 'page,1\n');
  whole(await click('blank'), 'report (2).csv', 'page,1\n');
  whole(await click('post'), 'report (3).csv', 'page,1\n');
});

test('what the page made itself', async () => {
  assert.equal(whole(await click('blob'), 'made.txt', 'made by the page ✓').origin, b.base);
  assert.equal(whole(await click('data'), 'table.csv', 'a,b').origin, 'data:');
});

test('a script that starts it when it is clicked, by a link of its own or by the address', async () => {
  whole(await click('script'), 'scripted.bin', 'the bytes');
  whole(await click('location'), 'report (4).csv', 'page,1\n');
});

test('a server that is slow to begin is waited for', async () => {
  whole(await click('late'), 'late', 'late');
  whole(await click('window-late'), 'late-report.csv', 'late');
});

test('one that the page starts only when it has fetched what it needs, over several requests too', async () => {
  assert.equal(whole(await click('fetched'), 'fetched.csv', 'a,b\n').origin, b.base);
  whole(await click('fetched', { trusted: true }), 'fetched (1).csv', 'a,b\n');
  whole(await click('chain'), 'chain.csv', 'a,b\n');
  b.site.routes['/where'].body = '/report';
  whole(await click('told'), 'report (5).csv', 'page,1\n');
});

test('one that the page starts in a timer, or in one that a timer began, or has fetched for then', async () => {
  whole(await click('soon'), 'soon.bin', 'the bytes');
  whole(await click('soon-fetched'), 'soon-fetched.csv', 'a,b\n');
});

test('a click that begins a stream is not held up by it, one whose request is never answered is held up for 3 s', async () => {
  for (const [id, least, most] of [['nothing', 0, 2500], ['timers', 0, 2500], ['stream', 0, 2500], ['never', 2500, 8000]]) {
    const tab = await b.open('/');
    const from = Date.now();
    assert.equal((await b.ok('click', { tab_id: tab, target: { value: `#${id}` } })).download, undefined);
    const took = Date.now() - from;
    assert.ok(took >= least && took < most, `${id}: ${took}`);
  }
});

test('by a trusted click, also in a window that it opens for it', async () => {
  whole(await click('script', { trusted: true }), 'scripted (1).bin', 'the bytes');
  whole(await click('report', { trusted: true }), 'report (6).csv', 'page,1\n');
});

test('Chrome holds back a page\'s second one unless a trusted click asks for it: told as not begun, with the way out', async () => {
  const tab = await b.open('/');
  const on = (id, more) => b.ok('click', { tab_id: tab, target: { value: `#${id}` }, ...more });
  whole(await on('blob'), 'made (1).txt', 'made by the page ✓');
  whole(await on('blob', { trusted: true }), 'made (2).txt', 'made by the page ✓');
  for (const id of ['blob', 'report']) {
    const { download, navigated } = await on(id);
    assert.deepEqual([download.state, navigated], ['requested', undefined], id);
    assert.match(download.note, /trusted/);
  }
});

test('of two at once Chrome holds back the second, and both are told', async () => {
  const { download, downloads } = await click('two');
  assert.deepEqual(downloads.map((d) => [d.state, d.path && path.basename(d.path)]), [['complete', 'one.bin'], ['requested', undefined]]);
  assert.deepEqual(download, downloads[0]);
  const later = (await click('again')).downloads;
  assert.deepEqual(later.map((d) => [d.state, d.path && path.basename(d.path)]), [['complete', 'again 1.csv'], ['requested', undefined]]);
});

test('one that does not end in time is in progress, and one that the person cancels is told as such', async () => {
  const tab = await b.open('/');
  const { download } = await b.ok('click', { tab_id: tab, target: { value: '#slow' } }, { timeout_ms: 1500 });
  assert.deepEqual([download.state, path.basename(download.path), fs.existsSync(download.path)], ['in_progress', 'slow.bin', false]);
  await forget();
  const again = click('slow');
  await b.chromium.inWorker(`(async () => { for (let i = 0; i < 500; i++) { const [mine] = await chrome.downloads.search({ urlRegex: '/slow$' }); if (mine) return chrome.downloads.cancel(mine.id); await new Promise((r) => setTimeout(r, 20)); } })()`);
  const cancelled = (await again).download;
  assert.deepEqual([cancelled.state, cancelled.error, cancelled.path], ['interrupted', 'USER_CANCELED', undefined]);
});

test('one that breaks off says so', async () => {
  await forget();
  const going = click('slow');
  await b.chromium.inWorker(`(async () => { for (let i = 0; i < 500; i++) { const [mine] = await chrome.downloads.search({ urlRegex: '/slow$' }); if (mine?.bytesReceived) return; await new Promise((r) => setTimeout(r, 20)); } })()`);
  for (const socket of b.site.sockets) socket.destroy();
  const { download } = await going;
  assert.deepEqual([download.state, download.path], ['interrupted', undefined]);
  assert.match(download.error, /^(NETWORK|SERVER)_/);
});

test('where there is none, nothing is said of one: a plain click, an empty answer, a page, one that the page keeps back', async () => {
  for (const id of ['nothing', 'empty', 'kept']) {
    const result = await click(id);
    assert.deepEqual([result.download, result.navigated], [undefined, undefined], id);
  }
  const { download, navigated } = await click('page');
  assert.deepEqual([download, navigated], [undefined, `${b.base}/page`]);
  const cross = await click('cross');
  assert.deepEqual([cross.download, cross.navigated], [undefined, `${b.cross}/page`]);
});

test('another tab\'s download at the same time is not this click\'s', async () => {
  const [mine, other] = [await b.open('/'), await b.open('/other')];
  const [one, two] = await Promise.all([
    b.ok('click', { tab_id: mine, target: { value: '#slow' } }, { timeout_ms: 2000 }), b.ok('click', { tab_id: other, target: { value: '#go' } })]);
  assert.match(one.download.path, /slow/);
  whole(two, 'other.bin', 'another\'s');
  assert.equal(one.downloads, undefined);
  // A person's own download while a click waits for something else.
  const waits = b.ok('click', { tab_id: await b.open('/'), target: { value: '#late' } });
  await b.inPage('/other', `save('/other.bin', 'person.bin')`);
  whole(await waits, 'late (1)', 'late');
});

test('click_at tells of it too; navigate to a download is an error that says where the file is', async () => {
  const tab = await b.open('/');
  const at = await b.inPage(b.base, '(() => { const r = document.querySelector("#named").getBoundingClientRect(); return { x: r.x + 2, y: r.y + 2 }; })()');
  whole(await b.ok('click_at', { tab_id: tab, ...at }), 'named (1).bin', 'the bytes');
  const answer = await b.fails('navigate', { tab_id: tab, url: `${b.base}/moved` });
  assert.equal(answer.code, 'NAVIGATION_FAILED');
  const file = /complete: (\S+report \(7\)\.csv), 7 bytes/.exec(answer.error)?.[1];
  assert.ok(file, answer.error);
  assert.equal(fs.readFileSync(file, 'utf8'), 'page,1\n');
});
