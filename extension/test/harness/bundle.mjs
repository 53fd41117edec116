// Loads TypeScript modules of src/: into the test itself, or as code that a page can run.
import esbuild from 'esbuild';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const src = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../src');

export async function load(file) {
  const { outputFiles } = await esbuild.build({ entryPoints: [path.join(src, file)], bundle: true, write: false, format: 'esm', target: 'node20', charset: 'utf8' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** Code that defines `globalThis[name]` with what a module of src/ exports, for modules that need no extension around them. */
export async function globalCode(name, files) {
  const contents = files.map((file) => `export * from ${JSON.stringify(path.join(src, file))};`).join('\n');
  const { outputFiles } = await esbuild.build({ stdin: { contents, resolveDir: src, loader: 'ts' }, bundle: true, write: false, format: 'iife', globalName: name, target: 'chrome135', charset: 'utf8' });
  return outputFiles[0].text.replace(/^(?:var|const|let) /m, 'var ');
}
