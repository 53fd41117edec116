// What run_script hands back for a value. This function is put into the page as text, so it must stand alone: no imports, no helpers.

/**
 * JSON of a value by the rules of the base protocol: null, strings, booleans as they are; numbers too, but those that JSON or an
 * exact integer cannot hold, and BigInts, as text; elements as {__element, id, class, text}; a cycle as "[Circular]". What JSON has no
 * word for reads like what it stands for: Map and Set as arrays, dates as ISO text, errors as "Name: message". undefined gives no JSON.
 */
export function serialise(root: unknown): string | undefined {
  const MAX_NODES = 200_000;
  const MAX_DEPTH = 100;
  const open = new Set<object>();
  let nodes = 0;

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
    } finally {
      open.delete(object);
    }
  };

  /** Large integers without an exponent: 9007199254740992, not 9.007e15. */
  const bare = (value: number): string => (Number.isInteger(value) ? BigInt(value).toString() : String(value));

  const shape = (object: object, depth: number): unknown => {
    // By their properties, not by instanceof: a node of a child frame belongs to another realm.
    const node = object as Element;
    if (typeof node.nodeType === 'number' && typeof node.nodeName === 'string') {
      const text = ((node as HTMLElement).innerText ?? node.textContent ?? '').trim().slice(0, 500);
      if (node.nodeType !== 1) return { __node: node.nodeName, text };
      return { __element: node.localName, id: node.id, class: node.getAttribute('class') ?? '', text };
    }
    if (object === window || object instanceof Window) return '[Window]';
    if (object instanceof Date) return Number.isNaN(object.getTime()) ? 'Invalid Date' : object.toISOString();
    if (object instanceof RegExp) return String(object);
    if (object instanceof Error) return `${object.name}: ${object.message}`;
    if (object instanceof Promise) return '[Promise]';
    if (object instanceof String || object instanceof Number || object instanceof Boolean) return walk(object.valueOf(), depth);
    if (object instanceof Map) return [...object].map(([k, v]) => [walk(k, depth) ?? null, walk(v, depth) ?? null]);
    if (object instanceof Set || object instanceof NodeList || object instanceof HTMLCollection) return [...(object as Iterable<unknown>)].map((v) => walk(v, depth) ?? null);
    if (object instanceof ArrayBuffer) return { __bytes: object.byteLength };
    if (ArrayBuffer.isView(object) && !(object instanceof DataView)) return Array.from(object as Uint8Array, (v: unknown) => walk(v, depth));
    if (Array.isArray(object)) return object.map((v: unknown) => walk(v, depth) ?? null);
    if (typeof (object as { toJSON?: unknown }).toJSON === 'function') {
      const plain = (object as { toJSON(): unknown }).toJSON();
      if (plain !== object) return walk(plain, depth);
    }
    const out: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      let value: unknown;
      try { value = walk((object as Record<string, unknown>)[key], depth); } catch (e) { value = `[Throws ${String(e)}]`; }
      if (value !== undefined) Object.defineProperty(out, key, { value, enumerable: true });
    }
    return out;
  };

  return JSON.stringify(walk(root, 0));
}
