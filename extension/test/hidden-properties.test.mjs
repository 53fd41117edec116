// A form's controls hide the form's own properties of the same name, and some elements those of the document. Whatever they are called,
// the page is read and used as one where they have harmless names.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const TEXT = 'The form stands in an article that is long enough to be one, with commas, of several sentences, and with words in it. '.repeat(6);
const form = (inside, around = '') => `<title>Form</title><script src="/__page.js"></script><main><article><h1>Heading</h1><p>${TEXT}</p>
  <form id="f" class="box" style="padding:20px;height:150px;overflow:auto;border:1px solid" action="/sent" onclick="count('clicks')"><p>Words in it</p>${inside}
    <label>Field <input class="field" required></label><label>Choice <select class="choice"><option>One</option><option>Two</option></select></label><label><input type="checkbox" class="box-in"> Agree</label>
    <div class="edit" contenteditable aria-label="Editor" style="min-height:20px"></div><table><tr><td>a</td><td>b</td></tr></table><ul><li>item <a href="/x">link</a></li></ul>
    <button id="go" type="button" onclick="count('go')">Go</button><button type="submit">Send</button><div style="height:400px">tall</div></form><p>${TEXT}</p></article></main>${around}`;

/** Each call with what is asked of its result; the page itself has the last word. */
const calls = [
  ['get_a11y_tree', {}], ['get_a11y_tree', { include_hidden: true, max_nodes: 5000 }, (r) => r.nodes.filter((n) => !/^(?:img|image)$/.test(n.role)).map(({ target: _, ...n }) => n)],
  ['snapshot', {}], ['snapshot', { mode: 'full' }], ['get_page_content', {}], ['get_page_markdown', {}], ['get_page_markdown', { full: true }], ['get_page_markdown', { selector: 'form' }],
  ['scrape', { item: 'form', fields: { words: 'p', at: 'a@href', class: '@class' } }], ['scrape', { item: 'li', fields: { text: 'a' } }],
  ['run_script', { code: 'document.forms[0] ?? document.querySelector.name' }, (r) => r.result?.__element], ['get_value', { target: { value: '#f' } }],
  ['click', { target: { value: '#f' } }], ['click', { target: { by: 'text', value: 'Go' } }], ['click', { target: { by: 'xpath', value: '//form//button[1]' } }], ['click', { target: { by: 'role', value: 'button', name: 'Go' } }],
  ['click', { target: { value: '#go' }, trusted: true }], ['click_at', { x: 60, y: 40 }], ['hover', { target: { value: '#f' } }],
  ['set_value', { target: { by: 'label', value: 'Field' }, value: 'v1' }], ['clear', { target: { value: '.field' } }], ['set_value', { target: { value: '.edit' }, value: 'text' }], ['get_value', { target: { value: '.edit' } }],
  ['check', { target: { value: '.box-in' } }], ['select_option', { target: { value: '.choice' }, text: 'Two' }],
  ['fill_form', { fields: [{ selector: '.field', value: 'v2' }, { selector: '.choice', option: 'One' }, { selector: '.box-in', checked: false }] }], ['type_text', { target: { value: '.field' }, text: 'typed' }],
  ['scroll', { dy: 30, target: { value: '#f' } }], ['scroll', { dy: 20 }], ['press_key', { key: 'Tab', target: { value: '.field' } }], ['press_key', { key: 'End', target: { value: '#f' } }],
  ['screenshot', { target: { value: '#go' } }, (r) => [r.width, r.height]], ['wait_for', { text: 'Words in it' }, () => 0], ['wait_for', { target: { value: '#f' }, state: 'visible' }, () => 0],
  ['set_value', { target: { value: 'form', index: 0 }, value: 'x', timeout: 100 }], ['press_key', { key: 'Enter', target: { value: '.field' }, wait_load: true }, (r) => r.loaded],
];

let b, plain;
before(async () => {
  b = await start({ pages: { '/names': '<title>Names</title>', '/plain': form(''), '/sent': '<title>Sent</title>Sent' } });
  plain = await use('/plain');
});
after(() => b?.stop());

/** All property names that the prototypes of a kind of node have. */
async function namesOf(kind) {
  await b.open('/names');
  return b.inPage('/names', `(() => { const names = new Set(); for (let p = ${kind}.prototype; p && p !== Object.prototype; p = Object.getPrototypeOf(p)) for (const n of Object.getOwnPropertyNames(p)) names.add(n); return [...names]; })()`);
}

/** What every call gives on a page, without what differs between any two pages. */
async function use(path) {
  const tab = await b.open(path);
  const results = [];
  for (const [method, params, look = (r) => r] of calls) {
    const answer = await b.call(method, { tab_id: tab, ...params });
    const text = JSON.stringify(answer.success ? look(answer.result) ?? null : [answer.code, answer.error]);
    results.push([method, JSON.stringify(params), text.replaceAll(path, '/page').replaceAll(`${tab}`, 'TAB').replace(/backend-\d+/g, 'REF').replace(/\d+ ms\b/g, 'MS').replace(/"(?:depth|size|count)":\d+/g, '""')]);
  }
  return { results, said: { ...b.said }, at: await b.page(tab, 'location.pathname') };
}

async function asPlain(path) {
  for (const key of Object.keys(b.said)) delete b.said[key];
  const { results, said, at } = await use(path);
  for (const [i, [method, params, result]] of results.entries()) assert.equal(result, plain.results[i][2], `${method} ${params}`);
  assert.deepEqual([said, at], [plain.said, plain.at]);
}

test('the page where nothing is hidden is read and used', () => {
  const failed = plain.results.filter(([, , text]) => text.startsWith('["')).map(([method, , text]) => `${method} ${text.slice(0, 60)}`);
  assert.deepEqual(failed.length, 1, `${failed}`);
  assert.equal(plain.at, '/sent');
});

test('a form with a control for every property that it has', async () => {
  const names = await namesOf('HTMLFormElement');
  assert.ok(names.length > 300 && names.includes('matches'));
  b.site.pages['/form'] = form(names.map((name) => `<input type="hidden" name="${name}">`).join(''));
  await asPlain('/form');
});

test('a document with a picture for every property that it has', async () => {
  const names = (await namesOf('Document')).filter((name) => name !== 'location');
  assert.ok(names.length > 200 && names.includes('body'));
  b.site.pages['/document'] = form('', names.map((name) => `<img name="${name}" hidden>`).join(''));
  await asPlain('/document');
});
