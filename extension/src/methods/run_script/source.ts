// The text that goes into a page for code of a client: it runs the code, waits for its promise, and hands the value back as JSON.
import { BridgeError } from '../../errors';
import { serialise } from './serialise';

/** What the text gives. `type` is the value's typeof. */
export type Told = { ok: true; json?: string; type: string } | { ok: false; error: string } | { late: true };

/** The value that was told. */
export function resultOf({ json }: { json?: string }): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    throw new BridgeError('SCRIPT_ERROR', 'the result is not to be had: JSON.stringify, which a script has replaced there, gives no JSON');
  }
}

/**
 * The value of the code as a script; or, if it only parses with `await` or `return` at its top, as the body of an async function. Goes
 * into the page as text. Code is run a second way only if it certainly did not run the first way: a SyntaxError can also come from
 * code that ran.
 */
function evaluate(code: string): unknown {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- running code is what this method is for
  const parses = (body: string) => { try { new Function(body); return true; } catch { return false; } };
  try {
    // In braces, an expression is an object, as in every console; a script would take it for a block.
    const literal = /^\s*\{/.test(code) ? `(${code.replace(/;\s*$/, '')}\n)` : undefined;
    return (0, eval)(literal !== undefined && parses(literal) ? literal : code);
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    if (e.message !== 'Illegal return statement' && parses(code)) throw e;
    const AsyncFunction = (async () => {}).constructor as new (body: string) => () => Promise<unknown>;
    for (const body of [`return (${code}\n)`, code]) {
      let f: () => Promise<unknown>;
      try { f = new AsyncFunction(body); } catch { continue; }
      return f();
    }
    throw e;
  }
}

/**
 * A script whose value is a promise of what is told. It does not run the code if it comes to its turn after `startBy`. The code goes
 * in as a string to an indirect eval: a syntax error is then thrown where it can be caught, and the code sees no variable of ours.
 */
export const sourceOf = (code: string, startBy: number): string => `(async () => {
    if (Date.now() > ${startBy}) return { late: true };
    const serialise = ${serialise.toString()};
    const text = (e) => e instanceof Error || (e && typeof e === 'object' && typeof e.message === 'string' && typeof e.name === 'string')
      ? e.name + ': ' + e.message : e === undefined ? 'rejected without a reason' : typeof e === 'string' ? e : serialise(e) ?? String(e);
    const evaluate = ${evaluate.toString()};
    try {
      const value = await evaluate(${JSON.stringify(code)});
      return { ok: true, json: serialise(value), type: typeof value };
    } catch (e) {
      try { return { ok: false, error: text(e) }; } catch { return { ok: false, error: 'a value that cannot be shown was thrown' }; }
    }
  })()`;
