// The user's site lists: which addresses programs may work on. Compared on the address as the browser reads it, never on its text.

interface Pattern {
  /** As a page's: ws goes with http, wss with https. Undefined: any of them. */
  scheme: string | undefined;
  host: string;
  /** Subdomains too. */
  under: boolean;
  /** Undefined: any. */
  port: string | undefined;
}

interface Site { scheme: string; host: string; port: string }

const PORTS: Record<string, string> = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443' };

/** As much of a pattern as the daemon lets through: `[scheme://]host[:port]`, where the host may begin with `*.`. */
const PATTERN = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*\.)?(\[[\da-f:.]+\]|[^\s/:?#@\\[\]]+)(?::(\d{1,5}))?$/iu;

function read(text: string): Pattern | undefined {
  const [, scheme, under, name, port] = PATTERN.exec(text.trim()) ?? [];
  if (name === undefined || !URL.canParse(`http://${name}`)) return undefined;
  return { scheme: scheme === undefined ? undefined : `${scheme.toLowerCase()}:`, host: bare(new URL(`http://${name}`).hostname), under: under !== undefined, port: port === undefined ? undefined : String(Number(port)) };
}

/** One spelling for one host: IPv4 within IPv6 is IPv4. */
function bare(host: string): string {
  const [, high, low] = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return host.replace(/\.$/, '');
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

/** The site of an address; undefined if it has none. What a page made for itself (blob:) is its site's. */
function siteOf(url: string): Site | undefined {
  const inner = url.replace(/^(?:view-source:|blob:|filesystem:)+/i, '');
  if (!URL.canParse(inner)) return undefined;
  const { protocol: scheme, hostname, port } = new URL(inner);
  const usual = PORTS[scheme];
  return usual === undefined ? undefined : { scheme: scheme.replace('ws', 'http'), host: bare(hostname), port: port || usual };
}

function fits({ scheme, host, port }: Site, p: Pattern): boolean {
  if (p.scheme !== undefined && p.scheme !== scheme) return false;
  if (p.port !== undefined && p.port !== port) return false;
  return host === p.host || (p.under && host.endsWith(`.${p.host}`));
}

/** Whoever names the only sites that may be worked on does not mean these. */
const NO_SITE = /^(data:|file:|ftp:)/i;
/** In the daemon's words. */
const WAY = 'the user sees and changes that by `bridged policy show` and `bridged policy set`';

export class SiteLists {
  private readonly allow: Pattern[];
  private readonly deny: Pattern[];
  /** An allow list of which nothing can be read allows nothing. */
  private readonly only: boolean;
  /** Whether there is anything to judge. */
  readonly limited: boolean;

  constructor(allow: unknown, deny: unknown) {
    this.allow = patterns(allow);
    this.deny = patterns(deny);
    this.only = Array.isArray(allow) && allow.length > 0;
    this.limited = this.only || this.deny.length > 0;
  }

  /** Why programs may not work on the address, as a client is told it: by the host alone. Undefined if they may. */
  refusal(url: string): string | undefined {
    if (!this.limited) return undefined;
    const site = siteOf(url);
    if (!site) {
      const [, scheme] = (this.only && NO_SITE.exec(url)) || [];
      return scheme && `forbidden: domain: ${scheme} addresses are of no site on the user's allow list; ${WAY}`;
    }
    if (this.deny.some((p) => fits(site, p))) return `forbidden: domain ${site.host} is on the user's deny list; ${WAY}`;
    if (this.only && !this.allow.some((p) => fits(site, p))) return `forbidden: domain ${site.host} is not on the user's allow list; ${WAY}`;
    return undefined;
  }
}

function patterns(list: unknown): Pattern[] {
  if (!Array.isArray(list)) return [];
  return list.filter((p): p is string => typeof p === 'string').map(read).filter((p) => p !== undefined);
}

/** What a question about an address, and its answer, are about: the origin, or what comes nearest to one. */
export function placeOf(url: string): string {
  const inner = url.replace(/^(?:view-source:|blob:|filesystem:)+/i, '');
  if (!URL.canParse(inner)) return url.slice(0, 200);
  const { origin, protocol, host } = new URL(inner);
  return origin !== 'null' ? origin : `${protocol}${host ? `//${host}` : ''}`;
}
