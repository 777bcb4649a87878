import { CARD_MOVES } from '../../src/domain/card.js';
import { CARDHOLDER_MOVES } from '../../src/domain/cardholder.js';
import { DEPOSIT_MOVES } from '../../src/domain/deposit.js';
import { DEPOSIT_ADDRESS_MOVES } from '../../src/domain/deposit-address.js';
import { ISSUANCE_MOVES } from '../../src/domain/issuance.js';
import { LOAD_MOVES } from '../../src/domain/load.js';
import type { StateMove } from '../../src/domain/states.js';
import { WITHDRAWAL_MOVES } from '../../src/domain/withdrawal.js';

/** Every subject with a state; a later capability adds its line. */
export const SUBJECTS: readonly {
  readonly type: string;
  readonly title: string;
  readonly moves: readonly StateMove<string>[];
}[] = [
  { type: 'deposit_address', title: 'Deposit address', moves: DEPOSIT_ADDRESS_MOVES },
  { type: 'deposit', title: 'Deposit', moves: DEPOSIT_MOVES },
  { type: 'cardholder', title: 'Cardholder', moves: CARDHOLDER_MOVES },
  { type: 'card', title: 'Card', moves: CARD_MOVES },
  { type: 'issuance', title: 'Issuance', moves: ISSUANCE_MOVES },
  { type: 'load', title: 'Load', moves: LOAD_MOVES },
  { type: 'withdrawal', title: 'Withdrawal', moves: WITHDRAWAL_MOVES },
];

/** `docs/reference/states.md`: the diagrams are made from the tables that the code and the database go by. */
export function renderStates(): string {
  const diagrams = SUBJECTS.map(({ title, moves }) => `## ${title}\n\n${diagramOf(moves)}\n`);
  return `# States

Made from \`src/domain/*.ts\` by \`node --import tsx scripts/write-state-diagrams.mjs\`; a test compares the two, and
another compares the tables with the database's own (\`sverka.state_move\`). Every move leaves an audit row; a move
marked *person* is made only by a person's decision.

${diagrams.join('\n')}`;
}

function diagramOf(moves: readonly StateMove<string>[]): string {
  const origins = new Set(moves.map((move) => move.from));
  const ends = [...new Set(moves.map((move) => move.to))].filter((state) => !origins.has(state));
  const lines = [
    ...moves.map((move) => `    ${move.from ?? '[*]'} --> ${move.to}${move.byDecision ? ': person' : ''}`),
    ...ends.map((state) => `    ${state} --> [*]`),
  ];
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n');
}
