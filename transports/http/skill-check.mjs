// curl drives a real Chromium over HTTP as an OpenBridge skill does, then reads pages and speaks MCP there.
//   node --test transports/http/skill-check.mjs      (BRIDGED_BIN names the daemon; else target/release or target/debug)
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { start } from '../../extension/test/harness/start.mjs';

const run = promisify(execFile);
const PAGE = `<!doctype html><title>Order</title><main><h1>An order</h1><p>${'Some words that make this the content. '.repeat(8)}</p>
<form onsubmit="event.preventDefault(); document.title = 'sent ' + document.querySelector('#name').value">
<label>Name <input id="name"></label><button id="go">Send</button></form></main>`;

let b, http;
before(async () => {
  b = await start({ daemon: 'real', pages: { '/': PAGE } });
  http = /listens on (http:\S+)/.exec(b.daemon.log())[1];
});
after(() => b?.stop());

async function curl(...args) {
  const { stdout } = await run('curl', ['-s', '-w', '\n%{http_code} %{content_type}', ...args], { maxBuffer: 64 << 20 });
  const [, body, status, type] = /^([\s\S]*)\n(\d+) (.*)$/.exec(stdout);
  return { body, status: Number(status), type };
}

/** As the skill has it: a tool and its arguments, nothing else. */
async function tool(toolName, args = {}) {
  const { body } = await curl('-X', 'POST', `${http}/command`, '-H', 'Content-Type: application/json', '-d', JSON.stringify({ toolName, args }));
  return JSON.parse(body);
}

