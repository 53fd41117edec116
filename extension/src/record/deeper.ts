// What the objects in a message hold deeper down: Chrome's preview of an object ends at its own properties, and at the fifth of them. A person
// opens it by a click in the console; here it is opened as the message comes. What the preview says is as it was then; what lies deeper
// is read a moment later.
import { isToldWhole, type Preview, type Property, type Remote } from './values';

type Ask = <T>(method: string, params: object) => Promise<T>;
interface Own { name: string; enumerable?: boolean; value?: Remote }

const DEPTH_MOST = 4;
/** So many objects of one message are opened, and so many properties of each are told. */
const OPENED_MOST = 20;
const PROPERTIES_MOST = 100;
const STRING_MOST = 1000;

/** Completes the previews of these values; says whether there was anything to complete. */
export async function deepen(args: Remote[], ask: Ask): Promise<boolean> {
  const budget = { left: OPENED_MOST };
  let any = false;
  for (const { preview, objectId } of args.filter((arg) => !isToldWhole(arg))) any = await open(preview, objectId, ask, DEPTH_MOST, budget) || any;
  return any;
}

/** Whether there is more in it than the previews say. */
export const isDeep = (args: Remote[]): boolean => args.some((arg) => !isToldWhole(arg) && arg.objectId !== undefined && arg.preview !== undefined && (arg.preview.overflow === true || arg.preview.properties?.some(isCut) === true));

const isCut = (p: Property) => (p.type === 'string' ? /…/.test(p.value ?? '') : p.type === 'object' && p.subtype !== 'null' && !isToldWhole(p) && p.valuePreview === undefined);

async function open(preview: Preview | undefined, objectId: string | undefined, ask: Ask, depth: number, budget: { left: number }): Promise<boolean> {
  const properties = preview?.properties;
  if (!preview || !properties || objectId === undefined || depth === 0) return false;
  const cut = properties.filter(isCut);
  if ((!cut.length && !preview.overflow) || budget.left-- <= 0) return false;
  const { result } = await ask<{ result: Own[] }>('Runtime.getProperties', { objectId, ownProperties: true, generatePreview: true });
  const own = new Map(result.filter((p) => p.value).map((p) => [p.name, p.value!]));
  const follow = async (p: Property) => {
    const value = own.get(p.name);
    if (value?.type === 'string') p.value = String(value.value).slice(0, STRING_MOST);
    else if (value?.preview && value.type === 'object' && !isToldWhole(value)) {
      p.valuePreview = value.preview;
      await open(value.preview, value.objectId, ask, depth - 1, budget);
    }
  };
  for (const p of cut) await follow(p);
  // Of a list the preview has a hundred, which is enough.
  if (preview.overflow && properties.length < PROPERTIES_MOST && preview.entries === undefined) {
    const known = new Set(properties.map((p) => p.name));
    const rest = result.filter((p) => p.enumerable && p.value && !known.has(p.name));
    for (const { name, value } of rest.slice(0, PROPERTIES_MOST - properties.length)) {
      const p: Property = { name, type: value!.type, ...(value!.subtype === undefined ? {} : { subtype: value!.subtype }), value: String(value!.value ?? value!.unserializableValue ?? value!.description ?? value!.type) };
      properties.push(p);
      await follow(p);
    }
    preview.overflow = rest.length > PROPERTIES_MOST - known.size;
  }
  return true;
}
