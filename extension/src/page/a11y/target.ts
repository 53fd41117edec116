// A css target for a node of the tree: short, and sure to find that very node again.
import { shadowRoots } from '../dom';
import { native } from '../native';

/** An id, name or test id that somebody wrote, rather than one a framework numbers anew at every render. */
const WRITTEN = /^[A-Za-z](?:[\w-]|\.(?=\w)){0,60}$/;
const NUMBERED = /\d{4}|[0-9a-f]{8}|^(?:ember|radix|headlessui|react-aria|mui|ext-gen|yui_|gwt-)/i;

/** Attributes that tell an element from others, best first. */
const NAMING = ['data-testid', 'data-test', 'data-qa', 'data-cy', 'name', 'aria-label', 'placeholder', 'href'];
const LONGEST = 60;
/** Elements of which a page often has just one: a way may begin there. */
const LANDMARKS = new Set(['article', 'aside', 'dialog', 'footer', 'form', 'header', 'main', 'nav', 'table']);

export interface Target { by: 'css'; value: string; index: number }

/**
 * Makes targets for the elements of one tree (a document or a shadow root). Ids and naming attributes are counted once for the whole
 * tree, positions once a parent, so that the cost stays in proportion to the page.
 */
export class Targets {
  private readonly counts = new Map<string, number>();
  private readonly places = new WeakMap<Element, string>();
  private readonly numbered = new WeakSet<ParentNode>();
  private readonly paths = new WeakMap<Element, string>();

  constructor(root: Document | ShadowRoot) {
    const list = ['[id]', ...NAMING.map((name) => `[${name}]`), ...LANDMARKS].join(',');
    for (const el of root.querySelectorAll(list)) {
      if (native(el).id) this.count(`#${native(el).id}`);
      if (LANDMARKS.has(native(el).localName)) this.count(native(el).localName);
      for (const name of NAMING) {
        const value = native(el).getAttribute(name);
        if (value && value.length <= LONGEST) this.count(`${native(el).localName}[${name}=${value}]`);
      }
    }
  }

  private count(key: string): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  /** A selector that matches this element alone. */
  of(el: Element): Target {
    return { by: 'css', value: this.named(el, true) ?? this.path(el), index: 0 };
  }

  /** By id or by a naming attribute, if that is unique; `any` takes a framework's id as well. */
  private named(el: Element, any: boolean): string | null {
    const byId = native(el).id && this.counts.get(`#${native(el).id}`) === 1 ? `#${CSS.escape(native(el).id)}` : null;
    if (byId && WRITTEN.test(native(el).id) && !NUMBERED.test(native(el).id)) return byId;
    for (const name of NAMING) {
      const value = native(el).getAttribute(name);
      if (value && value.length <= LONGEST && this.counts.get(`${native(el).localName}[${name}=${value}]`) === 1) {
        return `${CSS.escape(native(el).localName)}[${name}=${quote(value)}]`;
      }
    }
    return any ? byId : this.counts.get(native(el).localName) === 1 ? native(el).localName : null;
  }

  /** The way down from the nearest ancestor that has a name, by positions. */
  private path(el: Element): string {
    const steps: string[] = [];
    let at: Element = el;
    let prefix = '';
    for (;;) {
      const known = at === el ? undefined : this.paths.get(at) ?? this.named(at, false);
      if (known) { prefix = `${known} > `; break; }
      const parent: ParentNode | null = native(at).parentNode;
      if (!(parent instanceof Element)) {
        if (native(at).localName !== 'html') steps.unshift(this.place(at));
        // The top of a shadow tree has no parent to start from, but its host stands for one.
        if (parent instanceof ShadowRoot) prefix = ':host > ';
        break;
      }
      if (at === document.body) { steps.unshift('body'); break; }
      steps.unshift(this.place(at));
      at = parent;
    }
    const path = prefix + steps.join(' > ') || 'html';
    this.paths.set(el, path);
    return path;
  }

  /** The element among its siblings: `li:nth-of-type(3)`, or just the tag if it is the only one. */
  private place(el: Element): string {
    const parent = native(el).parentNode;
    if (parent && !this.numbered.has(parent)) {
      this.numbered.add(parent);
      const groups = new Map<string, Element[]>();
      for (const child of native(parent as Element).children) {
        const key = `${native(child).namespaceURI} ${native(child).localName}`;
        const group = groups.get(key);
        if (group) group.push(child); else groups.set(key, [child]);
      }
      // The same tag in two namespaces: a type selector matches both, so both must count their place.
      for (const group of groups.values()) {
        const tag = CSS.escape(native(group[0]!).localName);
        const shared = [...groups.keys()].filter((key) => key.endsWith(` ${native(group[0]!).localName}`)).length > 1;
        group.forEach((child, i) => this.places.set(child, group.length === 1 && !shared ? tag : `${tag}:nth-of-type(${i + 1})`));
      }
    }
    return this.places.get(el) ?? CSS.escape(native(el).localName);
  }
}

/**
 * Targets for nodes in shadow trees as well. A css target is looked for in the shadow trees only if the light DOM has no match, and
 * `index` counts over all of them: hence `:host`, which matches nothing outside of a shadow tree, and the count of the matches before.
 */
export class PiercingTargets {
  private readonly light = new Targets(document);
  private readonly inside = new Map<ShadowRoot, Targets>();
  private readonly roots = shadowRoots(document);
  /** For a selector, how many matches there are before each root. */
  private readonly before = new Map<string, Map<ShadowRoot, number>>();

  of(el: Element): Target {
    const root = native(el).getRootNode();
    if (!(root instanceof ShadowRoot)) return this.light.of(el);
    let targets = this.inside.get(root);
    if (!targets) this.inside.set(root, targets = new Targets(root));
    const found = targets.of(el).value;
    const value = found.startsWith(':host') ? found : `:host ${found}`;
    let before = this.before.get(value);
    if (!before) {
      let count = 0;
      before = new Map(this.roots.map((shadow) => {
        const here = count;
        count += shadow.querySelectorAll(value).length;
        return [shadow, here];
      }));
      this.before.set(value, before);
    }
    return { by: 'css', value, index: before.get(root) ?? 0 };
  }
}

function quote(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ').replace(/\r/g, '\\d ').replace(/\f/g, '\\c ')}"`;
}
