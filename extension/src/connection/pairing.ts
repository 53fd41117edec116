// The key that this browser shares with the daemon: from pairing.json in the unpacked folder, or the one pasted in the popup, whichever
// came later.
import { fromBase64Url, toBase64Url } from './proof';

export interface Pairing {
  url: string;
  /** `IP:port` as both sides put it into the proof. */
  address: string;
  keyId: string;
  key: Uint8Array<ArrayBuffer>;
  browserId: string;
}

const DEFAULT_PORT = '9225';
const KEY_BYTES = 32;

/** Read anew at every connect: `bridged extension install` may have rewritten the file, and the worker sees that at once. */
export async function readPairing(): Promise<Pairing | { problem: string }> {
  const file = await readFile();
  const stored = await chrome.storage.local.get<{ pasted_key?: string; pasted_over?: string; browser_id?: string }>(['pasted_key', 'pasted_over', 'browser_id']);
  const pasted = stored.pasted_key === undefined ? undefined : parsePastedKey(stored.pasted_key);
  // A key is pasted because the file's serves no more; one that was written since is newer.
  const newer = pasted && (!file || stored.pasted_over === file.key_id);
  const source = newer ? { url: `ws://127.0.0.1:${pasted.port}`, key_id: pasted.keyId, key: pasted.key, browser_id: null } : file;
  if (!source) return { problem: 'unpaired' };
  const address = addressOf(source.url);
  if (!address) return { problem: 'the address in pairing.json is not ws://127.0.0.1:PORT' };
  const key = typeof source.key === 'string' ? fromBase64Url(source.key) : undefined;
  if (key?.length !== KEY_BYTES || typeof source.key_id !== 'string') return { problem: 'pairing.json holds no valid key: run "bridged extension install" again' };
  return { url: source.url, address, keyId: source.key_id, key, browserId: source.browser_id ?? stored.browser_id ?? (await makeBrowserId()) };
}

/** Keeps a key that was pasted; false if it is none. */
export async function paste(text: string): Promise<boolean> {
  if (!parsePastedKey(text)) return false;
  const file = await readFile();
  await chrome.storage.local.set({ pasted_key: text.trim(), pasted_over: typeof file?.key_id === 'string' ? file.key_id : '' });
  return true;
}

interface PairingFile { url: string; key_id: string; key: string; browser_id: string | null }

async function readFile(): Promise<PairingFile | undefined> {
  try {
    const response = await fetch(chrome.runtime.getURL('pairing.json'), { cache: 'no-store' });
    return response.ok ? ((await response.json()) as PairingFile) : undefined;
  } catch {
    return undefined;
  }
}

/** `IP:port` of a WebSocket address, only for a literal loopback IP: a name could lead to somebody else. */
export function addressOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'ws:' || !(/^127\.\d+\.\d+\.\d+$/.test(hostname) || hostname === '[::1]')) return undefined;
  return `${hostname}:${port || '80'}`;
}

/** The form that `bridged pair` prints, bridged1.<key_id>.<key>, with `:PORT` behind it where the daemon's is not the usual one. */
export function parsePastedKey(text: string): { keyId: string; key: string; port: string } | undefined {
  const match = /^bridged1\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})(?::([1-9]\d{0,4}))?$/.exec(text.trim());
  return match?.[1] && match[2] ? { keyId: match[1], key: match[2], port: match[3] ?? DEFAULT_PORT } : undefined;
}

async function makeBrowserId(): Promise<string> {
  const id = `b-${toBase64Url(crypto.getRandomValues(new Uint8Array(9)))}`;
  await chrome.storage.local.set({ browser_id: id });
  return id;
}
