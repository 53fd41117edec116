// A tab's place in its window's row, told by its neighbours: numbers of places are others' as soon as a tab comes or goes.

/** So many neighbours are remembered; of tabs further away one can hardly say that this one stood beside them. */
const NEIGHBOURS = 20;

/** The tabs to the left of one, the nearest first. */
export async function leftOf({ id, windowId, index }: chrome.tabs.Tab): Promise<number[]> {
  const tabs = (await chrome.tabs.query({ windowId })).filter((t) => t.id !== undefined && t.id !== id && t.index < index);
  return tabs.sort((a, b) => b.index - a.index).slice(0, NEIGHBOURS).map((t) => t.id!);
}

/** Moves a tab to the right of the nearest neighbour that is still there, and of all its group; stays where none is. */
export async function putBack(tabId: number, windowId: number, left: number[]): Promise<void> {
  const all = (await chrome.tabs.query({ windowId })).sort((a, b) => a.index - b.index);
  const at = all.findIndex((t) => t.id === tabId);
  const others = all.filter((t) => t.id !== tabId);
  const pinned = others.filter((t) => t.pinned).length;
  const beside = left.map((id) => others.findIndex((t) => t.id === id)).find((i) => i >= 0);
  // The first tab of a window goes back to the first place that an unpinned one can have.
  if (at < 0 || (beside === undefined && left.length)) return;
  let to = beside === undefined ? 0 : beside + 1;
  const group = others[to - 1]?.groupId ?? chrome.tabGroups.TAB_GROUP_ID_NONE;
  while (group !== chrome.tabGroups.TAB_GROUP_ID_NONE && others[to]?.groupId === group) to++;
  to = Math.max(to, pinned);
  if (to !== at) await chrome.tabs.move(tabId, { index: to });
}
