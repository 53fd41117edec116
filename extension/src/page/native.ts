// What an element says of itself, also where it is a form with a control of that very name: `<input name="children">` hides the
// form's own `children`, in every world, and a walk along such a property breaks or never ends.

function getter<On extends Node, T>(prototype: object, name: string): (on: On) => T {
  const property = Object.getOwnPropertyDescriptor(prototype, name);
  return (on) => (on instanceof HTMLFormElement ? property?.get?.call(on) : (on as unknown as Record<string, unknown>)[name]) as T;
}

export const childElementsOf = getter<Element | ShadowRoot | Document, HTMLCollection>(Element.prototype, 'children');
export const childNodesOf = getter<Node, NodeListOf<ChildNode>>(Node.prototype, 'childNodes');
export const parentNodeOf = getter<Node, ParentNode | null>(Node.prototype, 'parentNode');
export const parentElementOf = getter<Node, HTMLElement | null>(Node.prototype, 'parentElement');
export const idOf = getter<Element, string>(Element.prototype, 'id');
