// The operations that read the page.
import type { PageOp } from './context';

export const readOps: Record<string, PageOp> = {};
