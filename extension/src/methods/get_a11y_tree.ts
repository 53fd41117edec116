// get_a11y_tree: what a page offers, as a flat list of nodes; those one can act on carry a target.
import type { Handler } from '../call';
import type { GetA11yTreeParams, GetA11yTreeResult } from '../generated/methods';
import type { Tree, TreeArgs } from '../page/a11y/tree';
import { callPage } from '../tabs/page';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<GetA11yTreeParams, GetA11yTreeResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  const args: TreeArgs = { include_hidden: params.include_hidden, max_nodes: params.max_nodes, pierce: params.pierce };
  return { tab_id: id, ...(await callPage<Tree>(call, id, 'a11yTree', args, { ready: 'parsed', follow: true })) };
};
