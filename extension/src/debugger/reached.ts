// That input has reached what it was meant for, as the page says by itself at that moment. Where the input takes the page away nobody can
// be asked any more; and a page that was left for another reason while the input was on its way has got none of it.

/** How far it has come: to the first event of it, or to the last. */
export type Step = 'press' | 'click';

const expected = new Map<string, (step: Step) => void>();

/** The page's word may still be under way when the news comes that the page is gone. */
const UNDER_WAY_MS = 250;

export interface Reach {
  /** What the page is to say. */
  token: string;
  /** Whether the page has said that it came so far; to be asked when it can say nothing more. */
  reached(step: Step): Promise<boolean>;
  stop(): void;
}

export function expectReach(): Reach {
  const token = crypto.randomUUID();
  const said = new Set<Step>();
  let hear = () => {};
  expected.set(token, (step) => { said.add(step); hear(); });
  return {
    token,
    async reached(step) {
      for (const end = Date.now() + UNDER_WAY_MS; !said.has(step) && Date.now() < end;) {
        await new Promise<void>((resolve) => { hear = resolve; setTimeout(resolve, end - Date.now()); });
      }
      return said.has(step);
    },
    stop: () => void expected.delete(token),
  };
}

/** To be called at the top level of the worker. */
export function watchReached(): void {
  chrome.runtime.onMessage.addListener((message: unknown, sender) => {
    const m = message as { type?: unknown; token?: unknown; step?: unknown } | null;
    if (m?.type === 'reached' && typeof m.token === 'string' && sender.id === chrome.runtime.id) expected.get(m.token)?.(m.step === 'press' ? 'press' : 'click');
  });
}
