// The proof's bytes: the transcript as both sides must write it, and what does not pass.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { load } from './harness/bundle.mjs';
import { mac, transcript } from './harness/hub.mjs';

let proof, pairing;
before(async () => { proof = await load('connection/proof.ts'); pairing = await load('connection/pairing.ts'); });

const key = new Uint8Array(32).fill(7);
const nonceC = new Uint8Array(32).fill(1);
const nonceS = new Uint8Array(32).fill(2);
const t = { role: 'extension', keyId: 'k-12345678', browserId: 'b-äö', nonceC, nonceS, address: '127.0.0.1:9225', origin: 'chrome-extension://x' };
const theirs = transcript(['extension', 'k-12345678', 'b-äö', Buffer.from(nonceC), Buffer.from(nonceS), '127.0.0.1:9225', 'chrome-extension://x']);

test('the transcript is the one the daemon writes', () => {
  assert.equal(Buffer.from(proof.transcriptBytes(t)).toString('hex'), theirs.toString('hex'));
});

test('a right proof passes; one bit off, reflected, shortened or of another transcript does not', async () => {
  const right = mac(key, 'S', theirs);
  const holds = (bytes, transcript = t) => proof.serverProofHolds(key, transcript, Buffer.from(bytes).toString('base64url'));
  assert.equal(await holds(right), true);
  for (const at of [0, 31]) {
    const wrong = Buffer.from(right);
    wrong[at] ^= 1;
    assert.equal(await holds(wrong), false);
  }
  assert.equal(await holds(mac(key, 'C', theirs)), false);
  assert.equal(await holds(right.subarray(0, 31)), false);
  assert.equal(await proof.serverProofHolds(key, t, 'not base64!'), false);
  // T41, T41b: relayed from a daemon on another port, or by a squatter on another loopback address.
  for (const change of [{ address: '127.0.0.1:9226' }, { address: '127.0.0.2:9225' }, { address: '[::1]:9225' }, { browserId: '' }, { nonceS: nonceC }, { role: 'client' }, { origin: '' }]) assert.equal(await holds(right, { ...t, ...change }), false);
  assert.equal(await proof.clientSignature(key, t), mac(key, 'C', theirs).toString('base64url'));
});

// T43.
test('a nonce is exactly 32 bytes of base64url', () => {
  assert.deepEqual(proof.parseNonce(Buffer.from(nonceS).toString('base64url')), nonceS);
  for (const bad of [undefined, 7, '', 'AAAA', '!', `${Buffer.from(nonceS).toString('base64url')}AA`]) assert.equal(proof.parseNonce(bad), undefined);
});

// T41b.
test('only a literal loopback address is dialled', () => {
  assert.equal(pairing.addressOf('ws://127.0.0.1:9225'), '127.0.0.1:9225');
  assert.equal(pairing.addressOf('ws://127.0.0.1'), '127.0.0.1:80');
  assert.equal(pairing.addressOf('ws://[::1]:9225/'), '[::1]:9225');
  for (const url of ['ws://localhost:9225', 'wss://127.0.0.1:9225', 'http://127.0.0.1:9225', 'ws://192.168.0.2:9225', 'ws://127.0.0.1.nip.io:9225', 7, '']) assert.equal(pairing.addressOf(url), undefined, String(url));
});

test('the pasted form of a key', () => {
  const text = Buffer.from(key).toString('base64url');
  assert.deepEqual(pairing.parsePastedKey(` bridged1.k-12345678.${text}\n`), { keyId: 'k-12345678', key: text, port: '9225' });
  assert.equal(pairing.parsePastedKey(`bridged1.k-12345678.${text}:9300`).port, '9300');
  for (const bad of ['', text, `bridged2.k.${text}`, `bridged1.k.${text}x`, `bridged1..${text}`, `bridged1.k.${text}:`, `bridged1.k.${text}:0`, `bridged1.k.${text}:9300/x`]) assert.equal(pairing.parsePastedKey(bad), undefined);
});
