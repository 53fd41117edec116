// snapshot: what a tab shows and offers, over all its frames; each node with a ref that the element methods take.
import type { Handler } from '../call';
import type { SnapshotParams, SnapshotResult } from '../generated/methods';
import { resolveTab } from '../tabs/resolve';
import { compare, takeSnapshot, type Mode } from '../tabs/snapshot';

export const handler: Handler<SnapshotParams, SnapshotResult> = async ({ mode = 'compact', max_nodes = 300, include_hidden = false, diff = false, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const how: Mode = { mode, max_nodes, include_hidden };
  const snapshot = await takeSnapshot(call, id, how);
  const { url, title, total } = snapshot;
  const changes = compare(call.owner, id, how, snapshot);
  const truncated = total > snapshot.nodes.length ? { truncated: true, total } : {};
  if (diff && changes) return { tab_id: id, url, title, diff: true, ...changes, ...truncated };
  return { tab_id: id, url, title, ...(diff ? { diff: false } : {}), nodes: snapshot.nodes, ...truncated };
};
