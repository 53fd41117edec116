// go_forward: one step forward in a tab's history.
import type { Handler } from '../call';
import type { GoForwardParams, GoForwardResult } from '../generated/methods';
import { step } from '../tabs/history';

export const handler: Handler<GoForwardParams, GoForwardResult> = (params, call) => step(params, call, 'forward');
