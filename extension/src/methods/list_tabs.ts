// list_tabs: the open tabs, with who opened them and the session and group they are in.
import type { Handler } from '../call';
import type { ListTabsParams, ListTabsResult } from '../generated/methods';
import { listTabs } from '../tabs/listing';

export const handler: Handler<ListTabsParams, ListTabsResult> = async (_params, call) => ({ tabs: (await listTabs(call)).map(({ shown }) => shown) });
