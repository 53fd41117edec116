// Roles and names against Chrome's own accessibility tree, element by element. The tables below are all that may differ, and why.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { globalCode } from './harness/page-module.mjs';
import { start } from './harness/start.mjs';

const dir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'pages/read');

/** Chrome's own words, and the ARIA word for what one can do with such an element. */
const WORDS = {
  image: 'img', Date: 'textbox', DateTime: 'textbox', InputTime: 'textbox', ColorWell: 'textbox', DisclosureTriangle: 'button', MathMLMath: 'math',
  Iframe: 'iframe', Video: 'video', Audio: 'audio', RootWebArea: 'document',
  // Structure that ARIA has no word for, and that the tree does not list.
  LayoutTable: 'generic', LayoutTableRow: 'generic', LayoutTableCell: 'generic', LabelText: 'generic', Legend: 'generic', Figcaption: 'generic', Abbr: 'generic',
  DescriptionList: 'generic', sectionheader: 'generic', sectionfooter: 'generic', Ruby: 'generic', Canvas: 'generic', PluginObject: 'generic', LineBreak: 'generic',
  MathMLIdentifier: 'generic', SvgRoot: 'img',
};

/** Elements that may differ, by the beginning of their HTML. */
const DIFFERENT = [
  ['<div contenteditable="">', 'an editor without a role is a textbox to us: that is how one uses it'],
  ['<button class="u">', 'a name is what the page says, not how a stylesheet capitalises it'],
  ['<button class="icon">', "the private characters of icon fonts are no part of a name"],
  ['<div role="option"', 'what can be chosen is a choice, even outside of any list'], ['<div role="treeitem"', 'likewise'],
  ['<button><i title="it">', 'an icon that is named only by its title names its button (accname 2I)'],
  ['<img alt="" title="ti"', 'a decorative picture stays one'],
  ['<div role="math">', 'Chrome takes the text for the name'],
  ['<table aria-label="TL">', 'Chrome guesses which tables lay a page out; a label alone does not sway it'],
  ['<a href="#"><article>', 'a link or button that holds nothing but a card, which Chrome leaves without a name, is called by what the card says'],
  ['<button><div role="status">', 'likewise'],
  ['<video', 'Chrome names a player that has nothing to play'], ['<audio', 'likewise'],
];

let b, code;
before(async () => { b = await start({ dir }); code = await globalCode('a11y', ['page/a11y/roles.ts', 'page/a11y/names.ts']); });
after(() => b?.stop());

async function compare(page) {
  await b.open(page);
  const [{ targetId }] = await b.chromium.targets((t) => t.type === 'page' && t.url.endsWith(page));
  const { cdp } = b.chromium;
  const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
  const ask = (method, params) => cdp.send(method, params, sessionId);
  await ask('DOM.enable');
  await ask('Accessibility.enable');
  await ask('Runtime.evaluate', { expression: code });
  const { nodes } = await ask('Accessibility.getFullAXTree');
  const differ = [];
  let compared = 0;
  for (const node of nodes) {
    if (!node.backendDOMNodeId) continue;
    const { object } = await ask('DOM.resolveNode', { backendNodeId: node.backendDOMNodeId });
    const { result } = await ask('Runtime.callFunctionOn', { objectId: object.objectId, returnByValue: true, functionDeclaration:
      `function () { return this instanceof Element && this.getRootNode() === document
        ? { role: a11y.roleOf(this), name: a11y.nameOf(this), hidden: a11y.isHidden(this), html: this.outerHTML.slice(0, 100) } : null }` });
    const ours = result.value;
    if (!ours || DIFFERENT.some(([html]) => ours.html.startsWith(html))) continue;
    compared++;
    if (node.ignored) {
      if (!ours.hidden && !/^(?:generic|none|rowgroup|document)$/.test(ours.role)) differ.push(`Chrome ignores ${ours.html}, we say ${ours.role}`);
      continue;
    }
    const role = WORDS[node.role.value] ?? node.role.value, name = (node.name?.value ?? '').replace(/[\s\u00a0]+/g, ' ').trim();
    if (ours.hidden) differ.push(`Chrome shows ${ours.html}, we hide it`);
    // Our words for structure carry no names, except focusable elements, which have nothing else to be called by.
    if (ours.role !== role || (ours.name !== name && role !== 'generic' && role !== 'document')) {
      differ.push(`Chrome: ${node.role.value} ${JSON.stringify(name)}, ours: ${ours.role} ${JSON.stringify(ours.name)} for ${ours.html}`);
    }
  }
  return { compared, differ };
}

test('roles of every kind of element', async () => {
  const { compared, differ } = await compare('/roles.html');
  assert.ok(compared > 100, String(compared));
  assert.deepEqual(differ, []);
});

test('names from every source', async () => {
  const { compared, differ } = await compare('/names.html');
  assert.ok(compared > 250, String(compared));
  // One table of two rows without lines or headers; see DIFFERENT.
  assert.deepEqual(differ.filter((line) => !/LayoutTable(?:Row|Cell) .* for <t[rd]>/.test(line)), []);
});

test('a whole article', async () => {
  const { compared, differ } = await compare('/article.html');
  assert.ok(compared > 200, String(compared));
  assert.deepEqual(differ, []);
});