async function data(toolName, args) {
  const answer = await tool(toolName, args);
  assert.ok(answer.data, `${toolName}: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

test('a skill checks the health, fills in a form, and cleans up', async () => {
  const health = JSON.parse((await curl(`${http}/health`)).body);
  assert.equal(health.ok, true);
  assert.equal(health.connectedSessions.length, 1);
  assert.equal(health.paused, false);
  const has = (name) => health.enabledTools.includes(name);

  const opened = await data('browser_navigate', { url: `${b.base}/`, newTab: true, sessionId: 'order', groupTitle: 'An order' });
  assert.equal(opened.loaded, true);
  const { tabs } = await data('browser_list_tabs');
  assert.ok(tabs.some((tab) => tab.tabId === opened.tabId && tab.title === 'Order'), JSON.stringify(tabs));

  let by = { selector: '#go' };
  if (has('browser_snapshot')) {
    const { nodes } = await data('browser_snapshot', { mode: 'compact' });
    const button = nodes.find((node) => node.role === 'button' && node.name === 'Send');
    assert.match(button.ref, /^backend-\d+$/);
    by = { ref: button.ref };
    const full = await data('browser_snapshot', { mode: 'full' });
    assert.ok(Array.isArray(full.snapshot) && full.nodes === undefined);
  }
  const filled = await data('browser_fill', { selector: '#name', value: 'alice' });
  assert.deepEqual([filled.success, filled.selector, filled.value], [true, '#name', 'alice']);
  const clicked = await data('browser_click', by);
  assert.equal(clicked.success, true);
  assert.equal(await b.inPage('/', 'document.title'), 'sent alice');

  const picture = await data('browser_screenshot');
  assert.equal(picture.mimeType, 'image/png');
  assert.equal(Buffer.from(picture.base64, 'base64').subarray(1, 4).toString(), 'PNG');
  if (has('browser_save_as_pdf')) {
    const pdf = await data('browser_save_as_pdf', { printBackground: true });
    assert.equal(pdf.mimeType, 'application/pdf');
    assert.equal(Buffer.from(pdf.base64, 'base64').subarray(0, 5).toString(), '%PDF-');
  }
  if (has('browser_find_tab')) assert.equal((await data('browser_find_tab', { titleContains: 'sent' })).count, 1);
  if (has('browser_mouse_click')) {
    const hit = await data('browser_mouse_click', { x: 5, y: 5, clickCount: 1 });
    assert.deepEqual([hit.x, hit.y, hit.button, hit.clickCount], [5, 5, 'left', 1]);
  }
  if (has('browser_network')) {
    assert.ok((await data('browser_network', { action: 'start' })).status);
    await data('browser_navigate', { url: `${b.base}/` });
    const { events, count } = await data('browser_network', { action: 'get', limit: 10 });
    assert.ok(count > 0 && events.length === count, JSON.stringify(events));
    await data('browser_network', { action: 'stop' });
  }
  if (has('browser_type')) {
    await data('browser_click', { selector: '#name' });
    assert.equal((await data('browser_type', { text: 'ab' })).success, true);
    assert.equal((await data('browser_key_type', { text: 'cd' })).text, 'cd');
    assert.equal((await data('browser_send_keys', { keys: 'Shift+E, Backspace' })).success, true);
    assert.match(await b.inPage('/', 'document.querySelector("#name").value'), /abcd/);
  }
  const missing = await tool('browser_click', { selector: '#nothing', timeout: 300 });
  assert.equal(missing.error.code, 'ELEMENT_NOT_FOUND');
  const closed = has('browser_close_session')
    ? await data('browser_close_session', { sessionId: 'order' })
    : await data('browser_close_all_managed_tabs');
  assert.equal(closed.closedTabCount, 1);
});

test('a group needs no session, and other combinations that OpenBridge takes', async () => {
  const opened = await data('browser_new_tab', { url: `${b.base}/`, groupTitle: 'Mine', groupColor: 'purple' });
  assert.deepEqual([opened.groupTitle, opened.groupColor, opened.sessionId], ['Mine', 'purple', 'default']);
  const second = await data('browser_navigate', { url: `${b.base}/`, newTab: true, groupTitle: 'Mine', timeoutMs: 10_000, waitUntil: 'domcontentloaded' });
  assert.equal(second.groupId, opened.groupId);
  const { tabs, count } = await data('browser_find_tab', { query: '', activate: false });
  assert.ok(count >= 3 && tabs.some((tab) => tab.tabId === opened.tabId), JSON.stringify(tabs));
  await data('browser_select_tab', { tabId: opened.tabId, groupColor: 'magenta' });
  assert.equal((await data('browser_network', {})).count, 0);
  assert.equal((await data('browser_snapshot', { maxNodes: 1 })).url, `${b.base}/`);
  assert.equal((await data('browser_close_session', { sessionId: 'default' })).closedTabCount, 2);
  assert.equal((await data('browser_close_session', { sessionId: 'default' })).closedTabCount, 0);
});

test('a page is read in one request and its tab is gone', async () => {
  const before = (await data('browser_list_tabs')).tabs.length;
  const read = (format) => curl(`${http}/read?format=${format}&url=${encodeURIComponent(`${b.base}/`)}`);
  const markdown = await read('markdown');
  assert.equal(markdown.type, 'text/markdown; charset=utf-8');
  assert.match(markdown.body, /Some words that make this the content/);
  assert.match((await read('text')).body, /An order/);
  assert.match((await read('html')).body, /^<!DOCTYPE html>[\s\S]*id="go"/);
  assert.ok(JSON.parse((await read('a11y')).body).nodes.some((node) => node.name === 'Send'));
  const nowhere = await curl(`${http}/read?url=http%3A%2F%2F127.0.0.1%3A1%2F`);
  assert.equal(nowhere.status, 502);
  assert.equal((await data('browser_list_tabs')).tabs.length, before);
});

test('MCP over HTTP works in a window of its own and closes it', async () => {
  const accept = ['-H', 'Accept: application/json, text/event-stream', '-H', 'Content-Type: application/json'];
  const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'curl', version: '1' } } };
  const { stdout } = await run('curl', ['-si', '-X', 'POST', `${http}/mcp`, ...accept, '-d', JSON.stringify(hello)]);
  const session = /Mcp-Session-Id: (\S+)/i.exec(stdout)[1];
  const call = async (name, args) => {
    const message = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: args } };
    const { body } = await curl('-X', 'POST', `${http}/mcp`, ...accept, '-H', `Mcp-Session-Id: ${session}`, '-H', 'MCP-Protocol-Version: 2025-11-25', '-d', JSON.stringify(message));
    return JSON.parse(body).result;
  };
  assert.ok(!(await call('new_tab', { url: `${b.base}/` })).isError);
  assert.match((await call('get_page_markdown', {})).content[0].text, /\[\[page:[\s\S]*Some words/);
  assert.ok(!(await call('close_agent_window', {})).isError);
});
