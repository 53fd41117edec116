// The bundle with the operations that read a page; goes into a page that has page.js already.
import type { PageApi } from './index';
import { readOps } from './read-ops';

(globalThis as { __bridged?: PageApi }).__bridged?.add(readOps);
