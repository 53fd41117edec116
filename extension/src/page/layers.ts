// What is put around the same function of the page's own world by several of us (begun.ts, act/windows.ts) comes off from the top only. So what
// has ended beneath another stays, does nothing, and is taken off when the other has ended.
const takers: (() => void)[] = [];

/** To be called when something has ended: `f` takes off what can be of what has ended before. */
export const onLayerOver = (f: () => void): void => { takers.push(f); };

export function layerOver(): void {
  for (const f of takers) f();
}
