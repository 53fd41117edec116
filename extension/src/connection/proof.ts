// The mutual proof: both sides show that they hold the same key, each over a transcript that names the role, the browser, both
// nonces, the address that was dialled and the origin. Nothing that was recorded, reflected or relayed from elsewhere fits it.

export interface Transcript {
  role: 'extension' | 'client';
  keyId: string;
  browserId: string;
  nonceC: Uint8Array;
  nonceS: Uint8Array;
  /** Literal IP:port that was dialled. */
  address: string;
  origin: string;
}

const NONCE_BYTES = 32;
const encoder = new TextEncoder();

/** Every field with its length in front (4 bytes, big-endian), so that no two transcripts read alike. */
export function transcriptBytes(t: Transcript): Uint8Array<ArrayBuffer> {
  const fields = ['bridged-proof-v2', t.role, t.keyId, t.browserId, t.nonceC, t.nonceS, t.address, t.origin]
    .map((f) => (typeof f === 'string' ? encoder.encode(f) : f));
  const out = new Uint8Array(fields.reduce((n, f) => n + 4 + f.length, 0));
  const view = new DataView(out.buffer);
  let at = 0;
  for (const field of fields) {
    view.setUint32(at, field.length);
    out.set(field, at + 4);
    at += 4 + field.length;
  }
  return out;
}

/** HMAC-SHA256 over the direction letter and the transcript: 'S' is the daemon's proof, 'C' ours, so neither can be sent back. */
async function mac(key: Uint8Array<ArrayBuffer>, direction: 'S' | 'C', t: Transcript): Promise<Uint8Array<ArrayBuffer>> {
  const hmac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const body = transcriptBytes(t);
  const message = new Uint8Array(body.length + 1);
  message[0] = direction.charCodeAt(0);
  message.set(body, 1);
  return new Uint8Array(await crypto.subtle.sign('HMAC', hmac, message));
}

export async function serverProofHolds(key: Uint8Array<ArrayBuffer>, t: Transcript, proof: string): Promise<boolean> {
  const given = fromBase64Url(proof);
  const wanted = await mac(key, 'S', t);
  if (!given || given.length !== wanted.length) return false;
  let difference = 0;
  for (let i = 0; i < wanted.length; i++) difference |= (given[i] ?? 0) ^ (wanted[i] ?? 0);
  return difference === 0;
}

export async function clientSignature(key: Uint8Array<ArrayBuffer>, t: Transcript): Promise<string> {
  return toBase64Url(await mac(key, 'C', t));
}

export const newNonce = (): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(NONCE_BYTES));

/** A nonce as it comes over the wire; undefined unless it is exactly 32 bytes. */
export function parseNonce(text: unknown): Uint8Array<ArrayBuffer> | undefined {
  const bytes = typeof text === 'string' ? fromBase64Url(text) : undefined;
  return bytes?.length === NONCE_BYTES ? bytes : undefined;
}

export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}
