// The table of keys and shortcuts, per platform.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './harness/bundle.mjs';

const { parseKeys, charStroke, eventsOf } = await load('debugger/keys.ts');
const one = (text, os = 'linux') => { const [stroke, ...rest] = parseKeys(text, os); assert.equal(rest.length, 0); return stroke; };

test('lists of strokes, with the comma and the plus as keys too', () => {
  const labels = (text) => parseKeys(text, 'linux').map((s) => s.label);
  assert.deepEqual(labels('Control+A, Delete'), ['Control+a', 'Delete']);
  assert.deepEqual(labels('a,b ,  Enter'), ['a', 'b', 'Enter']);
  assert.deepEqual(labels(','), [',']);
  assert.deepEqual(labels('Control+,, x'), ['Control+,', 'x']);
  assert.deepEqual(labels('Control++'), ['Control++']);
  assert.deepEqual(labels('+, Comma, Plus, Space'), ['+', ',', '+', 'Space']);
  assert.deepEqual(labels('esc, return, PageDown, F5, up'), ['Escape', 'Enter', 'PageDown', 'F5', 'ArrowUp']);
  for (const bad of ['', ' , ', 'Nonsense', 'Foo+A', 'A+B']) assert.throws(() => parseKeys(bad, 'linux'), /invalid params: keys/);
});

for (const [os, mod] of [['linux', 'ctrl'], ['win', 'ctrl'], ['mac', 'meta']]) {
  test(`${os}: Mod is ${mod}, and editing shortcuts name their command`, () => {
    for (const [keys, command] of [['A', 'selectAll'], ['C', 'copy'], ['X', 'cut'], ['V', 'paste'], ['Z', 'undo'], ['Shift+Z', 'redo']]) {
      const stroke = one(`Mod+${keys}`, os);
      assert.ok(stroke.held.includes(mod));
      assert.deepEqual(stroke.commands, [command], keys);
      assert.equal(stroke.text, undefined);
      // What an agent writes for any system.
      assert.deepEqual(one(`Control+${keys}`, os).commands, [command]);
    }
    assert.deepEqual(one('Mod+K', os).commands, []);
    assert.equal(one('Mod+A', os).key, 'a');
    assert.equal(one('Mod+Shift+Z', os).key, 'Z');
  });
}

test('a Mac moves, selects and deletes by its own key bindings; elsewhere the page does', () => {
  const mac = { ArrowLeft: ['moveLeft'], 'Shift+ArrowLeft': ['moveLeftAndModifySelection'], 'Alt+ArrowRight': ['moveWordRight'], 'Alt+Shift+ArrowRight': ['moveWordRightAndModifySelection'],
    'Meta+ArrowUp': ['moveToBeginningOfDocument'], 'Meta+Shift+ArrowLeft': ['moveToLeftEndOfLineAndModifySelection'], Backspace: ['deleteBackward'], 'Alt+Backspace': ['deleteWordBackward'], End: ['scrollToEndOfDocument'], Enter: [], a: [] };
  for (const [keys, commands] of Object.entries(mac)) {
    assert.deepEqual(one(keys, 'mac').commands, commands, keys);
    for (const os of ['linux', 'win']) assert.deepEqual(one(keys, os).commands, [], keys);
  }
});

test('held keys go down before and up after, each event with what is held by then', () => {
  const events = [...eventsOf(one('Control+Shift+K'))].map((e) => `${e.type} ${e.key} ${e.modifiers}`);
  assert.deepEqual(events, ['rawKeyDown Control 2', 'rawKeyDown Shift 10', 'rawKeyDown K 10', 'keyUp K 10', 'keyUp Shift 2', 'keyUp Control 0']);
});

test('characters: shifted ones, lines, other alphabets, and those that no key has', () => {
  const stroke = (char) => charStroke(char, 'linux');
  assert.deepEqual([stroke('A').held, stroke('A').text, stroke('A').code], [['shift'], 'A', 'KeyA']);
  assert.deepEqual([stroke('!').held, stroke('!').code, stroke('!').keyCode], [['shift'], 'Digit1', 49]);
  assert.deepEqual([stroke('a').held, stroke(' ').text], [[], ' ']);
  assert.deepEqual([stroke('\n').text, stroke('\t').text], ['\r', undefined]);
  assert.deepEqual([stroke('ü').text, stroke('ж').text, stroke('λ').text], ['ü', 'ж', 'λ']);
  for (const none of ['漢', '👍', '한']) assert.equal(stroke(none), undefined, none);
});
