// Acts inside of frames: what the pages around make of a frame (what lies over it, cuts it off, hides it, stands before it) holds for what is in it,
// also where they are other sites'.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const INNER = `<!doctype html><body style="margin:0"><script src="/__page.js"></script><button id="go" style="width:120px;height:40px" onclick="count('go' + location.search)">Go</button>
  <input id="field" oninput="count('typed' + location.search)"><input type="checkbox" id="box" onchange="count('box' + location.search)"><select id="list" onchange="count('list' + location.search)"><option>a<option>b</select>`;
const around = (site, key, style = '', rest = '') => `<!doctype html><body style="margin:0"><iframe src="${site}/inner?${key}" style="position:absolute;left:30px;top:20px;width:400px;height:150px;border:4px solid;${style}"></iframe>${rest}`;
const VEIL = '<div id="veil" style="position:fixed;inset:0;background:#0004"></div>';
const SITES = { same: '{{base}}', other: '{{cross}}' };
const pages = { '/inner': INNER };
for (const [site, base] of Object.entries(SITES)) {
  const page = (name, style, rest) => { pages[`/${name}-${site}`] = around(base, `${name}-${site}`, style, rest); };
  page('open');
  page('veiled', '', VEIL);
  page('leaving', '', `${VEIL}<script>setTimeout(() => veil.remove(), 700)</script>`);
  page('partly', '', '<div id="half" style="position:absolute;left:34px;top:24px;width:70px;height:60px;background:#ccc"></div>');
  page('hidden', 'visibility:hidden');
  page('deaf', 'pointer-events:none');
  page('scaled', 'transform:scale(.5);transform-origin:0 0');
  page('enlarged', 'transform:scale(2);transform-origin:0 0');
  page('far', 'top:3000px');
  page('away', 'left:-2000px');
  page('modal', '', '<dialog id="d"><button>OK</button></dialog><script>d.showModal()</script>');
  page('popover', '', '<div id="pop" popover style="width:100%;height:100%;inset:0">Over all</div><script>pop.showPopover()</script>');
  page('inert', '', '<script>document.querySelector("iframe").inert = true</script>');
  pages[`/clipped-${site}`] = `<!doctype html><div id="cut" style="width:300px;height:15px;overflow:clip;position:relative"><iframe src="${base}/inner?clipped-${site}" style="position:absolute;top:20px;width:200px;height:100px;border:0"></iframe></div>`;
  pages[`/nested-${site}`] = `<!doctype html><iframe src="${base}/middle-${site}" style="width:600px;height:300px"></iframe>`;
  pages[`/middle-${site}`] = around('{{base}}', `nested-${site}`, '', '<div id="bar" style="position:fixed;inset:0;background:#0004"></div>');
  pages[`/above-${site}`] = `<!doctype html><iframe src="${base}/between-${site}" style="width:600px;height:300px"></iframe><div id="sky" style="position:fixed;inset:0"></div>`;
  pages[`/between-${site}`] = around('{{base}}', `above-${site}`);
}

let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());

const css = (value) => ({ target: { value } });
const clicks = (key) => b.said[`go?${key}`] ?? 0;

for (const site of Object.keys(SITES)) {
  const refused = async (name, why, method = 'click', params = css('#go')) => {
    const key = `${name}-${site}`;
    const tab = await b.open(`/${key}`);
    const { code, error, maybe_executed } = await b.fails(method, { tab_id: tab, ...params, timeout: 400 });
    assert.deepEqual([code, maybe_executed], ['ELEMENT_NOT_ACTIONABLE', undefined], error);
    assert.match(error, why);
    // The frame is through by then with all that came to it before.
    await b.ok('get_value', { tab_id: tab, ...css('#field') });
    assert.equal(clicks(key), 0);
  };
  const clicked = async (name, expected = 1) => {
    const key = `${name}-${site}`;
    const tab = await b.open(`/${key}`);
    await b.ok('click', { tab_id: tab, ...css('#go') });
    await b.site.heard(`go?${key}`);
    assert.equal(clicks(key), expected);
  };

  test(`${site} site: a button in a frame is clicked, once, also one that must be scrolled to or is drawn smaller`, async () => {
    await clicked('open');
    await clicked('far');
    await clicked('scaled');
  });

  test(`${site} site: what lies over the frame is named, and waited out where it goes`, async () => {
    await refused('veiled', /covered .*by <div id="veil">/);
    await refused('popover', /covered .*by <div id="pop"/);
    await clicked('leaving');
    assert.equal(await b.inPage(`/leaving-${site}`, 'document.querySelector("#veil") === null'), true);
  });

  test(`${site} site: a frame that is cut off, out of the page, hidden or deaf takes no click`, async () => {
    await refused('clipped', /frame|covered/);
    await refused('away', /frame is out of view/);
    await refused('hidden', /frame|hidden|covered/);
    await refused('deaf', /frame|covered/);
  });

  test(`${site} site: what stands in the way further out counts as well`, async () => {
    await refused('nested', /covered .*by <div id="bar">/);
    await refused('above', /covered .*by <div id="sky">/);
  });

  test(`${site} site: behind a modal dialog of the page around, or in an inert frame, nothing is filled in, chosen or pressed`, async () => {
    for (const name of ['modal', 'inert']) {
      const why = name === 'modal' ? /behind the open <dialog id="d">/ : /inert/;
      await refused(name, why, 'set_value', { ...css('#field'), value: 'x' });
      await refused(name, why, 'select_option', { ...css('#list'), text: 'b' });
      await refused(name, why, 'press_key', { ...css('#field'), key: 'x' });
      await refused(name, /behind the open|inert|covered|frame/, 'check', { ...css('#box'), checked: true });
      const key = `${name}-${site}`;
      assert.deepEqual([b.said[`typed?${key}`], b.said[`list?${key}`], b.said[`box?${key}`]], [undefined, undefined, undefined]);
    }
  });

  test(`${site} site: click_at hits what is drawn there in a frame that is drawn larger`, async () => {
    const key = `enlarged-${site}`;
    const tab = await b.open(`/${key}`);
    // The button is 240 by 80 pixels there, from (38, 28) on.
    const { clicked: on } = await b.ok('click_at', { tab_id: tab, x: 230, y: 90 });
    assert.equal(on.id, 'go');
    await b.site.heard(`go?${key}`, (n) => n === 1);
  });
}
