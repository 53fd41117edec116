// What the prompt's page and the worker say to each other, over a port of this name.

export const PORT = 'prompt';
/** Until then the buttons do nothing: a click or key that was meant for something else must not answer. */
export const ARMED_MS = 500;

export interface Asked { name: string; place: string; title: string }
export interface Answered { yes: boolean }
