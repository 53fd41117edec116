// What a node says of itself, also where it is a form whose controls hide that: `<input name="children">` hides the form's own `children`,
// in every world, so a walk along such a property breaks or never ends, and a call of such a method fails. So page code asks a node that
// may be a form only by way of native(); a lint rule of our own (scripts/lint) sees to it.

const NODE = Symbol('node');
type View = Record<typeof NODE, Node>;
type Native = (this: Node, ...args: unknown[]) => unknown;
interface Property { get?: Native; set?: Native; value?: unknown }

/** A class of views: each has what the prototypes have, and gets it from them for its node. */
function viewOf(most: object): new (node: Node) => object {
  const View = class { constructor(node: Node) { (this as unknown as View)[NODE] = node; } };
  for (let proto: object | null = most; proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto) as object | null) {
    for (const name of Object.getOwnPropertyNames(proto)) {
      if (Object.hasOwn(View.prototype, name)) continue;
      const property = Object.getOwnPropertyDescriptor(proto, name) as Property;
      Object.defineProperty(View.prototype, name, forwarding(property));
    }
  }
  return View;
}

function forwarding(property: Property): PropertyDescriptor {
  const { value } = property;
  if (typeof value === 'function') return { value(this: View, ...args: unknown[]): unknown { return (value as Native).apply(this[NODE], args); } };
  if (!property.get) return { value };
  return { get(this: View): unknown { return property.get!.call(this[NODE]); }, set(this: View, to: unknown) { property.set?.call(this[NODE], to); } };
}

// Made on first need: the worker, which shares the table of keys with the pages, has no such class.
let FormView: ReturnType<typeof viewOf> | undefined;

/** To be asked and called in the node's stead, and for nothing else: of a form it is no node itself. */
export function native<T extends EventTarget | null | undefined>(node: T): T {
  return node instanceof HTMLFormElement ? new (FormView ??= viewOf(HTMLFormElement.prototype))(node) as unknown as T : node;
}
