// fill_form: several fields of a form, one after the other, each as its own kind of field is filled.
import type { Call, Handler } from '../call';
import { BridgeError } from '../errors';
import type { FillFormParams, FillFormResult } from '../generated/methods';
import type { Checked } from '../page/act/check';
import type { Settled } from '../page/act/kept';
import type { Selected, SelectParams } from '../page/act/options';
import type { Filled } from '../page/act/value';
import type { Doc } from '../tabs/document';
import { onElement } from '../tabs/element';
import { resolveTab } from '../tabs/resolve';
import { standing, type Fallen } from '../tabs/standing';

const MAX_FIELDS = 200;
type Field = FillFormParams['fields'][number];

export const handler: Handler<FillFormParams, FillFormResult> = async ({ fields, timeout, ...params }, call) => {
  if (!fields.length || fields.length > MAX_FIELDS) throw new BridgeError('INVALID_PARAMS', `invalid params: fields must have 1 to ${MAX_FIELDS} entries`);
  fields.forEach(check);
  const { id } = await resolveTab(params, call);
  const filled: FillFormResult['filled'] = [];
  // What the page does with its fields later shows in the end, for all of them at once.
  const told = ({ field, message }: Fallen) => `fields[${field}]: ${message} (all fields were filled)`;
  const { note } = await standing<{ note?: string }>(call, id, async (one) => {
    for (const [i, field] of fields.entries()) {
      try {
        filled.push(await one<Settled & FillFormResult['filled'][number]>((worked) => fill(call, id, field, timeout, worked)));
      } catch (e) {
        throw atField(e, i, filled.length);
      }
    }
    return {};
  }, { atEnd: true, told });
  return { filled, tab_id: id, ...(note === undefined ? {} : { note }) };
};

function check(field: Field, i: number): void {
  const given = (['value', 'checked', 'option'] as const).filter((name) => field[name] !== undefined);
  if (given.length !== 1) throw new BridgeError('INVALID_PARAMS', `invalid params: fields[${i}] needs one of value, checked and option${given.length ? `, not ${given.join(' and ')}` : ''}`);
}

function fill(call: Call, tabId: number, { target, value, checked, option }: Field, timeout: number | undefined, worked: (doc: Doc) => void): Promise<Filled | Checked | Selected> {
  const where = { target, timeout };
  if (value !== undefined) return onElement<Filled>(call, tabId, 'set_value', where, { value: String(value), later: true }, worked);
  if (checked !== undefined) return onElement<Checked>(call, tabId, 'check', where, { checked, later: true }, worked);
  const wanted: SelectParams = typeof option === 'number' ? { index: option } : { any: option };
  return onElement<Selected>(call, tabId, 'select', where, { option: wanted, later: true }, worked);
}

/** Which field it was, and that those before it are filled. */
function atField(thrown: unknown, i: number, filled: number): unknown {
  if (!(thrown instanceof BridgeError)) return thrown;
  const before = filled ? ` (${filled === 1 ? 'the field before it is' : `the ${filled} fields before it are`} filled)` : '';
  return new BridgeError(thrown.code, `fields[${i}]: ${thrown.message}${before}`, { ...thrown.extra, ...(filled ? { maybe_executed: true } : {}) });
}
