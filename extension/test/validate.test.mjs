// The check of parameters against the catalogue's schemas: what passes, what is refused with which words, and what a copy must not carry.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { load } from './harness/bundle.mjs';

let validateParams;
before(async () => { ({ validateParams } = await load('validate.ts')); });

const defs = { target: { type: 'object', properties: { by: { type: 'string', enum: ['css', 'text'], default: 'css' }, value: { type: 'string', minLength: 1 } }, required: ['value'], additionalProperties: false }, wait: { type: 'integer', minimum: 0, default: 5000 } };
const schema = {
  type: 'object',
  properties: {
    target: { $ref: '#/defs/target' }, timeout: { $ref: '#/defs/wait' }, fields: { type: 'object', additionalProperties: { type: 'string' } },
    ratio: { type: 'number', maximum: 1 }, list: { type: 'array', items: { type: 'string' } }, owner: { type: 'string', minLength: 1 }, most: { type: 'integer', minimum: 10, maximum: 50, 'x-clamp': true }, note: { oneOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['target'],
};
const plain = (v) => JSON.parse(JSON.stringify(v));
const pass = (params) => plain(validateParams(params, schema, defs));
const refusal = (params) => { try { validateParams(params, schema, defs); } catch (e) { assert.equal(e.code, 'INVALID_PARAMS'); return e.message; } throw new Error('passed'); };
const target = { value: '#x' };

test('defaults are filled in, also those of a definition', () => {
  assert.deepEqual(pass({ target }), { target: { by: 'css', value: '#x' }, timeout: 5000 });
});

test('fields that the schema does not know are left out at the top and refused inside', () => {
  assert.deepEqual(pass({ target, more: 1 }), pass({ target }));
  assert.match(refusal({ target: { value: 'x', vlaue: 'y' } }), /target\.vlaue is not known here/);
});

test('null for something optional reads as left out, but stays where null is a value', () => {
  assert.deepEqual(pass({ target, timeout: null, ratio: null, note: null }), { ...pass({ target }), note: null });
  assert.match(refusal({ target: null }), /target must be an object, not null/);
});

test('an empty text where there must be one reads as left out', () => {
  assert.deepEqual(pass({ target, owner: '', note: '' }), { ...pass({ target }), note: '' });
});

test('a number that is to be clamped counts as the nearest that is allowed', () => {
  assert.deepEqual([1, 10, 30, 51].map((most) => pass({ target, most }).most), [10, 10, 30, 50]);
  assert.match(refusal({ target, most: 10.5 }), /most must be an integer/);
});

for (const [params, reason] of [
  [undefined, /target is missing/], [[], /must be an object/], ['x', /must be an object/], [{}, /target is missing/],
  [{ target: 'x' }, /target must be an object, not a string/], [{ target: { by: 'smell', value: 'x' } }, /target\.by must be one of "css", "text"/],
  [{ target: { value: '' } }, /target\.value must not be empty/], [{ target, timeout: '5' }, /timeout must be an integer, not a string/],
  [{ target, timeout: 1.5 }, /timeout must be an integer/], [{ target, timeout: -1 }, /at least 0/], [{ target, timeout: 2 ** 60 }, /integer/],
  [{ target, ratio: Infinity }, /ratio must be a number/], [{ target, ratio: 2 }, /at most 1/], [{ target, list: ['a', 1] }, /list\[1\] must be a string/],
  [{ target, fields: { a: 1 } }, /fields\.a must be a string/], [{ target, note: 7 }, /note/],
]) {
  test(`refused: ${JSON.stringify(params)}`, () => assert.match(refusal(params), reason));
}

// T70.
test('"__proto__" and "constructor" are data like any other', () => {
  const checked = validateParams(JSON.parse('{"target":{"value":"x"},"fields":{"__proto__":"h3","constructor":"a"},"__proto__":{"list":["x"]}}'), schema, defs);
  assert.deepEqual(Object.keys(checked.fields), ['__proto__', 'constructor']);
  assert.equal(checked.fields.__proto__, 'h3');
  assert.equal(checked.list, undefined);
  assert.equal({}.list, undefined);
});

// T67: JSON.parse makes Infinity of 1e400, -0 of -0, and a neighbour of 2^64.
for (const number of ['0', '-0', '-1', '0.1', '1e400', '-1e400', '18446744073709551616', '9007199254740992', '1e-99999999999', '1e99999999999999999999']) {
  test(`T67: no tab has the number ${number}`, async () => {
    const catalogue = await load('generated/catalogue.ts');
    const closing = catalogue.methods.find((m) => m.name === 'close_tab').params;
    const refused = (params) => { try { validateParams(params, closing, catalogue.defs); } catch (e) { return e.code; } };
    assert.equal(refused(JSON.parse(`{"tab_id":${number}}`)), 'INVALID_PARAMS');
    assert.equal(refused({ tab_id: 7 }), undefined);
  });
}
