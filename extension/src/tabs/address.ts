// Addresses as they are asked for: what is meant by one, and whether the bridge may go there at all.
import { BridgeError } from '../errors';
import { isOwnAddress } from '../policy/policy';
import { admitAddress } from './admission';

/** The address as a person may write it: without a scheme, https is meant, and http for this computer. */
export function normalUrl(text: string): string {
  const url = text.trim();
  if (/^javascript:/i.test(url)) throw new BridgeError('INVALID_PARAMS', 'invalid params: url must not be a javascript: address; run_script runs code');
  if (/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?([/?#]|$)/i.test(url)) return allowed(`http://${url}`);
  if (/^[a-z][a-z0-9+.-]*:/i.test(url) && !/^[\w-]+(\.[\w-]+)+:\d+([/?#]|$)/.test(url)) {
    if (!URL.canParse(url)) throw new BridgeError('INVALID_PARAMS', `invalid params: url is not an address: ${url.slice(0, 200)}`);
    return allowed(url);
  }
  const guess = `https://${url}`;
  if (!/^[^\s/]+\.[^\s/.]+(:\d+)?([/?#]|$)/.test(url) || !URL.canParse(guess)) {
    throw new BridgeError('INVALID_PARAMS', `invalid params: url is not an address: ${url.slice(0, 200)}`);
  }
  return allowed(guess);
}

/** As the browser reads it: the daemon judges the text, and some of it only a browser can map to an address. */
function allowed(url: string): string {
  if (isOwnAddress(url)) throw new BridgeError('PERMISSION_DENIED', 'forbidden: url: it is the bridge\'s own address');
  admitAddress(url);
  return url;
}
