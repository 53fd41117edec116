// The element that the overlay hangs on, known to all of our code in a page (there are two bundles of it) and to no script of the page.
// Everything that looks for elements leaves it out.

import { native } from '../page/native';

interface Shared { __bridgedOverlay?: { host?: Element | undefined; hide?(ms: number): Promise<void>; show?(): void } }
const shared = globalThis as Shared;

export const overlay = (): NonNullable<Shared['__bridgedOverlay']> => (shared.__bridgedOverlay ??= {});

export const isOverlay = (node: Node): boolean => node === shared.__bridgedOverlay?.host;

/** Whether a change of the document is more than our element coming or going. */
export function isPagesOwn({ type, addedNodes, removedNodes }: MutationRecord): boolean {
  const nodes = [...addedNodes, ...removedNodes];
  return type !== 'childList' || !nodes.length || !nodes.every((n) => isOverlay(n) || native(n as Element).localName === HOST);
}

export const HOST = 'bridged-overlay';
