// The one connection to the daemon: dial, prove both ways, then serve; and dial again when it is lost.
//
//   down --dial--> opening --hello--> proving --pair_challenge ok, pair_confirm--> confirming --hello_ack--> up
//     ^                |                 |  wrong or no proof in 5 s: close 4004            |                 |
//     +----------------+-----------------+----------- back-off ----------------------------+------ close -----+
//
// Until `up` not one command is obeyed: whoever listens on the port may be anybody.
import { readPairing, type Pairing } from './pairing';
import { clientSignature, newNonce, parseNonce, serverProofHolds, toBase64Url } from './proof';
import { isUp, link, setLink, type Acknowledged } from './link';

const PROOF_MS = 5000;
const PING_MS = 20_000;
const PONG_MS = 15_000;
const BACKOFF_MS = [250, 500, 1000, 2000, 3000, 4000];
/** After being told off (replaced, not allowed, not the daemon): as often as the alarm, and at once when the popup asks. */
const TOLD_OFF_MS = 25_000;

export interface Serve {
  /** A frame of the proven daemon. `generation` tells connections apart: an answer goes only to the one that asked. */
  frame(frame: Record<string, unknown>, generation: number): void;
  /** The connection of that generation is gone: its callers have been told. */
  lost(generation: number): void;
  methods: string[];
}

let serve: Serve;
let socket: WebSocket | undefined;
let generation = 0;
let failures = 0;
let redial: ReturnType<typeof setTimeout> | undefined;
let ping: { id: string; sentAt: number } | undefined;
let pingCount = 0;
let dialing = false;

/** To be called at the top level of the worker. */
export function startConnection(with_: Serve): void {
  serve = with_;
  // Only events restart a stopped worker; each of them leads here, and so does every start of it.
  chrome.runtime.onStartup.addListener(() => dial());
  chrome.runtime.onInstalled.addListener(() => dial());
  void chrome.alarms.create('connect', { periodInMinutes: 0.5 });
  chrome.alarms.onAlarm.addListener((alarm) => { if (alarm.name === 'connect') dial(); });
  setInterval(keepAlive, PING_MS);
  dial();
}

/** Sends on the connection of that generation; false if it is gone. */
export function send(text: string, to: number): boolean {
  if (to !== generation || !isUp() || socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(text);
  return true;
}

/** Dials now unless a connection stands or is being made. */
export function dial(): void {
  if (dialing || (socket && socket.readyState <= WebSocket.OPEN)) return;
  clearTimeout(redial);
  dialing = true;
  void open().finally(() => { dialing = false; });
}

/** Drops the connection, if any, and dials: the key has changed or the user asks. */
export function redialNow(): void {
  failures = 0;
  if (socket && socket.readyState <= WebSocket.OPEN) socket.close(1000);
  else dial();
}

async function open(): Promise<void> {
  const pairing = await readPairing();
  if ('problem' in pairing) {
    setLink({ state: pairing.problem === 'unpaired' ? 'unpaired' : 'refused', detail: pairing.problem, browserId: undefined });
    return later(TOLD_OFF_MS);
  }
  const mine = ++generation;
  const ws = new WebSocket(pairing.url);
  socket = ws;
  setLink({ state: link.state === 'foreign' ? 'foreign' : 'dialing', address: pairing.address, browserId: pairing.browserId });
  const nonce = newNonce();
  let step: 'opening' | 'proving' | 'confirming' | 'up' = 'opening';
  let refusal: { code?: unknown; error?: unknown } | undefined;
  let foreign = false;
  const notTheDaemon = () => {
    if (step === 'up') return;
    // Also while still opening: a port on which nobody listens refuses at once.
    foreign = true;
    ws.close(4004, 'daemon not proven');
    // Not only when the other side agrees to the close: whoever does not prove itself may not answer that either.
    ended(4004);
  };
  const timer = setTimeout(notTheDaemon, PROOF_MS);
  let over = false;
  const ended = (code: number) => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    if (socket === ws) socket = undefined;
    ping = undefined;
    if (step === 'up') serve.lost(mine);
    // A slow farewell of an old connection says nothing about the one that was made since.
    if (mine === generation) closed({ code, foreign, refusal, wasUp: step === 'up', address: pairing.address });
  };

  ws.onopen = () => {
    step = 'proving';
    ws.send(JSON.stringify({
      type: 'hello', role: 'extension', name: browserName(), protocol: 2, browser_id: pairing.browserId, key_id: pairing.keyId,
      nonce: toBase64Url(nonce), version: __VERSION__, build: __BUILD__, methods: serve.methods,
    }));
  };
  ws.onclose = (event) => ended(event.code);
  let queue = Promise.resolve();
  ws.onmessage = (event) => {
    if (step === 'up') return received(event.data, mine);
    // Frames of the handshake are taken strictly one after another: checking a proof is asynchronous.
    queue = queue.then(async () => {
      if (over) return;
      if (step === 'up') return received(event.data, mine);
      const frame = parse(event.data);
      if (frame?.type === 'error') {
        refusal = frame;
        return;
      }
      if (step === 'proving' && frame?.type === 'pair_challenge') {
        const signature = await answerChallenge(frame, pairing, nonce);
        if (signature === undefined) return notTheDaemon();
        if (ws.readyState !== WebSocket.OPEN) return;
        step = 'confirming';
        ws.send(JSON.stringify({ type: 'pair_confirm', challenge: frame.challenge, signature }));
      } else if (step === 'confirming' && frame?.type === 'hello_ack') {
        clearTimeout(timer);
        step = 'up';
        failures = 0;
        setLink({ state: 'up', detail: undefined, since: Date.now(), ack: frame as unknown as Acknowledged });
        // For `bridged doctor`: nobody but us can see whether the user allowed scripts.
        ws.send(JSON.stringify({ type: 'event', event: 'switches', user_scripts: typeof (chrome as { userScripts?: unknown }).userScripts === 'object' }));
        pingNow();
      } else {
        notTheDaemon();
      }
    });
  };
}

