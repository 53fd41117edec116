// The labels of form controls. `control.labels` walks the whole document once for each control, which makes names on a long page
// a matter of seconds; here one walk serves all controls of a tree for as long as the current task runs.
import { native } from './native';

type Root = Document | ShadowRoot;
let known: WeakMap<Node, Map<Element, HTMLLabelElement[]>> | null = null;

/** The label elements of a control, in the order of the document; none for what cannot have any. */
export function labelsOf(el: Element): HTMLLabelElement[] {
  if (!('labels' in el)) return [];
  const root = native(el).getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return [...((el as HTMLInputElement).labels ?? [])];
  if (!known) {
    known = new WeakMap();
    queueMicrotask(() => { known = null; });
  }
  let map = known.get(root);
  if (!map) known.set(root, map = collect(root));
  return map.get(el) ?? [];
}

function collect(root: Root): Map<Element, HTMLLabelElement[]> {
  const map = new Map<Element, HTMLLabelElement[]>();
  for (const label of root.querySelectorAll('label')) {
    const { control } = label;
    if (!control) continue;
    const list = map.get(control);
    if (list) list.push(label); else map.set(control, [label]);
  }
  return map;
}
