// A page's own world during a quiet click: the calls by which scripts open windows are handed to our world in the page (page/act/windows.ts),
// which may open one where a page may not, and calls that begin a request or a timer are told of. Before and after that moment nothing of the page's is
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
 * Runs in the page's own world, so it must stand alone and may trust nothing there: what goes wrong here, in a page that has other things in
 * the browser's places, must not look like a fault of the page. `name` names the events between the two worlds; a page that finds it out can
 * ask, in that moment, for what it can ask for anyway.
 */
function hook(name: string): void {
  const { apply } = Reflect;
  type Fn = (...args: unknown[]) => unknown;
  const { dispatchEvent, addEventListener } = EventTarget.prototype as unknown as Record<'dispatchEvent' | 'addEventListener', Fn>;
  const { hasAttribute } = Element.prototype as unknown as Record<'hasAttribute', Fn>;
  // The page may have put others in the place of the constructors; these still know the browser's own.
  const Custom = Document.prototype.createEvent.call(document, 'CustomEvent').constructor as typeof CustomEvent;
  const Mouse = Document.prototype.createEvent.call(document, 'MouseEvent').constructor as typeof MouseEvent;
  const { SubmitEvent: Submit, HTMLAnchorElement: Anchor, HTMLFormElement: Form } = window;
  const now = performance.now.bind(performance);
  /** A moment that nobody ends, as the page has written itself anew meanwhile, is over by then. */
  const MOST_MS = 15_000;

  const safely = <T>(f: () => T): T | undefined => { try { return f(); } catch { return undefined; } };
  const send = (event: Event) => apply(dispatchEvent, document, [event]);
  const hear = (what: string, f: (e: Event) => void) => apply(addEventListener, document, [what, (e: Event) => { safely(() => f(e)); }]);
  let on = false;
  let until = 0;
  let done: MessageEvent | undefined;
  /** Hands something to the other world; what it made of it, if it took it. */
  const hand = (event: Event): MessageEvent | undefined => {
    done = undefined;
    send(event);
    return done;
  };
  const tell = (what: string, detail?: string) => safely(() => send(new Custom(`${name} ${what}`, { detail })));

  type Via = (call: () => unknown, self: unknown, args: unknown[], native: boolean) => unknown;
  let put: { on: object; key: string; before: PropertyDescriptor; ours: unknown }[] = [];
  const valueOf = (owner: object, key: string): unknown => Object.getOwnPropertyDescriptor(owner, key)?.value;
  const replace = (owner: object, key: string, via: Via): void => {
    // The page has put the one from before back by itself.
    put = put.filter((p) => p.on !== owner || p.key !== key || valueOf(owner, key) !== p.before.value);
    // One that could not be taken off is still there, under something else.
    if (put.some((p) => p.on === owner && p.key === key)) return;
    const before = Object.getOwnPropertyDescriptor(owner, key);
    const f: unknown = before?.value;
    if (!before?.configurable || typeof f !== 'function') return;
    // With its name: what the page makes by bind or Proxy is told as native code too, but without one.
    const native = new RegExp(`^function ${key}\\(\\) \\{\\s*\\[native code\\]\\s*\\}$`).test(Function.prototype.toString.call(f));
    const ours = new Proxy(f as Fn, {
      apply: (target, self, args: unknown[]) => {
        const call = (): unknown => apply(target, self, args);
        if (on && now() > until) end();
        return on ? via(call, self, args, native) : call();
      },
    });
    Object.defineProperty(owner, key, { ...before, value: ours });
    put.push({ on: owner, key, before, ours });
  };

  const open: Via = (call, self, args, native) => {
    if (self !== undefined && self !== window) return call();
    // What the page has put in its place is asked first, and opens what it likes.
    if (!native) {
      const got = call();
      if (got !== null) return got;
    }
    const text = safely(() => args.slice(0, 3).map((a) => (a === undefined ? undefined : String(a))));
    if (!text) return native ? call() : null;
    const [url = '', target = '_blank', features = ''] = text;
    const opened = safely(() => hand(new Custom(`${name} open`, { detail: [url, target, features] })));
    if (opened) return opened.source;
    const got = native ? call() : null;
    if (got === null) tell('kept', url);
    return got;
  };
  /** Whether the other world took it from the element. */
  const pressed = (what: string, el: HTMLElement): boolean => !apply(hasAttribute, el, ['download']) && hand(new Submit(`${name} ${what}`, { submitter: el })) !== undefined;
  const press = (what: string, Kind: typeof HTMLElement): Via => (call, self, args) => (
    safely(() => self instanceof Kind && !args.length && pressed(what, self)) ? undefined : call());
  const dispatch: Via = (call, self, args) => {
    const [event] = args;
    return safely(() => self instanceof Anchor && event instanceof Mouse && event.type === 'click' && pressed('click', self)) ? true : call();
  };
  const fetching: Via = (call) => {
    tell('fetch');
    return call();
  };
  const timing: Via = (call, _self, [, delay]) => {
    // What is no number becomes one in ways that the page might see.
    if (delay !== undefined && typeof delay !== 'number') return call();
    tell('timer', String(delay ?? 0));
    const id = call();
    tell('timed', String(delay ?? 0));
    return id;
  };

  const begin = (): void => {
    on = true;
    until = now() + MOST_MS;
    replace(window, 'open', open);
    replace(HTMLElement.prototype, 'click', press('click', Anchor));
    replace(EventTarget.prototype, 'dispatchEvent', dispatch);
    replace(Form.prototype, 'submit', press('submit', Form));
    replace(Form.prototype, 'requestSubmit', press('requestSubmit', Form));
    replace(window, 'fetch', fetching);
    replace(XMLHttpRequest.prototype, 'send', fetching);
    replace(window, 'setTimeout', timing);
  };
  const end = (): void => {
    on = false;
    // What has been put on top of one stays, and so does the one beneath it, which does nothing until it can be taken off.
    put = put.filter((p) => valueOf(p.on, p.key) !== p.ours || !safely(() => Object.defineProperty(p.on, p.key, p.before)));
  };

  hear(name, (e) => {
    const { detail } = e as CustomEvent<boolean | null>;
    if (detail === null) tell('here');
    else if (detail) begin();
    else end();
  });
  hear(`${name} done`, (e) => { done = e as MessageEvent; });
}
