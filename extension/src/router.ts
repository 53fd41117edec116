// From a frame to its answer: finds the method, checks the parameters, bounds the time, runs the handler, shapes the answer.
import type { Call } from './call';
import { send } from './connection/connection';
import { link } from './connection/link';
import { prepare } from './dispatch';
import { BridgeError, toBridgeError } from './errors';
import { runOnce, validOnce, type Answer } from './once';
import { learnNames } from './person/names';
import { over } from './person/acting';
import { isStopped, stoppable } from './person/stop';
import { setPolicy } from './policy/policy';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;
/** The largest answer that a daemon takes which does not say. */
const FRAME_BYTES = 64 * 1024 * 1024;

interface Active { controller: AbortController; generation: number; cancelled: boolean }
const active = new Map<string, Active>();

/** A frame from the proven daemon. */
export function onFrame(frame: Record<string, unknown>, generation: number): void {
  if (typeof frame.method === 'string' && typeof frame.id === 'string') {
    void serve(frame as Request, generation);
    return;
  }
  if (frame.type === 'cancel' && typeof frame.id === 'string') cancel(frame.id, generation);
  else if (frame.type === 'policy') {
    const policy = (frame.policy ?? frame) as Record<string, unknown>;
    learnNames(policy);
    setPolicy(policy);
  }
}

/** The connection is gone and its callers have been told: what still waits must not act any more. */
export function onLost(generation: number): void {
  for (const [id, call] of active) if (call.generation === generation) cancel(id, generation);
}

function cancel(id: string, generation: number): void {
  const call = active.get(id);
  if (call?.generation !== generation) return;
  call.cancelled = true;
  call.controller.abort();
}

interface Request extends Record<string, unknown> { id: string; method: string }

async function serve(request: Request, generation: number): Promise<void> {
  const { id } = request;
  const entry: Active = { controller: new AbortController(), generation, cancelled: false };
  active.set(id, entry);
  let answer: Answer;
  let replayed = false;
  try {
    ({ answer, replayed } = await run(request, entry));
  } catch (e) {
    answer = failure(e, false);
  }
  active.delete(id);
  // The daemon has dropped a cancelled request; an answer would only be counted as stray.
  if (!entry.cancelled) send(frameOf(id, answer, replayed), generation);
}

async function run(request: Request, { controller }: Active): Promise<{ answer: Answer; replayed: boolean }> {
  if (request.method === 'ping') return { answer: { success: true, result: { pong: true } }, replayed: false };
  const { method, run: carryOut } = await prepare(request.method, request.params);
  const owner = typeof request.client_id === 'string' ? request.client_id : '';
  const timeout = timeoutOf(request.timeout_ms);
  // A little before the hub's own deadline, so that the better-informed answer is the one that arrives; on a busy machine its way takes time.
  const budget = timeout - Math.min(250, Math.max(timeout / 6, Math.min(80, timeout * 0.4)));
  const state = { acted: false };
  const call: Call = {
    id: request.id,
    owner,
    class: request.class === 'agent' ? 'agent' : 'person',
    method: method.name,
    deadline: Date.now() + budget,
    signal: controller.signal,
    acted: () => {
      state.acted = true;
      if (isStopped(controller.signal)) throw new BridgeError('CANCELLED', 'cancelled');
    },
  };
  const work = async (): Promise<Answer> => {
    const timer = setTimeout(() => controller.abort(), budget);
    try {
      return { success: true, result: await stoppable({ call, controller, writes: method.access === 'write', acted: () => state.acted }, () => carryOut(call)) };
    } catch (e) {
      return failure(e, state.acted);
    } finally {
      clearTimeout(timer);
      over(call.id);
    }
  };
  if (request.once === undefined || method.access === 'read') return { answer: await work(), replayed: false };
  if (!validOnce(request.once)) throw new BridgeError('INVALID_REQUEST', 'once must be 1 to 64 of A-Z a-z 0-9 _ -');
  return runOnce(owner, request.once, method.name, request.params, work);
}

function timeoutOf(given: unknown): number {
  return typeof given === 'number' && given >= 1 ? Math.min(given, MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
}

export function failure(thrown: unknown, acted: boolean): Extract<Answer, { success: false }> {
  const { message, code, extra } = toBridgeError(thrown);
  return { success: false, error: message, code, ...(extra.maybe_executed ?? acted ? { maybe_executed: true } : {}) };
}

/**
 * `id` and `success` come first: the daemon then needs to look at no more of a large answer. That it is a replay stands beside them, as
 * `maybe_executed` does, and in the result too: some doors hand on nothing else.
 */
function frameOf(id: string, answer: Answer, replayed: boolean): string {
  if (!answer.success) return JSON.stringify({ id, ...answer, ...(replayed ? { replayed } : {}) });
  const text = JSON.stringify(replayed ? { id, success: true, result: { ...answer.result, replayed }, replayed } : { id, success: true, result: answer.result });
  const { frame_bytes: given } = link.ack?.limits ?? {};
  const most = typeof given === 'number' ? given : FRAME_BYTES;
  // A character is at most three bytes; only near the limit is it worth counting.
  if (text.length * 3 <= most || (text.length <= most && new TextEncoder().encode(text).length <= most)) return text;
  return JSON.stringify({ id, success: false, error: `the result is too large: more than ${most} bytes`, code: 'TOO_LARGE', maybe_executed: true });
}
