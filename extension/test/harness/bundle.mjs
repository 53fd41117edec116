// Loads a TypeScript module of src/ that needs no browser into the test itself.
import esbuild from 'esbuild';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const src = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../src');

export async function load(file) {
  const { outputFiles } = await esbuild.build({ entryPoints: [path.join(src, file)], bundle: true, write: false, format: 'esm', target: 'node20', charset: 'utf8' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
