// Shows a tab to the person.

/** Makes the tab the one shown in its window, and brings the window to the front. */
export async function show(tabId: number, windowId: number): Promise<void> {
  await chrome.tabs.update(tabId, { active: true });
  await chrome.windows.update(windowId, { focused: true });
}
