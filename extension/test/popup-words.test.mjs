// What the popup says exists in both languages, with the same places for values.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const words = (locale) => JSON.parse(fs.readFileSync(path.join(root, 'static/_locales', locale, 'messages.json'), 'utf8'));
const read = (...files) => files.map((f) => fs.readFileSync(path.join(root, f), 'utf8')).join('\n');
const [en, zh] = [words('en'), words('zh_CN')];

test('English and Chinese have the same texts, in the same order, with the same values', () => {
  assert.deepEqual(Object.keys(zh), Object.keys(en));
  const values = (message) => (message.match(/\$\d/g) ?? []).sort();
  for (const key of Object.keys(en)) {
    assert.deepEqual(values(zh[key].message), values(en[key].message), key);
    assert.ok(en[key].message && zh[key].message, key);
    if (key !== 'name' && key !== 'language') assert.match(zh[key].message, /\p{Script=Han}|^[^\p{L}]*$/u, key);
  }
  assert.deepEqual([en.language.message, zh.language.message], ['en', 'zh-CN']);
});

test('every text that is asked for is there, and none is there for nothing', () => {
  const html = read('static/popup.html', 'static/prompt.html');
  const code = read('src/popup/popup.ts', 'src/popup/actors.ts', 'src/popup/limits.ts', 'src/prompt/page.ts', 'src/popup/serve.ts', 'src/connection/badge.ts', 'build.mjs');
  const asked = new Set(['name', 'language', 'description']);
  for (const [, key] of html.matchAll(/data-i18n(?:-title)?="(\w+)"/g)) asked.add(key);
  for (const [key] of code.matchAll(/\b(?:popup|prompt|state|hint|badge)_[a-z_]+[a-z]\b/g)) asked.add(key);
  for (const state of ['up', 'dialing', 'down', 'unpaired', 'refused', 'replaced', 'foreign']) for (const kind of ['badge', 'state', 'hint']) asked.add(`${kind}_${state}`);
  for (const said of ['ask', 'deny']) asked.add(`popup_user_tabs_${said}`);
  // Nothing more can be said while it is being dialled.
  asked.delete('hint_dialing');
  assert.deepEqual([...asked].filter((key) => !en[key]), []);
  assert.deepEqual(Object.keys(en).filter((key) => !asked.has(key)), []);
});
