// TypeScript modules of src/page as code that a page can run, for tests that ask them something right there.
import esbuild from 'esbuild';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const src = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../src');

/** Code that defines the global `name` with all that the modules export. */
export async function globalCode(name, files) {
  const contents = files.map((file) => `export * from ${JSON.stringify(path.join(src, file))};`).join('\n');
  const { outputFiles } = await esbuild.build({ stdin: { contents, resolveDir: src, loader: 'ts' }, bundle: true, write: false, format: 'iife', globalName: name, target: 'chrome135', charset: 'utf8' });
  return outputFiles[0].text;
}
