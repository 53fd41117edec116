#!/usr/bin/env node
// Makes src/generated/ from the catalogue and the folder of handlers, so that a new method is one catalogue entry and one file:
//   catalogue.ts  what the router validates with (names, access, scope, parameter schemas)
//   methods.ts    TypeScript types of every method's parameters and result
//   handlers.ts   the table from method names to src/methods/NAME.ts
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const out = path.join(root, 'src', 'generated');
const source = path.join(root, '..', 'catalogue', 'methods.json');

const banner = '// Made by scripts/generate.mjs. Do not edit.\n/* eslint-disable */\n';
const pascal = (name) => name.replace(/(?:^|[_-])([a-z0-9])/g, (_, c) => c.toUpperCase());
const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const comment = (text, indent) => (text ? `${indent}/** ${text.replace(/\*\//g, '*\\/').replace(/\n/g, ' ')} */\n` : '');

/** The TypeScript type that a schema describes. */
function typeOf(schema, indent = '') {
  if (!schema || typeof schema !== 'object') return 'unknown';
  if (schema.$ref) return pascal(schema.$ref.replace(/^#\/defs\//, ''));
  if (schema.enum) return schema.enum.map((v) => JSON.stringify(v)).join(' | ');
  if (schema.oneOf) return schema.oneOf.map((s) => wrap(typeOf(s, indent))).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => wrap(typeOf({ ...schema, type }, indent))).join(' | ');
  switch (schema.type) {
    case 'string': return 'string';
    case 'integer': case 'number': return 'number';
    case 'boolean': return 'boolean';
    case 'null': return 'null';
    case 'array': return `${wrap(typeOf(schema.items, indent))}[]`;
    case 'object': return objectOf(schema, indent);
    default: return schema.properties ? objectOf(schema, indent) : 'unknown';
  }
}
const wrap = (type) => (/[|\n]/.test(type) ? `(${type})` : type);

function objectOf(schema, indent) {
  const inner = indent + '  ';
  const required = new Set(schema.required ?? []);
  const lines = Object.entries(schema.properties ?? {}).map(([name, s]) =>
    `${comment(s.description, inner)}${inner}${key(name)}${required.has(name) ? '' : '?'}: ${typeOf(s, inner)};\n`);
  const extra = schema.additionalProperties;
  if (extra && typeof extra === 'object') lines.push(`${inner}[name: string]: ${lines.length ? 'unknown' : typeOf(extra, inner)};\n`);
  return lines.length ? `{\n${lines.join('')}${indent}}` : 'Record<string, unknown>';
}

const named = (name, schema) => {
  const type = typeOf(schema);
  return type.startsWith('{') ? `export interface ${name} ${type}\n` : `export type ${name} = ${type};\n`;
};

/** Parameters that a scope adds to every method of it (protocol.md §5). */
const common = {
  page: { tab_id: { type: 'integer', minimum: 1, description: 'The tab; without it the default tab.' }, browser_id: { type: 'string', description: 'The browser; the hub reads it.' } },
  tab: { tab_id: { type: 'integer', minimum: 1, description: 'The tab; without it the default tab.' }, browser_id: { type: 'string', description: 'The browser; the hub reads it.' } },
  browser: { browser_id: { type: 'string', description: 'The browser; the hub reads it.' } },
  hub: {},
};

const catalogue = fs.existsSync(source) ? JSON.parse(fs.readFileSync(source, 'utf8')) : { version: 0, defs: {}, methods: [] };
const methods = catalogue.methods.map((m) => {
  const params = m.params ?? { type: 'object' };
  return { ...m, params: { type: 'object', ...params, properties: { ...common[m.scope], ...params.properties } } };
});

let types = banner;
for (const [name, schema] of Object.entries(catalogue.defs ?? {})) types += `\n${comment(schema.description, '')}${named(pascal(name), schema)}`;
for (const m of methods) {
  types += `\n${comment(m.about, '')}${named(`${pascal(m.name)}Params`, m.params)}`;
  types += `\n${named(`${pascal(m.name)}Result`, m.result ?? { type: 'object' })}`;
}
types += `\n/** Every method of the catalogue with its parameters and result. */\nexport interface Methods {\n${methods
  .map((m) => `  ${key(m.name)}: { params: ${pascal(m.name)}Params; result: ${pascal(m.name)}Result };\n`).join('')}}\n`;

const table = methods.filter((m) => m.scope !== 'hub').map((m) => ({ name: m.name, access: m.access, scope: m.scope, params: strip(m.params) }));
const defs = Object.fromEntries(Object.entries(catalogue.defs ?? {}).map(([name, s]) => [name, strip(s)]));

/** A schema without what only people read: the worker is parsed at every start, so it stays small. */
function strip(schema) {
  if (Array.isArray(schema)) return schema.map(strip);
  if (!schema || typeof schema !== 'object') return schema;
  const { description: _description, ...rest } = schema;
  return Object.fromEntries(Object.entries(rest).map(([k, v]) => [k,
    k === 'properties' ? Object.fromEntries(Object.entries(v).map(([n, s]) => [n, strip(s)])) : k === 'enum' || k === 'default' ? v : strip(v)]));
}

const files = fs.readdirSync(path.join(root, 'src', 'methods')).filter((f) => f.endsWith('.ts') && f !== 'index.ts').map((f) => f.slice(0, -3)).sort();
const handlers = `${banner}import type { Handler } from '../call';\n${files.map((f) => `import { handler as ${f} } from '../methods/${f}';\n`).join('')}
export const handlers: Record<string, Handler> = {\n${files.map((f) => `  ${f}: ${f} as Handler,\n`).join('')}};\n`;

fs.mkdirSync(out, { recursive: true });
const write = (name, text) => {
  const file = path.join(out, name);
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text);
};
write('methods.ts', types);
write('catalogue.ts', `${banner}import type { Schema } from '../validate';

export interface MethodInfo { name: string; access: 'read' | 'write'; scope: 'page' | 'tab' | 'browser'; params: Schema }
export const defs: Record<string, Schema> = ${JSON.stringify(defs)};
export const methods: MethodInfo[] = ${JSON.stringify(table)};
`);
write('handlers.ts', handlers);

const known = new Set(table.map((m) => m.name));
const stray = files.filter((f) => !known.has(f));
const missing = table.filter((m) => !files.includes(m.name)).map((m) => m.name);
if (process.argv.includes('--strict') && (stray.length || missing.length)) {
  console.error(`handlers without a catalogue entry: ${stray.join(', ') || 'none'}; methods without a handler: ${missing.join(', ') || 'none'}`);
  process.exit(1);
}
