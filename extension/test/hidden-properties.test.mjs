// A form's controls hide the form's own properties of the same name; it is read and used all the same.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const NAMES = ['id', 'name', 'title', 'action', 'method', 'children', 'childNodes', 'parentNode', 'parentElement', 'attributes', 'style', 'hidden', 'role', 'value', 'className', 'contains'];
const form = (name) => `<main><form id="f" style="padding:20px" onsubmit="return false"><p>Words in it</p><input type="text" name="${name}" aria-label="Field"><button id="go" type="button" onclick="this.dataset.n = 1">Go</button></form></main>`;

let b;
before(async () => { b = await start({ pages: Object.fromEntries(NAMES.map((name) => [`/${name}`, form(name)])) }); });
after(() => b?.stop());

for (const name of NAMES) {
  test(`a form with a control named ${name}`, async () => {
    const tab = await b.open(`/${name}`);
    const on = (method, more) => b.ok(method, { tab_id: tab, ...more });
    const { nodes } = await on('get_a11y_tree');
    assert.ok(nodes.some((node) => node.role === 'button' && node.name === 'Go'));
    assert.match((await on('get_page_content')).text, /Words in it/);
    assert.match((await on('get_page_markdown')).markdown, /Words in it/);
    assert.equal((await on('set_value', { target: { by: 'label', value: 'Field' }, value: 'v' })).value, 'v');
    await on('click', { target: { by: 'text', value: 'Go' } });
    assert.equal(await b.inPage(`/${name}`, 'go.dataset.n'), '1');
    const { clicked } = await on('click', { target: { value: '#f' } });
    assert.deepEqual([clicked.tag, clicked.id], ['form', 'f']);
    await on('scroll', { dy: 1 });
  });
}
