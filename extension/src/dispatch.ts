// From a method's name and raw parameters to something that can be run: known, checked against the catalogue, allowed by the policy.
// The router's way for a request and batch's way for each of its steps.
import type { Call } from './call';
import { seeingDialogs } from './debugger/watchful';
import { BridgeError } from './errors';
import { defs, methods } from './generated/catalogue';
import { handlers } from './methods/index';
import { guarded, judge, policyReady } from './policy/policy';
import { telling } from './tabs/answers';
import { validateParams } from './validate';

type Entry = (typeof methods)[number];

export interface Prepared {
  method: Entry;
  run: (call: Call) => Promise<object>;
}

let known: Map<string, Entry> | undefined;

/** The methods that this build can really carry out; told to the daemon in the hello. */
export const methodNames = (): string[] => methods.filter((m) => Object.hasOwn(handlers, m.name)).map((m) => m.name);

export async function prepare(name: string, raw: unknown): Promise<Prepared> {
  known ??= new Map(methods.map((m) => [m.name, m]));
  const method = known.get(name);
  const handler = method && Object.hasOwn(handlers, method.name) ? handlers[method.name] : undefined;
  if (!method || !handler) throw new BridgeError('UNKNOWN_METHOD', `unknown method: ${name.slice(0, 100)}`);
  await policyReady;
  const params = validateParams(withSelectors(raw, method.params.properties), method.params, defs);
  // What a batch may do is judged step by step.
  judge(method.name, method.name === 'batch' ? 'read' : method.access, params);
  return {
    method,
    run: (call) => {
      const work = () => (method.access === 'write' && method.scope === 'page' ? seeingDialogs(call, params, () => handler(params, call)) : handler(params, call));
      // Each step of a batch by itself.
      return guarded(call) && method.name !== 'batch' ? telling(call, work) : work();
    },
  };
}

/** The old form {"selector": "#x"} stands for a css target, wherever a target can be given: also in each field of a form. */
function withSelectors(params: unknown, properties: Record<string, unknown> | undefined): unknown {
  if (params === null || typeof params !== 'object' || Array.isArray(params)) return params;
  if (properties?.target && !properties.selector) return withSelector(params);
  const { fields } = params as { fields?: unknown };
  if (properties?.fields && Array.isArray(fields)) return { ...params, fields: fields.map(withSelector) };
  return params;
}

function withSelector(params: unknown): unknown {
  if (params === null || typeof params !== 'object' || Array.isArray(params)) return params;
  const { target, selector, ...rest } = params as { target?: unknown; selector?: unknown };
  return target == null && typeof selector === 'string' ? { ...rest, target: { by: 'css', value: selector } } : params;
}
