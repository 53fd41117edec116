// The official TypeScript client (@modelcontextprotocol/sdk) over stdio and over HTTP: one form filled in by each, and its ways to fail.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { check, done } from './check.mjs';

const require = createRequire(`${process.env.WITNESS_NODE}/`);
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { BRIDGED, SITE, HTTP } = process.env;

const text = (result) => result.content.filter((c) => c.type === 'text').map((c) => c.text).join('\n');

async function through(name, transport, wide) {
  const client = new Client({ name: 'typescript witness', version: '1' });
  await check(`${name}: connects`, async () => {
    await client.connect(transport);
    assert.equal(client.getServerVersion().name, 'bridged');
  });
  const call = (tool, args, options) => client.callTool({ name: tool, arguments: args }, undefined, options);
  await check(`${name}: every tool has a schema and a description`, async () => {
    const { tools } = await client.listTools();
    assert.ok(tools.length >= 10);
    for (const tool of tools) assert.ok(tool.inputSchema.type === 'object' && tool.description, tool.name);
  });
  let tab_id;
  await check(`${name}: fills in a form in a tab of its own`, async () => {
    ({ tab_id } = (await call('new_tab', { url: `${SITE}/form` })).structuredContent);
    const filled = await call('set_value', { tab_id, target: { by: 'label', value: 'Name' }, value: name });
    assert.equal(filled.structuredContent.value, name);
    const clicked = await call('click', { tab_id, target: '#send' });
    assert.ok(!clicked.isError, text(clicked));
    const arrived = await call('wait_for', { tab_id, url: '**/thanks*' });
    assert.ok(!arrived.isError, text(arrived));
  });
  await check(`${name}: reads the page that came of it, marked as untrusted`, async () => {
    const read = text(await call('get_page_markdown', { tab_id, full: true }));
    assert.match(read, /^\[\[page:\w+\]\] untrusted/);
    assert.ok(read.includes(`Dear ${name}`), read);
  });
  await check(`${name}: takes a picture`, async () => {
    const image = (await call('screenshot', { tab_id })).content.find((c) => c.type === 'image');
    assert.equal(Buffer.from(image.data, 'base64').subarray(1, 4).toString(), 'PNG');
  });
  await check(`${name}: a failure says what to do next`, async () => {
    const failed = await call('click', { tab_id, target: '#nowhere', timeout: 200 });
    assert.ok(failed.isError);
    assert.match(text(failed), /ELEMENT_NOT_FOUND[\s\S]*Next:/);
  });
  if (wide) {
    await check(`${name}: calls run beside each other, and one can be cancelled`, async () => {
      const abort = new AbortController();
      const begun = Date.now();
      const long = call('wait_for', { tab_id, target: '#never', timeout: 60_000 }, { signal: abort.signal, timeout: 90_000 });
      const quick = await Promise.all(Array.from({ length: 8 }, () => call('list_tabs', {})));
      assert.ok(quick.every((r) => text(r).includes('/thanks')));
      abort.abort('changed my mind');
      await assert.rejects(long);
      assert.ok(Date.now() - begun < 20_000);
    });
  }
  await check(`${name}: closes its tab`, async () => {
    assert.equal((await call('close_tab', { tab_id })).structuredContent.closed, true);
    await client.close();
  });
}

await through('ts-stdio', new StdioClientTransport({ command: BRIDGED, args: ['mcp', '--tools', 'all'], env: process.env, stderr: 'inherit' }), true);
const url = new URL(`${HTTP}/mcp`);
await check('ts-http: without the token it is refused, since fetch sends what browsers send (Sec-Fetch-Mode)', async () => {
  await assert.rejects(new Client({ name: 'typescript witness', version: '1' }).connect(new StreamableHTTPClientTransport(url)), /UNAUTHORIZED/);
});
const token = fs.readFileSync(`${process.env.XDG_STATE_HOME}/bridged/client.token`, 'utf8').trim();
await through('ts-http', new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } }), false);
done();
