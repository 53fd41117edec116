// Every method of the catalogue has a handler here and every handler an entry there.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('methods and handlers match', () => {
  execFileSync(process.execPath, [path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../scripts/generate.mjs'), '--strict'], { stdio: 'pipe' });
});
