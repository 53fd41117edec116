// The extension's popup, as a person opens and reads it.
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

/** Opens the real popup, over a tab, as a click on the button would. */
export async function openPopup(b) {
  const [tab] = await b.chromium.targets((t) => t.type === 'tab');
  await b.chromium.cdp.send('Extensions.triggerAction', { id: b.extensionId, targetId: tab.targetId });
  for (let i = 0; i < 100; i++) {
    const [page] = await b.chromium.targets((t) => t.url.endsWith('/popup.html'));
    if (page) return page.targetId;
    await sleep(30);
  }
  throw new Error('the popup did not open');
}

/** Waits until the element of that id reads like `want`; gives what it reads. */
export async function popupShows(b, target, id, want) {
  let text;
  for (let i = 0; i < 150; i++) {
    text = await b.chromium.evaluate(target, `document.getElementById(${JSON.stringify(id)})?.textContent ?? ""`);
    if (want.test(text)) return text;
    await sleep(50);
  }
  throw new Error(`${id} reads ${JSON.stringify(text)}, not ${want}`);
}
