// Rich-text editors: those that follow editing events, those that follow the DOM, those that take only pastes, and plain ones.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness/start.mjs';

const pages = {
  '/plain': '<div id="e" contenteditable style="min-height:20px"></div><div id="pt" contenteditable="plaintext-only" style="min-height:20px"></div><script>window.log = []; for (const t of ["beforeinput", "input", "change"]) document.addEventListener(t, (e) => log.push(t + " " + e.target.id + " " + (e.inputType ?? "") + " " + e.isTrusted))</script>',
  // Keeps a model, prevents every editing event and draws from the model; whatever else changes its DOM is taken back.
  '/model': `<div id="e" contenteditable style="white-space:pre-wrap;min-height:20px"></div><script>
    let model = ''; let drawing = false; const e_ = document.querySelector('#e');
    const range = () => { const s = getSelection(); if (!s.rangeCount || !e_.contains(s.anchorNode)) return [model.length, model.length]; const r = s.getRangeAt(0);
      const at = (n, o) => { const p = document.createRange(); p.selectNodeContents(e_); p.setEnd(n, o); return p.toString().length; }; return [at(r.startContainer, r.startOffset), at(r.endContainer, r.endOffset)]; };
    const draw = () => setTimeout(() => { drawing = true; e_.textContent = model; watch.takeRecords(); drawing = false; }, 15);
    const put = (text) => { const [a, z] = range(); model = model.slice(0, a) + text + model.slice(z); draw(); };
    e_.addEventListener('beforeinput', (e) => { e.preventDefault(); if (e.inputType === 'insertText') put(e.data); else if (e.inputType === 'insertParagraph') put('\\n'); else if (e.inputType.startsWith('delete')) put(''); });
    e_.addEventListener('paste', (e) => { e.preventDefault(); put(e.clipboardData.getData('text/plain')); });
    const watch = new MutationObserver(() => { if (!drawing) { drawing = true; e_.textContent = model; watch.takeRecords(); drawing = false; } }); watch.observe(e_, { childList: true, characterData: true, subtree: true });</script>`,
  // Keeps its own selection, brought up to date by selectionchange alone, and paragraphs.
  '/paragraphs': `<div id="e" contenteditable><p><br></p></div><script>
    let lines = ['']; let all = false; const e_ = document.querySelector('#e');
    document.addEventListener('selectionchange', () => { const s = getSelection(); all = s.rangeCount > 0 && !s.isCollapsed && s.getRangeAt(0).startContainer === e_; });
    const draw = () => { e_.innerHTML = lines.map((l) => '<p>' + (l ? l.replace(/</g, '&lt;') : '<br>') + '</p>').join(''); };
    const add = (text) => { if (all) lines = ['']; all = false; const [first, ...rest] = text.split('\\n'); lines[lines.length - 1] += first; lines.push(...rest); queueMicrotask(draw); };
    e_.addEventListener('beforeinput', (e) => { e.preventDefault(); if (e.inputType === 'insertText') { if (e.data.includes('\\n')) return; add(e.data); } else if (e.inputType.startsWith('delete')) add(''); });
    e_.addEventListener('paste', (e) => { e.preventDefault(); add(e.clipboardData.getData('text/plain')); });</script>`,
  '/stubborn': `<div id="e" contenteditable>mine</div><script>const e_ = document.querySelector('#e'); e_.addEventListener('beforeinput', (e) => e.preventDefault()); e_.addEventListener('paste', (e) => e.preventDefault());</script>`,
  '/chat': `<div id="box" contenteditable="plaintext-only" style="min-height:20px"></div><button id="send" disabled>Send</button><script>
    box.addEventListener('input', () => { send.disabled = !box.innerText.trim(); }); send.onclick = () => { window.sent = box.innerText.trim(); box.textContent = ''; };</script>`,
  // The way of CodeMirror 5 and Monaco: a small textarea takes the keys and the pastes, the text is drawn elsewhere, line by line.
  '/code': `<div class="CodeMirror" style="position:relative;height:100px;border:1px solid"><div style="overflow:hidden;position:relative;width:3px;height:0"><textarea style="position:absolute;width:1000px;height:1em;outline:none"></textarea></div><div class="CodeMirror-code"></div></div><script>
    let doc = 'let a = 1;\\nlet b = 2;'; let all = false; const area = document.querySelector('textarea'); const code = document.querySelector('.CodeMirror-code');
    const draw = () => { code.innerHTML = ''; for (const l of doc.split('\\n').slice(0, 20)) { const pre = document.createElement('pre'); pre.className = 'CodeMirror-line'; pre.style.margin = 0; pre.textContent = l || '\\u200b'; code.append(pre); } };
    area.addEventListener('keydown', (e) => { if (e.key === 'a' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); all = true; } if (e.key === 'Backspace' && all) { doc = ''; all = false; draw(); } });
    area.addEventListener('paste', (e) => { e.preventDefault(); const t = e.clipboardData.getData('text/plain'); doc = all ? t : doc + t; all = false; draw(); }); draw();</script>`,
};

