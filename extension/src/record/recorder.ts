// What a tab does, written down while somebody wants to know: a ring of entries a tab, filled from the debugger's events. The debugger
// is held from start to stop; one listener a recording, which goes with it.
import { leaveNow, onDebuggerEvent, withDebugger, type Send } from '../debugger/attach';
import { followSessions, toSession } from './targets';

/** What there was is in the worker's memory alone: writing each entry down would cost every page that is recorded. */
const RESTARTED = 'the browser restarted the extension\'s worker: what was recorded before this call is lost, from here on it is recorded again';

/** So many entries a tab are kept; the oldest go first. */
export const RING = 500;

export interface Recording<E> {
  entries: E[];
  /** How many fell out of the ring. */
  dropped: number;
  /** When it began. */
  since: number;
  /** Where it stands; `ended` says why, if it was not stopped by a client. */
  status: 'recording' | 'stopped';
  ended?: string;
  /** What is missing before it. */
  gap?: string;
  /** To the tab's debugger, while it records; `session` names a frame of another process or a worker. */
  send<T = unknown>(method: string, params?: object, session?: string): Promise<T>;
}

interface Live<E> extends Recording<E> { stop: (why?: string) => void; idle?: ReturnType<typeof setTimeout> }

export interface Kind<E> {
  name: string;
  /** The domains whose events it takes. */
  domains: string[];
  /** Sent after that, to browsers that know it. */
  wish?: [method: string, params: object];
  /** Without a call for so long it ends by itself; the debugger's bar must not stay for ever. */
  idle_ms: number;
  /** So many events within 3 s are more than can be heard without everything else of the bridge waiting behind them. */
  flood: number;
  /** When the page did what the event tells of (Date.now() milliseconds), where it says so. */
  at?: (params: Record<string, unknown>) => number | undefined;
  event(recording: Recording<E>, method: string, params: Record<string, unknown>, push: (entry: E) => void, session?: string): void;
}

/** The time for which a kind's `flood` counts. So much that is heard so long after it was said is a flood, too, on a machine that hears less in that time. */
const FLOOD_MS = 3000;
const LATE_MOST = 200;
const FLOODED = 'the tab said more than can be written down in time, so that listening ended';

export class Recorder<E> {
  private readonly tabs = new Map<number, Live<E>>();
  private readonly starting = new Map<number, Promise<Live<E>>>();

  /** Which tabs are being recorded, kept for the worker that may come after this one. */
  private remembered: Promise<Set<number>> | undefined;
  private saving: Promise<void> | undefined;

  constructor(private readonly kind: Kind<E>) {}

  /** Goes on where an earlier worker recorded, and says what is missing; nothing if none did. */
  async resume(tabId: number): Promise<Recording<E> | undefined> {
    if (this.tabs.has(tabId) || this.starting.has(tabId) || !(await this.recall()).has(tabId)) return undefined;
    const recording = await this.start(tabId);
    recording.gap ??= RESTARTED;
    return recording;
  }

  /** An earlier worker's recording is not gone on with. */
  async drop(tabId: number): Promise<void> {
    if (!this.tabs.has(tabId)) await this.remember(tabId, false);
  }

  private recall(): Promise<Set<number>> {
    const key = `recorded:${this.kind.name}`;
    return (this.remembered ??= chrome.storage.session.get<Record<string, number[]>>(key).then((all) => new Set(all[key] ?? [])));
  }

  /** Changes that come while one is written down are gathered into the next. */
  private async remember(tabId: number, on: boolean): Promise<void> {
    const tabs = await this.recall();
    if (tabs.has(tabId) === on) return;
    if (on) tabs.add(tabId); else tabs.delete(tabId);
    await (this.saving ??= Promise.resolve().then(() => {
      this.saving = undefined;
      return chrome.storage.session.set({ [`recorded:${this.kind.name}`]: [...tabs] });
    }).catch(() => {}));
  }

  /** The tab's recording, running or stopped. */
  of(tabId: number): Recording<E> | undefined {
    const live = this.tabs.get(tabId);
    if (live?.status === 'recording') this.keep(tabId, live);
    return live;
  }

