// The operations of waiting.
import type { PageOp } from './context';
import { standingOp } from './wait-for';

export const waitOps: Record<string, PageOp> = { standing: standingOp };
