// Runs a command beside a daemon, a Chromium with the extension and a small web site, all fresh: node with-browser.mjs [--sent A,B] -- COMMAND…
// The command finds BRIDGED (the program), SITE and HTTP (addresses) and the daemon's folders in its environment. With --sent the site
// must have had these names in its form from a real page load afterwards: the browser's own word, whatever the command says of itself.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { findDaemon } from '../extension/test/harness/daemon.mjs';
import { start } from '../extension/test/harness/start.mjs';

const FORM = `<title>Order</title><main><h1>Order form</h1><p>Fill this in to order one of our fine cakes; we bake every morning.</p>
<form action="/thanks"><label>Name <input id="who" name="who"></label><button id="send">Send</button></form></main>`;
const THANKS = `<title>Thanks</title><main><h1>Thank you</h1><p id="out"></p></main>
<script>const who = new URLSearchParams(location.search).get('who'); document.getElementById('out').textContent = 'Dear ' + who + ', your cake is on its way and will be with you before noon.'; fetch('/seen?who=' + who);</script>`;

const split = process.argv.indexOf('--');
const options = process.argv.slice(2, split);
const command = process.argv.slice(split + 1);
const sent = options[0] === '--sent' ? options[1].split(',') : [];

const b = await start({ daemon: 'real', pages: { '/form': FORM, '/thanks': THANKS } });
const http = /http:\/\/127\.0\.0\.1:\d+/.exec(b.daemon.log())?.[0];
const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...b.daemon.env, BRIDGED: findDaemon(), SITE: b.base, HTTP: http } });
const limit = setTimeout(() => { console.log('FAILED  it did not end within 120 s'); child.kill('SIGKILL'); }, 120_000);
let code = await new Promise((resolve) => {
  child.on('error', (e) => { console.log(`FAILED  ${e.message}`); resolve(1); });
  child.on('exit', (c) => resolve(c ?? 1));
});
clearTimeout(limit);
const seen = b.site.requests.filter((r) => r.path === '/seen').map((r) => new URL(r.url, b.base).searchParams.get('who'));
for (const who of sent) {
  const arrived = seen.filter((name) => name === who).length === 1;
  console.log(`${arrived ? 'ok    ' : 'FAILED'}  the site heard of ${who} from a page, once`);
  if (!arrived) code = 1;
}
await b.stop();
process.exit(code);
