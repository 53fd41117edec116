// The window in which the extension asks the user something, as a person sees and answers it: by real input, which no page can make.
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

export const prompts = (b) => b.chromium.targets((t) => t.type === 'page' && t.url.includes('/prompt.html'));

/** Waits until so many windows ask; gives their targets. */
export async function asked(b, count = 1) {
  let found;
  for (let i = 0; i < 200; i++) {
    found = await prompts(b);
    if (found.length === count) return found;
    await sleep(25);
  }
  throw new Error(`${found.length} prompts, not ${count}`);
}

/** The window that asks, with who and what about. */
export async function prompt(b) {
  const [{ targetId, url }] = await asked(b);
  const read = (id) => b.chromium.evaluate(targetId, `document.getElementById(${JSON.stringify(id)})?.textContent ?? ''`);
  for (let i = 0; i < 200 && !(await read('place')); i++) await sleep(25);
  const ready = () => b.chromium.evaluate(targetId, '!document.querySelector("button:disabled")');
  return {
    targetId, url, ready,
    name: await read('name'), place: await read('place'),
    async armed() { for (let i = 0; i < 100 && !(await ready()); i++) await sleep(25); },
    /** A press of the mouse on a button, armed or not. */
    async press(id) {
      const { x, y } = await b.chromium.evaluate(targetId, `(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 }))(document.getElementById(${JSON.stringify(id)}).getBoundingClientRect())`);
      await input(b, targetId, [['Input.dispatchMouseEvent', { type: 'mousePressed', x, y, button: 'left', clickCount: 1 }], ['Input.dispatchMouseEvent', { type: 'mouseReleased', x, y, button: 'left', clickCount: 1 }]]);
    },
    async key(key, code, windowsVirtualKeyCode, text) {
      await input(b, targetId, [['Input.dispatchKeyEvent', { type: 'keyDown', key, code, windowsVirtualKeyCode, ...(text ? { text } : {}) }], ['Input.dispatchKeyEvent', { type: 'keyUp', key, code, windowsVirtualKeyCode }]]);
    },
    close: () => b.chromium.cdp.send('Target.closeTarget', { targetId }),
  };
}

async function input(b, targetId, events) {
  const { sessionId } = await b.chromium.cdp.send('Target.attachToTarget', { targetId, flatten: true });
  let over = false;
  // What is answered closes the window, and the event that did it is then not acknowledged.
  const gone = (async () => { while (!over && (await prompts(b)).some((t) => t.targetId === targetId)) await sleep(25); })();
  for (const [method, params] of events) await Promise.race([b.chromium.cdp.send(method, params, sessionId).catch(() => {}), gone]);
  over = true;
  await b.chromium.cdp.send('Target.detachFromTarget', { sessionId }).catch(() => {});
}
