// The same through every door: one short piece of work through WebSocket, Unix socket, command line, HTTP, MCP over stdio and MCP
// over HTTP does the same in the page and is answered the same; and whoever works at the same time through another door is never in the way.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findDaemon } from './harness/daemon.mjs';
import { DOORS, openDoor } from './harness/doors.mjs';
import { start } from './harness/start.mjs';

const FORM = `<title>Order</title><main><h1>Order form</h1>
<p>Fill this in to order one of our fine cakes; we bake every morning and deliver before noon.</p>
<label>Name <input id="name"></label><label><input type="checkbox" id="agree"> I agree</label>
<select id="city"><option>Rome</option><option>Oslo</option></select>
<button id="go" onclick="document.getElementById('out').textContent = ['Thank you', name_.value, agree.checked, city.value].join(' ')">Send</button>
<p id="out"></p></main><script>const name_ = document.getElementById('name'), agree = document.getElementById('agree'), city = document.getElementById('city');</script>`;

const daemon = findDaemon();
let b;

/** The page's own word for it, which does not go through the product. */
const outcome = (page) => b.chromium.inPage(page, "document.getElementById('out').textContent");

/** What a reading answer says, whether it came as a field or as a marked text. */
const text = (answer, field) => answer.result[field] ?? answer.shown;

/** The work, and what of its answers must not depend on the door. */
async function order(door, who) {
  const page = `/order-${who}`;
  b.site.pages[page] = FORM;
  const ok = async (method, params) => {
    const answer = await door.call(method, params);
    assert.ok(answer.ok, `${door.name} ${method}: ${answer.code} ${answer.error}`);
    return answer;
  };
  const failing = async (method, params) => {
    const answer = await door.call(method, params);
    assert.equal(answer.ok, false, `${door.name} ${method} should have failed`);
    return answer.code;
  };
  const facts = {};
  const opened = await ok('new_tab', { url: b.base + page });
  const { tab_id } = opened.result;
  const target = (value) => ({ tab_id, target: { value } });
  facts.opened = [opened.result.url.endsWith(page), opened.result.title];
  facts.filled = (await ok('set_value', { ...target('#name'), value: who })).result.value === who;
  facts.checked = (await ok('check', target('#agree'))).result.checked;
  facts.chosen = (await ok('select_option', { ...target('#city'), text: 'Oslo' })).result.element.id;
  facts.clicked = (await ok('click', { tab_id, target: { by: 'text', value: 'Send' } })).result.clicked;
  facts.inPage = (await outcome(page)).replace(who, 'WHO');
  const read = text(await ok('get_page_markdown', { tab_id, full: true }), 'markdown');
  facts.read = [read.includes('# Order form'), read.includes(`Thank you ${who} true Oslo`)];
  const picture = await ok('screenshot', { tab_id });
  const png = picture.picture ?? Buffer.from(picture.result.data.split(',')[1], 'base64');
  facts.picture = png.subarray(1, 4).toString();
  facts.missing = await failing('click', { ...target('#nowhere'), timeout: 200 });
  facts.noTab = await failing('click', { tab_id: 1, target: { value: '#go' } });
  facts.wrong = await failing('click', { tab_id: 'one', target: { value: '#go' } });
  facts.unknown = (await door.call('no_such_method', {})).ok;
  const listed = text(await ok('list_tabs', {}), 'tabs');
  facts.listed = (typeof listed === 'string' ? listed : JSON.stringify(listed)).includes(String(tab_id));
  facts.closed = (await ok('close_tab', { tab_id })).result.closed;
  facts.gone = await failing('click', target('#go'));
  return facts;
}

const EXPECTED = {
  opened: [true, 'Order'], filled: true, checked: true, chosen: 'city', clicked: { id: 'go', tag: 'button', text: 'Send', type: 'submit' },
  inPage: 'Thank you WHO true Oslo', read: [true, true], picture: 'PNG', missing: 'ELEMENT_NOT_FOUND', noTab: 'TAB_NOT_FOUND',
  wrong: 'INVALID_PARAMS', unknown: false, listed: true, closed: true, gone: 'TAB_NOT_FOUND',
};

describe('every door', { skip: !daemon && 'bridged is not built' }, () => {
  before(async () => { b = await start({ daemon: 'real', pages: { '/': '<title>Home</title>' } }); });
  after(() => b?.stop());

  test('bridged doctor finds the daemon, its doors and this browser in order, and the browser does not notice', async () => {
    const said = (() => { try { return b.daemon.run('doctor', '--json'); } catch (e) { return e.stdout; } })();
    const { checks } = JSON.parse(said);
    for (const check of ['daemon', 'socket', 'port', 'http', 'key', 'browser', 'scripts']) {
      assert.equal(checks.find((c) => c.check === check)?.status, 'ok', said);
    }
    assert.equal((await b.ok('status')).browsers.length, 1);
  });

  for (const name of DOORS) {
    test(`${name}: the same work, the same answers`, async () => {
      const door = await openDoor(b, name);
      try {
        assert.deepEqual(await order(door, `anna-${name}`), EXPECTED);
      } finally {
        await door.close();
      }
    });
  }

  test('all doors at once: everybody gets what is theirs', async () => {
    const doors = await Promise.all(DOORS.map((name) => openDoor(b, name)));
    try {
      const all = await Promise.all(doors.map((door) => order(door, `crowd-${door.name}`)));
      for (const facts of all) assert.deepEqual(facts, EXPECTED);
    } finally {
      for (const door of doors) await door.close();
    }
  });

  test('two agents at two doors: each has a tab of its own without naming it, and never the answer or the tab of the other', async () => {
    for (const page of ['/left', '/right']) b.site.pages[page] = `<title>${page}</title><main><h1>Page ${page}</h1><p>This is the text of ${page} and of no other page at all.</p><input id="mine"></main>`;
    const agents = await Promise.all([openDoor(b, 'mcp-stdio'), openDoor(b, 'mcp-http')]);
    const pages = ['/left', '/right'];
    try {
      const tabs = await Promise.all(agents.map((agent, i) => agent.call('new_tab', { url: b.base + pages[i] })));
      assert.notEqual(tabs[0].result.tab_id, tabs[1].result.tab_id);
      // Twenty rounds side by side, no tab_id: whatever is mixed up shows as the other one's word.
      await Promise.all(agents.map(async (agent, i) => {
        const other = pages[1 - i];
        for (let round = 0; round < 20; round++) {
          const [filled, read] = await Promise.all([
            agent.call('set_value', { target: { value: '#mine' }, value: `${pages[i]} ${round}` }),
            agent.call('get_page_markdown', { full: true }),
          ]);
          assert.equal(filled.result.value, `${pages[i]} ${round}`);
          assert.equal(filled.result.tab_id, tabs[i].result.tab_id);
          assert.ok(read.shown.includes(`Page ${pages[i]}`) && !read.shown.includes(other), read.shown);
        }
      }));
      for (const page of pages) assert.equal(await b.chromium.inPage(page, "document.getElementById('mine').value"), `${page} 19`);
      // Nor may one end what is the other's.
      await agents[0].call('close_auto_tabs', {});
      assert.equal(await b.chromium.inPage('/right', 'document.title'), '/right');
      await assert.rejects(b.chromium.inPage('/left', 'document.title'));
    } finally {
      for (const agent of agents) await agent.close();
    }
  });
});
