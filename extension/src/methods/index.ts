// The table of methods. One file a method in this folder, named as in the catalogue and exporting `handler`; scripts/generate.mjs
// collects them, so that a method that has no catalogue entry, or the other way round, is found by `npm run lint`.
export { handlers } from '../generated/handlers';
export type * from '../generated/methods';
