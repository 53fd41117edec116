// The prompt's page: who asks for which site, yes or no. It knows nothing by itself; the worker tells it, and closes its window.
import { el, put, text } from '../popup/page';
import { ARMED_MS, PORT, type Answered, type Asked } from './words';

document.documentElement.lang = text('language');
for (const node of document.querySelectorAll<HTMLElement>('[data-i18n]')) node.textContent = text(node.dataset.i18n ?? '');
document.title = text('prompt_title');

const port = chrome.runtime.connect({ name: PORT });
const buttons = [el<HTMLButtonElement>('no'), el<HTMLButtonElement>('yes')];
let arming: ReturnType<typeof setTimeout> | undefined;

/** Also when the window comes to the front again: what is pressed in that moment was meant for another. */
function arm(): void {
  clearTimeout(arming);
  for (const button of buttons) button.disabled = true;
  arming = setTimeout(() => { for (const button of buttons) button.disabled = false; }, ARMED_MS + 50);
}

port.onMessage.addListener(({ name, place, title }: Asked) => {
  put(el('name'), name);
  put(el('place'), place);
  put(el('tab'), title);
  el('tab-line').hidden = title === '';
  if (arming === undefined) arm();
});
// The worker is through with the question, or was started anew and knows nothing of it.
port.onDisconnect.addListener(() => window.close());

const answer = (yes: boolean) => (event: Event) => { if (event.isTrusted) port.postMessage({ yes } satisfies Answered); };
el('yes').addEventListener('click', answer(true));
el('no').addEventListener('click', answer(false));
addEventListener('focus', () => { if (arming !== undefined) arm(); });
addEventListener('keydown', (event) => { if (event.key === 'Escape' && event.isTrusted) window.close(); });
