// The service worker. Everything that must hear an event is registered here, at the top level, because Chrome starts the worker for
// the event and delivers it only to listeners that exist by then.
import { startBadge } from './connection/badge';
import { startConnection, tell } from './connection/connection';
import { link, onLink } from './connection/link';
import { watchDebugger } from './debugger/attach';
import { watchReached } from './debugger/reached';
import { watchWatchful } from './debugger/watchful';
import { watchOverlay } from './overlay/settings';
import { watchActing } from './person/acting';
import { watchGrouping } from './person/grouping';
import { watchPrompts } from './prompt/ask';
import { servePopup } from './popup/serve';
import { pausedOnlyHere, policyReady, setPolicy } from './policy/policy';
import { methodNames } from './dispatch';
import { onFrame, onLost } from './router';
import { watchRecords } from './record/watch';
import { watchFrames } from './tabs/frames';
import { watchPages } from './tabs/guard';
import { watchOwners } from './tabs/owners';
import { watchSessions } from './tabs/sessions';
import { watchMainWorlds } from './tabs/main-world';
import { watchRefs } from './tabs/refs';

watchOwners();
watchSessions();
watchRecords();
watchPages();
watchFrames();
watchDebugger();
watchReached();
watchWatchful();
watchRefs();
watchMainWorlds();
watchActing();
watchOverlay();
watchPrompts();
watchGrouping();
let acknowledged = link.ack;
onLink(({ ack }) => {
  if (ack === acknowledged) return;
  acknowledged = ack;
  setPolicy(ack?.policy);
  if (ack) void policyReady.then(() => { if (pausedOnlyHere()) tell({ type: 'policy_set', policy: { paused: true } }); });
});
startBadge();
servePopup();
startConnection({ frame: onFrame, lost: onLost, methods: methodNames() });
