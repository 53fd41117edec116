// What a client's target means: one way of looking for elements, checked before anything is searched.
import { PageError } from '../error';

export type By = 'css' | 'text' | 'xpath' | 'role' | 'label' | 'ref';

export interface Target {
  by: By;
  value: string;
  /** Which of the matches, from 0. */
  index: number;
  /** With `role`: the accessible name. */
  name?: string;
}

/** The target in a few words, for errors: `text "Save" (index 2)`. */
export function toWords({ by, value, index, name }: Target): string {
  const shown = JSON.stringify(value.length > 120 ? `${value.slice(0, 120)}…` : value);
  return `${by} ${by === 'role' ? value : shown}${name === undefined ? '' : ` named ${JSON.stringify(name)}`}${index ? ` (index ${index})` : ''}`;
}

/** Rethrows what the browser says about a selector that it cannot read, without the part that names its own functions. */
export function invalid(by: By, value: string, thrown: unknown): PageError {
  const said = thrown instanceof Error ? thrown.message.replace(/^Failed to execute '\w+' on '\w+': /, '') : String(thrown);
  return new PageError('INVALID_PARAMS', `target: ${by === 'css' ? 'this is no valid CSS selector' : 'this is no valid XPath'}: ${JSON.stringify(value.slice(0, 200))} (${said})`);
}
