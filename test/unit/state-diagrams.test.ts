import { readFileSync } from 'node:fs';
import { renderStates } from '../support/state-diagrams.js';

test('the diagrams in the docs are those of the state tables', () => {
  expect(readFileSync('docs/reference/states.md', 'utf8')).toBe(renderStates());
});
