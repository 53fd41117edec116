// Checks parameters against the catalogue's schemas and hands on a clean copy: defaults filled in, unknown fields left out,
// no prototype that a "__proto__" key could reach.
import { BridgeError } from './errors';

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  /** A number outside of the bounds counts as the nearest one that is inside. */
  'x-clamp'?: boolean;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
  oneOf?: Schema[];
  additionalProperties?: boolean | Schema;
  $ref?: string;
}

type Defs = Record<string, Schema>;

/** The checked copy of a method's parameters, or INVALID_PARAMS with the place and the reason. */
export function validateParams(value: unknown, schema: Schema, defs: Defs): Record<string, unknown> {
  if (value === undefined || value === null) value = {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('params', 'must be an object');
  return check(value, schema, defs, '', true) as Record<string, unknown>;
}

const invalid = (path: string, reason: string) => new BridgeError('INVALID_PARAMS', `invalid params: ${path} ${reason}`);

function check(value: unknown, schema: Schema, defs: Defs, path: string, top = false): unknown {
  if (schema.$ref) {
    const def = defs[schema.$ref.replace(/^#\/defs\//, '')];
    if (!def) throw new BridgeError('INTERNAL_ERROR', `the catalogue lacks ${schema.$ref}`);
    // Keywords beside a $ref (a default of its own) add to the definition.
    const checked = check(value, { ...def, ...schema, $ref: undefined }, defs, path);
    return schema.$ref === '#/defs/target' ? wholeTarget(checked as Record<string, unknown>, path) : checked;
  }
  if (schema.oneOf) return oneOf(value, schema.oneOf, defs, path);
  if (schema.enum && !schema.enum.includes(value)) throw invalid(path, `must be one of ${schema.enum.map((v) => JSON.stringify(v)).join(', ')}`);
  const types = schema.type === undefined ? [] : Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.length && !types.some((type) => hasType(value, type))) throw invalid(path, `must be ${types.map(article).join(' or ')}, not ${article(typeName(value))}`);
  if (typeof value === 'string') {
    if (schema.minLength !== undefined && value.length < schema.minLength) throw invalid(path, schema.minLength === 1 ? 'must not be empty' : `must have at least ${schema.minLength} characters`);
    if (schema.maxLength !== undefined && value.length > schema.maxLength) throw invalid(path, `must have at most ${schema.maxLength} characters`);
    return value;
  }
  if (typeof value === 'number') {
    if (schema['x-clamp']) return Math.min(Math.max(value, schema.minimum ?? -Infinity), schema.maximum ?? Infinity);
    if (schema.minimum !== undefined && value < schema.minimum) throw invalid(path, `must be at least ${schema.minimum}`);
    if (schema.maximum !== undefined && value > schema.maximum) throw invalid(path, `must be at most ${schema.maximum}`);
    return value;
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((item, i) => check(item, items, defs, `${path}[${i}]`)) : value;
  }
  if (value !== null && typeof value === 'object') return object(value as Record<string, unknown>, schema, defs, path, top);
  return value;
}

/** A target in its long form: {"ref": …} alone stands for by: "ref". */
function wholeTarget(target: Record<string, unknown>, path: string): Record<string, unknown> {
  const { ref, ...rest } = target;
  if (ref === undefined) {
    if (target.value === undefined) throw invalid(`${path}.value`, 'is missing');
    return rest;
  }
  if (target.value !== undefined && target.value !== ref) throw invalid(`${path}.ref`, 'stands alone: value must not come with it');
  return { ...rest, by: 'ref', value: ref };
}

function object(value: Record<string, unknown>, schema: Schema, defs: Defs, path: string, top: boolean): Record<string, unknown> {
  const properties = schema.properties ?? {};
  const inner = (name: string) => (path ? `${path}.${name}` : name);
  const out = Object.create(null) as Record<string, unknown>;
  for (const name of schema.required ?? []) {
    if (!own(value, name) || value[name] === undefined) throw invalid(inner(name), 'is missing');
  }
  for (const [name, property] of Object.entries(properties)) {
    const given = own(value, name) ? value[name] : undefined;
    // null for something optional reads as left out, and so does a parameter's "" where that is no value: many clients fill every
    // field of a form.
    const optional = !schema.required?.includes(name);
    if (given === undefined || (optional && ((given === null && !allowsNull(property, defs)) || (top && given === '' && isNeverEmpty(property, defs))))) {
      const fallback = property.default ?? (property.$ref ? defs[property.$ref.replace(/^#\/defs\//, '')]?.default : undefined);
      if (fallback !== undefined) out[name] = fallback;
      continue;
    }
    out[name] = check(given, property, defs, inner(name));
  }
  // Other fields: ignored at the top (v1 peers may send more), elsewhere as the schema says.
  if (top) return out;
  const extra = schema.additionalProperties ?? !schema.properties;
  for (const name of Object.keys(value)) {
    if (own(properties, name)) continue;
    if (extra === false) throw invalid(inner(name), 'is not known here');
    if (typeof extra === 'object') out[name] = check(value[name], extra, defs, inner(name));
    else if (extra) out[name] = value[name];
  }
  return out;
}

function oneOf(value: unknown, choices: Schema[], defs: Defs, path: string): unknown {
  let first: BridgeError | undefined;
  for (const choice of choices) {
    try {
      return check(value, choice, defs, path);
    } catch (e) {
      if (!(e instanceof BridgeError)) throw e;
      first ??= e;
    }
  }
  throw first ?? invalid(path, 'matches nothing that is allowed here');
}

const own = (object: object, name: string) => Object.prototype.hasOwnProperty.call(object, name);

function allowsNull(schema: Schema, defs: Defs): boolean {
  if (schema.$ref) return allowsNull(defs[schema.$ref.replace(/^#\/defs\//, '')] ?? {}, defs);
  if (schema.oneOf) return schema.oneOf.some((s) => allowsNull(s, defs));
  return schema.type === undefined || schema.type === 'null' || (Array.isArray(schema.type) && schema.type.includes('null'));
}

function isNeverEmpty(schema: Schema, defs: Defs): boolean {
  if (schema.$ref) return isNeverEmpty(defs[schema.$ref.replace(/^#\/defs\//, '')] ?? {}, defs);
  return schema.type === 'string' && (schema.minLength ?? 0) > 0;
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer': return Number.isSafeInteger(value);
    case 'number': return typeof value === 'number' && Number.isFinite(value);
    case 'array': return Array.isArray(value);
    case 'object': return value !== null && typeof value === 'object' && !Array.isArray(value);
    case 'null': return value === null;
    default: return typeof value === type;
  }
}

const typeName = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
const article = (type: string) => (type === 'null' ? 'null' : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`);