/** Our signature over the daemon's challenge, but only if the daemon proved itself first. */
async function answerChallenge(frame: Record<string, unknown>, pairing: Pairing, nonceC: Uint8Array): Promise<string | undefined> {
  const nonceS = parseNonce(frame.challenge);
  if (!nonceS || typeof frame.proof !== 'string') return undefined;
  const transcript = {
    role: 'extension' as const, keyId: pairing.keyId, browserId: pairing.browserId, nonceC, nonceS, address: pairing.address, origin: self.origin,
  };
  if (!(await serverProofHolds(pairing.key, transcript, frame.proof))) return undefined;
  return clientSignature(pairing.key, transcript);
}

function received(data: unknown, from: number): void {
  const frame = parse(data);
  if (!frame) return;
  if (ping && frame.id === ping.id && frame.method === undefined) {
    setLink({ roundTrip: { at: Date.now(), ms: Date.now() - ping.sentAt } });
    ping = undefined;
    return;
  }
  serve.frame(frame, from);
}

function parse(data: unknown): Record<string, unknown> | undefined {
  try {
    const value: unknown = typeof data === 'string' ? JSON.parse(data) : undefined;
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

interface Closed { code: number; foreign: boolean; refusal: { code?: unknown; error?: unknown } | undefined; wasUp: boolean; address: string }

function closed({ code, foreign, refusal, wasUp, address }: Closed): void {
  const text = typeof refusal?.error === 'string' ? refusal.error.slice(0, 200) : undefined;
  if (foreign) {
    setLink({ state: 'foreign', detail: address });
    return later(TOLD_OFF_MS);
  }
  if (code === 4001) {
    setLink({ state: 'replaced', detail: text });
    return later(TOLD_OFF_MS);
  }
  if (code === 4003 && wasUp && !refusal) {
    // The right to be here was taken back; why is said to whoever asks anew.
    setLink({ state: 'dialing', detail: undefined });
    return later(BACKOFF_MS[0] ?? 250);
  }
  if (code === 4003 || refusal) {
    setLink({ state: refusal?.code === 'NOT_PAIRED' ? 'unpaired' : 'refused', detail: text });
    return later(TOLD_OFF_MS);
  }
  setLink({ state: 'down', detail: text });
  if (wasUp) failures = 0;
  const pause = BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)] ?? 4000;
  // Some scatter, so that several browsers do not come back in step.
  later(pause * (0.8 + Math.random() * 0.4));
}

function later(ms: number): void {
  clearTimeout(redial);
  redial = setTimeout(dial, ms);
}

/** Every 20 s: text on the socket keeps the worker alive while up; while down only an API call does. */
function keepAlive(): void {
  if (isUp() && socket) pingNow();
  else void chrome.runtime.getPlatformInfo().then(() => dial());
}

/** Asks the daemon for a sign of life, unless an answer is awaited already. Not before it is proven: it expects the handshake and nothing else. */
export function pingNow(): void {
  if (!isUp() || socket?.readyState !== WebSocket.OPEN) return;
  if (ping && Date.now() - ping.sentAt > PONG_MS) {
    // The other end is gone without a word (suspend, a stopped process): a new connection finds out.
    socket.close(4000, 'no answer to ping');
    return;
  }
  if (ping) return;
  ping = { id: `ping-${++pingCount}`, sentAt: Date.now() };
  socket.send(`{"id":"${ping.id}","method":"ping"}`);
}

/** Since when a ping has been waiting for its answer, if one has. */
export const unansweredSince = (): number | undefined => ping?.sentAt;

/** A frame without answer that the extension sends by itself (`policy_set`, `event`). */
export function tell(frame: object): boolean {
  return send(JSON.stringify(frame), generation);
}

function browserName(): string {
  const brands = (navigator as { userAgentData?: { brands: { brand: string }[] } }).userAgentData?.brands.map((b) => b.brand) ?? [];
  return brands.find((b) => !/Not.?A.?Brand|Chromium/i.test(b)) ?? (brands.includes('Chromium') ? 'Chromium' : 'browser');
}
