// The operations that find and change elements.
import type { PageOp } from './context';

export const actOps: Record<string, PageOp> = {};
