// Lets a page open the window that a quiet click asks it for. Chrome lets scripts of a page open windows only in answer to a person's own act,
// and a click that is dispatched here is none; but it lets this world open them. So for the moment of the click the calls that open a window
// come here (tabs/main-world.ts sees to it in the page's own world) and are made from here: one window a click, as for a person. That the page
// begins a request or a timer in that moment is heard in the same way.
import { layerOver, onLayerOver } from '../layers';
import { native } from '../native';
import { later } from '../wait';
import { opensTab } from './link';

export interface Windows {
  /** So many windows were asked for of which nothing is known here but that they are to open. */
  windows?: number;
  /** Addresses of windows that the page asked for in vain. */
  unopened?: string[];
}

/** How long the page's own world may take to be made ready; a click without it is as good as it was before. */
const READY_MS = 500;
/** Timers that fall due within this time after the click belong to its answer: longer ones are seldom meant for who has clicked. */
const TIMERS_MS = 500;
/** So many that were not opened are told of. */
const MOST = 5;

/** The time in which the page may open its window. */
export interface Moment {
  spent: boolean;
  windows: number;
  unopened: string[];
  /** So many requests were begun by calls that are heard here. */
  requests: number;
  /** Until when timers are waited for, and how many there are that have not run. */
  timersUntil: number;
  timers: number;
  /** Above zero while what runs belongs to the click: only timers that are begun then do so too. */
  within: number;
  /** Whether the timer that is being begun does. */
  counts: boolean;
  /** Called when the last one has run. */
  ran?: () => void;
}

/** Who hears in the page's own world: its name, whether it is being put there, and whether it has been. */
interface Other { name: string; coming?: Promise<void>; there: boolean }

let other: Other | undefined;
let moment: Moment | undefined;
let heard = false;

const dispatch = (event: Event) => native(document).dispatchEvent(event);

/** Whether the page's own world has to be made ready first; null if it is, or if it has been and does not answer: then another would not either. */
export function ready(): Promise<void> | null {
  if (other && hears(other.name)) return null;
  // A page that writes itself anew takes the listeners of both worlds away.
  if (!other || !hears(`${other.name} here`)) listen((other = { name: newName(), there: false }).name);
  if (other.there) return null;
  other.coming ??= comes(other);
  return Promise.race([other.coming, new Promise<void>((done) => { later(done, READY_MS); })]);
}

const newName = () => [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('');

/** Whether a listener of this name ends in our being told that it is there. */
function hears(name: string): boolean {
  heard = false;
  dispatch(new CustomEvent(name));
  return heard;
}

async function comes(to: Other): Promise<void> {
  try { to.there = await chrome.runtime.sendMessage<unknown, unknown>({ type: 'main-world', name: to.name }) === true; } catch { /* as refused */ }
  delete to.coming;
}

function listen(name: string): void {
  const on = (what: string, hear: (e: never) => void) => native(document).addEventListener(`${name} ${what}`, hear as (e: Event) => void);
  on('here', () => { heard = true; });
  on('open', ({ detail }: CustomEvent<string[]>) => {
    const [url = '', target = '_blank', features = ''] = detail;
    if (!moment || moment.spent || /^\s*javascript:/i.test(url) || (target !== '' && !opensTab(target))) return;
    let opened: Window | null;
    // Not an address: the page is to be told so by its own call.
    try { opened = window.open(url, target, features); } catch { return; }
    const silent = /(?:^|[\s,])no(?:opener|referrer)(?:$|[\s,]|=(?:yes|true|[1-9]))/i.test(features);
    if (!opened && !silent) return;
    used(moment, !opened);
    dispatch(new MessageEvent(`${name} done`, { source: opened }));
  });
  const press = (what: string, act: (el: HTMLElement) => void) => on(what, ({ submitter: el }: SubmitEvent) => {
    const target = el && (native(el).getAttribute('target') ?? native(document.querySelector('base[target]'))?.getAttribute('target') ?? '');
    if (!moment || !el || !target || !opensTab(target)) return;
    if (moment.spent) return kept(moment, el instanceof HTMLFormElement ? native(el).getAttribute('action') ?? '' : (el as HTMLAnchorElement).href);
    used(moment, true);
    dispatch(new MessageEvent(`${name} done`));
    act(el);
  });
  press('click', (el) => native(el).click());
  press('submit', (el) => native(el as HTMLFormElement).submit());
  press('requestSubmit', (el) => native(el as HTMLFormElement).requestSubmit());
  on('fetch', () => { if (moment) moment.requests++; });
  on('timer', ({ detail }: CustomEvent<string>) => { if (moment) timerComes(moment, Number(detail)); });
  on('timed', ({ detail }: CustomEvent<string>) => { if (moment) timerCame(moment, Number(detail)); });
  on('kept', ({ detail }: CustomEvent<string>) => { if (moment) kept(moment, detail); });
}

function kept({ unopened }: Moment, url: string): void {
  if (unopened.length < MOST) unopened.push((URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI).href : url).slice(0, 500));
}

/**
 * One of ours begun right before the page's, and one begun right after it, run so too, however late a hidden tab or a busy machine makes all three:
 * what is begun between them is begun by the page's.
 */
function timerComes(of: Moment, delay: number): void {
  of.counts = of.within > 0 && performance.now() + delay <= of.timersUntil;
  if (of.counts) later(() => { of.within++; }, delay);
}

function timerCame(of: Moment, delay: number): void {
  if (!of.counts) return;
  of.counts = false;
  of.timers++;
  later(() => {
    of.within--;
    if (--of.timers === 0) of.ran?.();
  }, delay);
}

function used(moment: Moment, unseen: boolean): void {
  moment.spent = true;
  if (unseen) moment.windows++;
}

/** Lets the page open one window from now on; what another moment left is over. */
export function allow(): Moment {
  moment = { spent: false, windows: 0, unopened: [], requests: 0, timers: 0, within: 0, counts: false, timersUntil: performance.now() + TIMERS_MS };
  if (other) dispatch(new CustomEvent(other.name, { detail: true }));
  return moment;
}

/** The moment is over, unless another one has begun. */
export function disallow(over: Moment): void {
  if (moment !== over) return;
  moment = undefined;
  end();
  layerOver();
}

const end = () => { if (other && !moment) dispatch(new CustomEvent(other.name, { detail: false })); };
onLayerOver(end);

/** As the click's result tells of it. */
export const told = ({ windows, unopened }: Moment): Windows => ({ ...(windows ? { windows } : {}), ...(unopened.length ? { unopened } : {}) });
