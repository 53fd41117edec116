// What a click sets off while its listeners run, as the browser announces it: another page, or a download, also one that a script asks for.
import { native } from '../native';
export interface Onward {
  /** A page may be on its way. */
  leads?: true;
  /** So many downloads were asked for. */
  downloads?: number;
}

interface Navigate extends Event { downloadRequest: string | null; hashChange: boolean; destination: { sameDocument: boolean } }

/** Listens until the given function is called, which says what it was. */
export function watchOnward(): () => Onward {
  const seen: Navigate[] = [];
  const hear = (e: Event) => { seen.push(e as Navigate); };
  const { navigation } = window as { navigation?: EventTarget };
  native(navigation)?.addEventListener('navigate', hear);
  return () => {
    native(navigation)?.removeEventListener('navigate', hear);
    // The page may have kept it from happening.
    const begun = seen.filter((e) => !e.defaultPrevented);
    const downloads = begun.filter((e) => typeof e.downloadRequest === 'string').length;
    return {
      ...(begun.some((e) => e.downloadRequest === null && !e.destination.sameDocument) ? { leads: true as const } : {}),
      ...(downloads ? { downloads } : {}),
    };
  };
}
