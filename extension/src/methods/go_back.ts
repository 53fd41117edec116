// go_back: one step back in a tab's history.
import type { Handler } from '../call';
import type { GoBackParams, GoBackResult } from '../generated/methods';
import { step } from '../tabs/history';

export const handler: Handler<GoBackParams, GoBackResult> = (params, call) => step(params, call, 'back');
