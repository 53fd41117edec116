// The tabs that agents hold, as the badge and the groups show it: whoever is cut off or paused holds nothing.
import { link, onLink } from '../connection/link';
import { onPolicy, policy } from '../policy/policy';
import { heldByAgents, onActing, type Acting } from './acting';

/** Each tab with the agent that was last there. */
export const heldNow = (): Map<number, Acting> => (link.state === 'up' && !policy.paused ? heldByAgents() : new Map<number, Acting>());

/** The watcher is called more often than something changes. */
export function onHeld(watcher: () => void): void {
  onLink(watcher);
  onPolicy(watcher);
  onActing(watcher);
}