let b;
before(async () => { b = await start({ pages }); });
after(() => b?.stop());
const open = async (path) => {
  const tab = await b.open(path);
  return (method, value, target = '#e') => b.call(method, { tab_id: tab, target: { value: target }, ...(value === undefined ? {} : { value }) });
};
const MANY = 'First line\nSecond <b>line</b>\n\nLast "line"';
const squashed = (s) => s.replace(/\n+/g, '\n');

test('a plain editable element: beforeinput, one input, one change', async () => {
  const on = await open('/plain');
  assert.equal((await on('set_value', 'Hello 👋')).result.value, 'Hello 👋');
  assert.deepEqual(await b.inPage('/plain', 'log'), ['beforeinput e insertText false', 'input e insertText true', 'change e  false']);
  assert.equal((await on('set_value', 'Replaced')).result.value, 'Replaced');
  assert.equal(await b.inPage('/plain', 'document.querySelector("#e").innerText'), 'Replaced');
  assert.equal(squashed((await on('set_value', MANY)).result.value), squashed(MANY));
  assert.equal(squashed((await on('get_value')).result.value), squashed(MANY));
  assert.equal((await on('clear')).success, true);
  assert.equal(await b.inPage('/plain', 'document.querySelector("#e").innerText.trim()'), '');
  assert.equal((await on('set_value', MANY, '#pt')).result.value, MANY);
});

for (const path of ['/model', '/paragraphs']) {
  test(`an editor that owns its text (${path}) takes it, replaces it, clears it`, async () => {
    const on = await open(path);
    const text = () => b.inPage(path, path === '/model' ? 'model' : 'lines.join("\\n")');
    for (const value of ['Hello from the bridge', 'Replaced', MANY, 'Short again']) {
      const answer = await on('set_value', value);
      assert.equal(answer.success, true, answer.error);
      assert.equal(await text(), value);
      assert.equal(squashed((await on('get_value')).result.value), squashed(value));
    }
    assert.equal((await on('clear')).success, true);
    assert.equal(await text(), '');
  });
}

test('the same in a tab in the background', async () => {
  const on = await open('/paragraphs?back');
  await b.open('/plain?front');
  const answer = await on('set_value', 'typed behind');
  assert.equal(answer.success, true, answer.error);
  assert.equal(await b.inPage('?back', 'lines.join()'), 'typed behind');
});

test('an editor that refuses the text: an error with both texts', async () => {
  const on = await open('/stubborn');
  const { code, error, maybe_executed } = await on('set_value', 'yours');
  assert.deepEqual([code, maybe_executed], ['ELEMENT_NOT_ACTIONABLE', true]);
  assert.match(error, /"yours" and now holds "mine"/);
});

test('a chat box enables its button, sends, and takes the next text', async () => {
  const on = await open('/chat');
  await on('set_value', 'ping', '#box');
  await on('click', undefined, '#send');
  assert.equal(await b.inPage('/chat', 'sent'), 'ping');
  assert.equal((await on('get_value', undefined, '#box')).result.value, '');
  assert.equal((await on('set_value', 'pong', '#box')).result.value, 'pong');
});

test('a code editor that takes its input through a hidden field', async () => {
  const on = await open('/code');
  assert.equal((await on('get_value', undefined, 'textarea')).result.value, 'let a = 1;\nlet b = 2;');
  for (const value of ['const x = 1;', 'function f() {\n  return "x";\n}', '']) {
    const answer = await on('set_value', value, '.CodeMirror');
    assert.equal(answer.success, true, answer.error);
    assert.equal(await b.inPage('/code', 'doc'), value);
  }
});

test('a text of thousands of lines goes into a plain editor at once', async () => {
  const lines = Array.from({ length: 3000 }, (_, i) => (i === 1 ? '' : i === 2 ? '  <b>two & more</b>' : `line ${i}`));
  const on = await open('/plain?many');
  const answer = await on('set_value', lines.join('\n'), '#e');
  assert.equal(answer.success, true, answer.error);
  assert.deepEqual(await b.inPage('?many', '[e.children.length, e.children[1].innerHTML, e.children[2].textContent.trim(), e.lastChild.textContent]'), [3000, '<br>', '<b>two & more</b>', 'line 2999']);
});
