// Bodies as texts. Chrome tells texts from the rest by their bytes or by their type, depending on who kept them, and reads some that do
// not name their character set as windows-1252: neither is what a page's fetch() makes of them.

/** Types that are texts, whatever their bytes, and types that are none. */
const TEXTS = /^text\/|\+(?:json|xml)\b|^application\/(?:x-)?(?:[\w.-]*(?:json|xml|javascript|yaml)|graphql|csv|www-form-urlencoded|sql|toml)\b/i;
const BINARY = /^(?:image|audio|video|font)\/(?!svg)|^application\/(?:octet-stream|pdf|zip|gzip|wasm|x-protobuf)\b/i;

/** The body, or with `base64` its bytes where it is no text. */
export function readable(body: string, base64: boolean, mime: string, headers: Record<string, string> = {}): { body: string; base64: boolean } {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const charset = /charset=\s*"?([\w.:-]+)/i.exec(type)?.[1];
  if (base64) {
    const text = TEXTS.test(mime) ? decoded(Uint8Array.from(atob(body), (c) => c.charCodeAt(0)), charset) : undefined;
    return text === undefined ? { body, base64 } : { body: text, base64: false };
  }
  if (BINARY.test(mime)) return { body: encoded(new TextEncoder().encode(body)), base64: true };
  if (charset !== undefined || /html/i.test(mime) || !/[\x80-\uffff]/.test(body)) return { body, base64 };
  const bytes = fromWindows1252(body);
  return { body: (bytes && decoded(bytes)) ?? body, base64 };
}

function decoded(bytes: Uint8Array<ArrayBuffer>, charset = 'utf-8'): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function encoded(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

let codes: Map<string, number> | undefined;

/** The bytes that windows-1252 reads as this text, if it can. */
function fromWindows1252(text: string): Uint8Array<ArrayBuffer> | undefined {
  codes ??= new Map([...new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, i) => i))].map((c, i) => [c, i]));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = codes.get(text[i]!);
    if (code === undefined) return undefined;
    bytes[i] = code;
  }
  return bytes;
}