  /** Begins a recording, unless one runs. */
  async start(tabId: number): Promise<Recording<E>> {
    const live = this.tabs.get(tabId);
    if (live?.status === 'recording') {
      this.keep(tabId, live);
      return live;
    }
    let starting = this.starting.get(tabId);
    if (!starting) {
      starting = this.begin(tabId).finally(() => this.starting.delete(tabId));
      this.starting.set(tabId, starting);
    }
    return starting;
  }

  stop(tabId: number, why?: string): Recording<E> | undefined {
    const live = this.tabs.get(tabId);
    live?.stop(why);
    return live;
  }

  clear(tabId: number): void {
    const live = this.tabs.get(tabId);
    if (!live) return;
    live.entries.length = 0;
    live.dropped = 0;
    delete live.gap;
    if (live.status === 'stopped') this.tabs.delete(tabId);
  }

  /** The tab is gone. */
  forget(tabId: number): void {
    this.stop(tabId, 'the tab was closed');
    this.tabs.delete(tabId);
    void this.remember(tabId, false);
  }

  private keep(tabId: number, live: Live<E>): void {
    clearTimeout(live.idle);
    live.idle = setTimeout(() => this.stop(tabId, 'nobody asked for it any more'), this.kind.idle_ms);
  }

  private begin(tabId: number): Promise<Live<E>> {
    const remember = (on: boolean) => this.remember(tabId, on);
    return new Promise((resolve, reject) => {
      let release!: () => void;
      const stopped = new Promise<void>((r) => { release = r; });
      const work = async (send: Send) => {
        const live: Live<E> = {
          entries: [], dropped: 0, since: Date.now(), status: 'recording',
          send: (method, params = {}, session) => (session === undefined ? send(method, params) : toSession(tabId, session, method, params)),
          stop(why) {
            if (live.status === 'stopped') return;
            live.status = 'stopped';
            if (why !== undefined) live.ended = why;
            clearTimeout(live.idle);
            void remember(false);
            release();
          },
        };
        const push = (entry: E) => {
          live.entries.push(entry);
          if (live.entries.length > RING) { live.entries.shift(); live.dropped++; }
        };
        let heard = 0;
        let late = 0;
        let from = Date.now();
        const unhear = onDebuggerEvent(tabId, (method, params, session) => {
          if (++heard % this.kind.flood === 0) {
            if (Date.now() - from < FLOOD_MS) return flooded();
            from = Date.now();
          }
          const at = this.kind.at?.(params) ?? 0;
          if (at > live.since && Date.now() - at > FLOOD_MS && ++late > LATE_MOST) return flooded();
          this.kind.event(live, method, params, push, session);
        });
        const flooded = () => {
          unhear();
          live.stop(FLOODED);
          leaveNow(tabId, FLOODED);
        };
        let leave = () => {};
        try {
          await this.enable(send);
          leave = await followSessions(tabId, send, (session) => this.enable((m, p) => toSession(tabId, session, m, p)));
          this.tabs.set(tabId, live);
          this.keep(tabId, live);
          await remember(true);
          resolve(live);
          await stopped;
        } finally {
          unhear();
          leave();
          for (const domain of this.kind.domains) await send(`${domain}.disable`).catch(() => {});
        }
      };
      withDebugger(tabId, work).catch(reject);
    });
  }

  private async enable(send: (method: string, params?: object) => Promise<unknown>): Promise<void> {
    await Promise.all(this.kind.domains.map((domain) => send(`${domain}.enable`).catch((e: unknown) => {
      // Not every kind of target has every domain.
      if (domain === this.kind.domains[0]) throw e;
    })));
    const { wish } = this.kind;
    if (wish) await send(...wish).catch(() => {});
  }
}

/** The last entries that match, oldest first. */
export function lastOf<E>(entries: E[], limit: number, matches: (entry: E) => boolean): E[] {
  const found: E[] = [];
  for (let i = entries.length - 1; i >= 0 && found.length < limit; i--) if (matches(entries[i]!)) found.push(entries[i]!);
  return found.reverse();
}
