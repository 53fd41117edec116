// Values that a page has written to its console, as texts.
export interface Preview { subtype?: string; description?: string; overflow?: boolean; properties?: Property[]; entries?: { key?: Preview; value: Preview }[]; type?: string }
export interface Property { name: string; type: string; subtype?: string; value?: string; valuePreview?: Preview }
export interface Remote { type: string; subtype?: string; value?: unknown; unserializableValue?: string; description?: string; objectId?: string; preview?: Preview }

/** The arguments as the console shows them: the first one may hold places for the others. */
export function format(args: Remote[]): string {
  const [first, ...rest] = args;
  if (first?.type !== 'string' || !String(first.value).includes('%')) return args.map(show).join(' ');
  const text = String(first.value).replace(/%([sdifoOc%])/g, (whole, kind: string) => {
    if (kind === '%') return '%';
    if (!rest.length) return whole;
    const next = rest.shift()!;
    if (kind === 'c') return '';
    return kind === 'd' || kind === 'i' ? String(Math.trunc(Number(next.value))) : show(next);
  });
  return [text, ...rest.map(show)].join(' ');
}

export function show(remote: Remote): string {
  if (remote.type === 'string') return String(remote.value);
  if (remote.unserializableValue !== undefined) return remote.unserializableValue;
  if (remote.type === 'undefined') return 'undefined';
  // null has an object's type and a value.
  if (remote.type !== 'object' && remote.type !== 'function' && remote.type !== 'symbol') return String(remote.value);
  if (remote.subtype === 'null') return 'null';
  if (!remote.preview || isToldWhole(remote)) return remote.description ?? remote.type;
  return showPreview(remote.preview, remote.description);
}

/** Their descriptions say more than what they hold. */
export const isToldWhole = ({ subtype }: { subtype?: string }): boolean => subtype !== undefined && ['error', 'node', 'regexp', 'date'].includes(subtype);

function showPreview({ subtype, properties = [], entries, overflow, description }: Preview, name = description): string {
  const more = overflow ? ', …' : '';
  if (entries) return `${name ?? ''} {${entries.map(({ key, value }) => (key ? `${inner(key)} => ${inner(value)}` : inner(value))).join(', ')}${more}}`;
  const list = subtype === 'array' || subtype === 'typedarray';
  const shown = properties.map((p) => (list && /^\d+$/.test(p.name) ? property(p) : `${p.name}: ${property(p)}`)).join(', ') + more;
  return list ? `[${shown}]` : `${name && name !== 'Object' ? `${name} ` : ''}{${shown}}`;
}

const inner = (preview: Preview): string => (preview.properties?.length || preview.entries ? showPreview(preview) : preview.type === 'string' ? JSON.stringify(preview.description ?? '') : preview.description ?? preview.type ?? '');

function property({ type, value, valuePreview }: Property): string {
  if (valuePreview) return showPreview(valuePreview);
  if (type === 'object' && value === 'Object') return '{…}';
  return type === 'string' ? JSON.stringify(value ?? '') : type === 'function' ? 'ƒ' : value ?? type;
}
