// What run_script hands back for a value. This function is put into the page as text, so it must stand alone: no imports, no helpers.

/**
 * JSON of a value by the rules of the base protocol: null, strings, booleans as they are; numbers too, but those that JSON or an
 * exact integer cannot hold, and BigInts, as text; elements as {__element, id, class, text}; a cycle as "[Circular]". What JSON has no
 * word for reads like what it stands for: Map and Set as arrays, dates as ISO text, errors as "Name: message". undefined gives no JSON.
 */
export function serialise(root: unknown): string | undefined {
  const MAX_NODES = 200_000;
  const MAX_DEPTH = 100;
  /** In all lists together: an array can be of any length without holding anything. */
  const MAX_ITEMS = 5_000_000;
  const open = new Set<object>();
  let nodes = 0, items = 0;

  const walk = (value: unknown, depth: number): unknown => {
    switch (typeof value) {
      case 'string': case 'boolean': return value;
      case 'number': return Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? value : bare(value);
      case 'bigint': return value.toString();
      case 'symbol': return value.toString();
      case 'function': return `[Function ${value.name || 'anonymous'}]`;
      case 'undefined': return undefined;
      default: break;
    }
    if (value === null) return null;
    const object = value as object;
    if (open.has(object)) return '[Circular]';
    if (++nodes > MAX_NODES || depth > MAX_DEPTH) return '[Truncated]';
    open.add(object);
    try {
      return shape(object, depth + 1);
    } catch (e) {
      // A part that cannot be read is said to be so; the value as a whole would have nothing left to tell.
      if (depth === 0) throw e;
      return thrown(e);
    } finally {
      open.delete(object);
    }
  };

  const thrown = (e: unknown): string => {
    try { return `[Throws ${String(e)}]`; } catch { return '[Throws]'; }
  };

  /** Out of reach of a toJSON that a library has put on all arrays. */
  const list = (values: Iterable<unknown>, depth: number): unknown[] => {
    const out: unknown[] = [];
    for (const value of values) {
      if (++items > MAX_ITEMS) { out.push('[Truncated]'); break; }
      out.push(walk(value, depth) ?? null);
    }
    return Object.setPrototypeOf(out, null) as unknown[];
  };

  /** Large integers without an exponent: 9007199254740992, not 9.007e15. */
  const bare = (value: number): string => (Number.isInteger(value) ? BigInt(value).toString() : String(value));

  /** Not by instanceof alone: a node of a child frame belongs to another realm. */
  const isNode = (object: object): boolean => {
    const { nodeType, nodeName } = object as Node;
    return object instanceof Node || (typeof nodeType === 'number' && typeof nodeName === 'string') || Object.prototype.toString.call(object) === '[object HTMLFormElement]';
  };

  /** Any frame's: of one of another origin nothing else may even be asked. */
  const isWindow = (object: object): boolean => {
    try { return (object as { window?: unknown }).window === object; } catch { return false; }
  };

  const shape = (object: object, depth: number): unknown => {
    if (isWindow(object)) return '[Window]';
    if (isNode(object)) {
      // By the prototypes' own accessors: a form's controls hide the form's properties of the same name.
      const ask = (of: object, name: string): unknown => { try { return Object.getOwnPropertyDescriptor(of, name)?.get?.call(object) as unknown; } catch { return undefined; } };
      const text = String(ask(HTMLElement.prototype, 'innerText') ?? ask(Node.prototype, 'textContent') ?? '').trim().slice(0, 500);
      if (ask(Node.prototype, 'nodeType') !== 1) return { __node: ask(Node.prototype, 'nodeName'), text };
      return { __element: ask(Element.prototype, 'localName'), id: ask(Element.prototype, 'id'), class: Element.prototype.getAttribute.call(object, 'class') ?? '', text };
    }
    if (object instanceof Date) return Number.isNaN(object.getTime()) ? 'Invalid Date' : object.toISOString();
    if (object instanceof RegExp) return String(object);
    if (object instanceof Error) return `${object.name}: ${object.message}`;
    if (object instanceof Promise) return '[Promise]';
    if (object instanceof String || object instanceof Number || object instanceof Boolean || object instanceof BigInt || object instanceof Symbol) return walk(object.valueOf(), depth);
    if (object instanceof Map || object instanceof URLSearchParams || object instanceof Headers || object instanceof FormData) {
      return list(object as Iterable<unknown>, depth);
    }
    if (object instanceof Set || object instanceof NodeList || object instanceof HTMLCollection || object instanceof DOMTokenList) return list(object as Iterable<unknown>, depth);
    if (object instanceof ArrayBuffer || object instanceof DataView) return { __bytes: object.byteLength };
    if (ArrayBuffer.isView(object)) return list(object as Uint8Array, depth);
    if (Array.isArray(object)) return list(object, depth);
    if (typeof (object as { toJSON?: unknown }).toJSON === 'function') {
      const plain = (object as { toJSON(): unknown }).toJSON();
      if (plain !== object) return walk(plain, depth);
    }
    const out: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      let value: unknown;
      try { value = walk((object as Record<string, unknown>)[key], depth); } catch (e) { value = thrown(e); }
      if (value !== undefined) Object.defineProperty(out, key, { __proto__: null, value, enumerable: true } as PropertyDescriptor);
    }
    return out;
  };

  return JSON.stringify(walk(root, 0));
}
