// What a step of a batch takes from the answers of earlier steps: a string that is wholly `$N.path` stands for the value at that path
// in step N's result; `$$` at the beginning of a string stands for one `$`.
import { BridgeError } from '../../errors';
import type { Answer } from '../../once';

const REFERENCE = /^\$(\d+)\.(.+)$/s;

/** A copy of the parameters with every reference replaced. */
export function fillIn(value: unknown, answers: Answer[], place = 'params'): unknown {
  if (typeof value === 'string') {
    if (value.startsWith('$$')) return value.slice(1);
    const [, step, path] = REFERENCE.exec(value) ?? [];
    return step === undefined || path === undefined ? value : lookUp(Number(step), path, answers, place, value);
  }
  if (Array.isArray(value)) return value.map((item, i) => fillIn(item, answers, `${place}[${i}]`));
  if (value === null || typeof value !== 'object') return value;
  const out = Object.create(null) as Record<string, unknown>;
  for (const [name, item] of Object.entries(value)) out[name] = fillIn(item, answers, `${place}.${name}`);
  return out;
}

function lookUp(step: number, path: string, answers: Answer[], place: string, text: string): unknown {
  const wrong = (why: string) => new BridgeError('INVALID_PARAMS', `invalid params: ${place} is ${JSON.stringify(text.slice(0, 100))}, but ${why}; a text that begins with $ is written with $$`);
  const answer = answers[step];
  if (!answer) throw wrong(answers.length ? `only the steps 0 to ${answers.length - 1} come before this one` : 'no step comes before this one');
  if (!answer.success) throw wrong(`step ${step} failed`);
  let at: unknown = answer.result;
  for (const name of path.replace(/\[(\d+)\]/g, '.$1').split('.').filter((part, i) => part !== '' || i > 0)) {
    const inside = at !== null && typeof at === 'object' && Object.hasOwn(at, name);
    if (!inside) throw wrong(`step ${step}'s result has nothing there`);
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}
