#!/usr/bin/env node
// Bundles the extension into dist/ (unpacked, Chrome) and, with --firefox, dist-firefox/. One source, two manifests.
import esbuild from 'esbuild';
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));
const firefox = process.argv.includes('--firefox');
const watch = process.argv.includes('--watch');
const outdir = path.resolve(root, process.argv.find((a) => a.startsWith('--out='))?.slice(6) ?? (firefox ? 'dist-firefox' : 'dist'));
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));

execFileSync(process.execPath, [path.join(root, 'scripts', 'generate.mjs')], { stdio: 'inherit' });

/** Every file below a folder, sorted, so that the build stamp does not depend on the file system. */
function* filesOf(dir) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* filesOf(full); else yield full;
  }
}
const hash = createHash('sha256').update(version);
for (const dir of ['src', 'static']) for (const file of filesOf(path.join(root, dir))) hash.update(path.relative(root, file)).update(fs.readFileSync(file));
const build = hash.digest('hex').slice(0, 12);

// The public key pins the extension's id to fdembngelboffhfimppaoglbmaphnhfm wherever the folder lies; the daemon pins that id.
const key = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAtC9uNHuJjDq42GIpqaDXTrb8KQAFBGZsraIimCfhrrht3dOfpNjvHMp5/hD7olfHZEIFkrsQBgb5lyROue0DZTDSuC+jw6HKrMoA9X1YhJStUzkrAFZ2PttwTT9tVxC4ESatR2tQBBGlABNIvwH+BCa5owzhXS0wg6/lye10V6vvWiyIOsVkIAFx8h5qL/Xn3IHx8TseIvnu8pQ6C35zUF0P5/w+IDxDG3KGAPDORA/fwaq4CKSK8T/jq41EzpaswqysE22KdSzeKGRnIs/+fh7N5TKYKaGnoI/deYR+gBjdQJRWK8bBgFTrexrZtK+JR2MVmdK8HYF5p3nIwQ1DEwIDAQAB';
const permissions = ['alarms', 'debugger', 'downloads', 'scripting', 'storage', 'tabGroups', 'tabs', 'userScripts', 'webNavigation', 'webRequest'];
const icons = Object.fromEntries([16, 32, 48, 128].map((n) => [n, `icons/icon-${n}.png`]));
const manifest = {
  manifest_version: 3,
  name: '__MSG_name__',
  description: '__MSG_description__',
  version,
  default_locale: 'en',
  icons,
  action: { default_popup: 'popup.html', default_title: '__MSG_name__', default_icon: icons },
  host_permissions: ['<all_urls>'],
  ...(firefox
    ? {
        background: { scripts: ['worker.js'] },
        permissions: permissions.filter((p) => p !== 'debugger' && p !== 'userScripts'),
        optional_permissions: ['userScripts'],
        // Firefox's default policy for MV3 upgrades ws: to wss:, which would cut the connection to the daemon.
        content_security_policy: { extension_pages: "script-src 'self'; object-src 'self'" },
        browser_specific_settings: { gecko: { id: 'bridged@bridged.example', strict_min_version: '140.0' } },
      }
    : { minimum_chrome_version: '135', key, background: { service_worker: 'worker.js' }, permissions }),
};

fs.mkdirSync(outdir, { recursive: true });
// pairing.json belongs to the installation, not to the build: a rebuild must not unpair the browser.
for (const entry of fs.readdirSync(outdir)) if (entry !== 'pairing.json') fs.rmSync(path.join(outdir, entry), { recursive: true, force: true });
fs.cpSync(path.join(root, 'static'), outdir, { recursive: true });
fs.writeFileSync(path.join(outdir, 'manifest.json'), JSON.stringify(manifest, null, 2) + '\n');

const options = {
  entryPoints: {
    worker: path.join(root, 'src/worker.ts'),
    page: path.join(root, 'src/page/index.ts'),
    reading: path.join(root, 'src/page/reading.ts'),
    popup: path.join(root, 'src/popup/popup.ts'),
    prompt: path.join(root, 'src/prompt/page.ts'),
  },
  bundle: true,
  outdir,
  format: 'iife',
  target: firefox ? 'firefox140' : 'chrome135',
  charset: 'utf8',
  legalComments: 'eof',
  logLevel: 'warning',
  define: { __VERSION__: JSON.stringify(version), __BUILD__: JSON.stringify(build) },
};
if (watch) {
  const context = await esbuild.context({ ...options, logLevel: 'info' });
  await context.watch();
} else {
  await esbuild.build(options);
}
