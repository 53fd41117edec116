// The MCP Inspector's command line: lists the tools and calls some, each time as a new process and so as a new owner.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { check, done } from './check.mjs';

const { BRIDGED, SITE, HTTP, WITNESS_NODE } = process.env;
const inspector = path.join(WITNESS_NODE, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

function run(server, ...args) {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [inspector, '--cli', ...server, ...args], { maxBuffer: 64 << 20, timeout: 60_000 }, (error, stdout, stderr) => {
      try { resolve(JSON.parse(stdout)); } catch { reject(new Error(`${error?.message ?? ''} ${stdout.slice(0, 300)} ${stderr.slice(0, 300)}`)); }
    });
  });
}

const pass = ['XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR', 'HOME'].flatMap((name) => ['-e', `${name}=${process.env[name]}`]);
const token = fs.readFileSync(`${process.env.XDG_STATE_HOME}/bridged/client.token`, 'utf8').trim();
const ways = { stdio: [BRIDGED, 'mcp', ...pass], http: [`${HTTP}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`] };
for (const [name, server] of Object.entries(ways)) {
  const call = (tool, ...args) => run(server, '--method', 'tools/call', '--tool-name', tool, ...args.flatMap((arg) => ['--tool-arg', arg]));
  await check(`inspector ${name}: lists the tools`, async () => {
    const { tools } = await run(server, '--method', 'tools/list');
    assert.ok(tools.length >= 10 && tools.every((tool) => tool.inputSchema));
  });
  await check(`inspector ${name}: reads a page by its address`, async () => {
    const read = await call('get_page_markdown', `url=${SITE}/form`, 'full=true');
    assert.ok(read.content[0].text.includes('Order form'), JSON.stringify(read));
  });
  await check(`inspector ${name}: the next process is another owner and may not use this one's tab`, async () => {
    const { tab_id } = (await call('new_tab', `url=${SITE}/form`)).structuredContent;
    const denied = await call('get_page_markdown', `tab_id=${tab_id}`);
    assert.ok(denied.isError && /PERMISSION_DENIED/.test(denied.content[0].text), JSON.stringify(denied));
  });
  await check(`inspector ${name}: a failing call is told as one`, async () => {
    const failed = await call('click', 'target=#nowhere', 'tab_id=1');
    assert.ok(failed.isError && /TAB_NOT_FOUND/.test(failed.content[0].text), JSON.stringify(failed));
  });
}
done();
