// Loads one TypeScript module of the extension into node, for tests that need no browser.
import esbuild from 'esbuild';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const src = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../src');

export async function load(module) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(src, module)], bundle: true, write: false, format: 'esm', platform: 'neutral', logLevel: 'error',
    define: { __VERSION__: '"0"', __BUILD__: '"test"' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}
