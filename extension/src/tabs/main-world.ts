// A page's own world during a quiet click: the calls by which scripts open windows are handed to our world in the page (page/act/windows.ts),
// which may open one where a page may not, and calls that begin a request are counted. Before and after that moment nothing of the page's is
// changed.

/** Registers the listener; must run at the top level of the worker. A page asks before the first click in it. */
export function watchMainWorlds(): void {
  chrome.runtime.onMessage.addListener((message: unknown, sender, answer: (done: boolean) => void) => {
    const m = message as { type?: unknown; name?: unknown } | null;
    if (m?.type !== 'main-world' || typeof m.name !== 'string' || sender.id !== chrome.runtime.id || sender.tab?.id === undefined || !sender.documentId) return;
    const target = { tabId: sender.tab.id, documentIds: [sender.documentId] };
    void chrome.scripting.executeScript({ target, world: 'MAIN', injectImmediately: true, func: hook, args: [m.name] }).then(() => answer(true), () => answer(false));
    return true;
  });
}

/**
 * Runs in the page's own world, so it must stand alone and may trust nothing there. `name` names the events between the two worlds; a page
 * that finds it out can ask, in that moment, for what it can ask for anyway.
 */
function hook(name: string): void {
  const send = (event: Event) => EventTarget.prototype.dispatchEvent.call(document, event);
  const hear = (what: string, f: (e: Event) => void) => EventTarget.prototype.addEventListener.call(document, what, f);
  let on = false;
  let done: MessageEvent | undefined;
  /** Hands something to the other world; what it made of it, if it took it. */
  const hand = (event: Event): MessageEvent | undefined => {
    done = undefined;
    send(event);
    return done;
  };
  const kept = (url: string) => void send(new CustomEvent(`${name} kept`, { detail: url }));

  type Fn = (...args: unknown[]) => unknown;
  type Via = (call: () => unknown, self: unknown, args: unknown[], native: boolean) => unknown;
  const put: { on: object; key: string; before: PropertyDescriptor; now: unknown }[] = [];
  const replace = (owner: object, key: string, via: Via): void => {
    const before = Object.getOwnPropertyDescriptor(owner, key);
    const f: unknown = before?.value;
    if (!before?.configurable || typeof f !== 'function') return;
    const native = /^function \w*\(\) \{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(f));
    const now = new Proxy(f as Fn, {
      apply: (target, self, args: unknown[]) => {
        const call = (): unknown => Reflect.apply(target, self, args);
        return on ? via(call, self, args, native) : call();
      },
    });
    Object.defineProperty(owner, key, { ...before, value: now });
    put.push({ on: owner, key, before, now });
  };

  const open: Via = (call, self, args, native) => {
    if (self !== undefined && self !== window) return call();
    // What the page has put in its place is asked first, and opens what it likes.
    if (!native) {
      const got = call();
      if (got !== null) return got;
    }
    const text = args.slice(0, 3).map((a) => (a === undefined ? undefined : String(a)));
    const [url = '', target = '_blank', features = ''] = text;
    const opened = hand(new CustomEvent(`${name} open`, { detail: [url, target, features] }));
    if (opened) return opened.source;
    const got = native ? call() : null;
    if (got === null) kept(url);
    return got;
  };
  const press = (what: string, Kind: typeof HTMLElement): Via => (call, self, args) => {
    if (!(self instanceof Kind) || args.length || Element.prototype.hasAttribute.call(self, 'download')) return call();
    return hand(new SubmitEvent(`${name} ${what}`, { submitter: self })) ? undefined : call();
  };
  const dispatch: Via = (call, self, args) => {
    const [event] = args;
    if (!(self instanceof HTMLAnchorElement) || !(event instanceof MouseEvent) || event.type !== 'click' || self.hasAttribute('download')) return call();
    return hand(new SubmitEvent(`${name} click`, { submitter: self })) ? true : call();
  };

  const fetching: Via = (call) => {
    send(new Event(`${name} fetch`));
    return call();
  };

  hear(name, (e) => {
    const { detail } = e as CustomEvent<boolean | null>;
    if (detail === null) return void send(new Event(`${name} here`));
    if (detail === on) return;
    on = detail;
    if (on) {
      replace(window, 'open', open);
      replace(HTMLElement.prototype, 'click', press('click', HTMLAnchorElement));
      replace(EventTarget.prototype, 'dispatchEvent', dispatch);
      replace(HTMLFormElement.prototype, 'submit', press('submit', HTMLFormElement));
      replace(HTMLFormElement.prototype, 'requestSubmit', press('requestSubmit', HTMLFormElement));
      replace(window, 'fetch', fetching);
      replace(XMLHttpRequest.prototype, 'send', fetching);
      return;
    }
    for (const { on: owner, key, before, now } of put.splice(0)) {
      // What the page has put there meanwhile stays.
      if (Object.getOwnPropertyDescriptor(owner, key)?.value === now) Object.defineProperty(owner, key, before);
    }
  });
  hear(`${name} done`, (e) => { done = e as MessageEvent; });
}
