// batch: several commands in one request, each with its own answer; later ones may use what earlier ones gave.
import type { Call, Handler } from '../call';
import { prepare } from '../dispatch';
import { BridgeError } from '../errors';
import type { BatchParams, BatchResult } from '../generated/methods';
import type { Answer } from '../once';
import { failure } from '../router';
import { fillIn } from './batch/references';

const MAX_STEPS = 100;
type StepAnswer = Answer & BatchResult['results'][number];

export const handler: Handler<BatchParams, BatchResult> = async ({ steps, stop_on_error = true }, call) => {
  if (!steps.length) throw new BridgeError('INVALID_PARAMS', 'invalid params: steps must not be empty');
  if (steps.length > MAX_STEPS) throw new BridgeError('INVALID_PARAMS', `invalid params: at most ${MAX_STEPS} steps, not ${steps.length}`);
  const results: StepAnswer[] = [];
  for (const step of steps) {
    if (call.signal.aborted) throw new BridgeError('CANCELLED', 'cancelled');
    const answer = await runStep(step, results, call);
    results.push(answer);
    if (!answer.success && stop_on_error) break;
  }
  const failed = results.findIndex((r) => !r.success);
  return { results, done: results.filter((r) => r.success).length, ...(failed < 0 ? {} : { first_failed: failed }) };
};

async function runStep({ method, params }: BatchParams['steps'][number], before: Answer[], call: Call): Promise<StepAnswer> {
  let acted = false;
  const own: Call = { ...call, method, acted: () => { acted = true; call.acted(); } };
  try {
    if (method === 'batch') throw new BridgeError('INVALID_PARAMS', 'invalid params: a batch cannot hold another batch');
    if (method === 'upload') throw new BridgeError('UNSUPPORTED', 'upload cannot be a step of a batch: the daemon has to read its files first');
    const { run } = await prepare(method, fillIn(params ?? {}, before));
    return { success: true, result: { ...(await run(own)) } };
  } catch (e) {
    return failure(e, acted);
  }
}
