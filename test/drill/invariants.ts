import { seal } from '../../src/db/seal.js';
import { queriesOf } from '../../src/db/transaction.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { brokenCards } from '../support/card-facts.js';
import { brokenDeposits } from '../support/deposit-facts.js';
import { brokenIssuances } from '../support/issuance-facts.js';
import { brokenMoney, countMoneyRows } from '../support/money-invariants.js';
import type { WorkerWorld } from '../support/worker-world.js';
import type { Flow, Subjects } from './flow.js';

const SEALED_AT_ONCE = 10_000;

/**
 * What must hold after every cell, whatever happened in it; a line for each thing that does not. The books by SQL of
 * the tests' own, the books by the product's own check, one audit row and one event for each move, no card number; and
 * the provider's truth against ours, both ways.
 */
export async function findViolations(world: WorkerWorld, flow: Pick<Flow, 'truth' | 'ours'>): Promise<string[]> {
  // So that there is a chain to look at.
  await seal(queriesOf(world.deps.pool), SEALED_AT_ONCE);
  const { findings } = await verifyLedger(world.owner, 'all', { subjects: true });
  return [
    ...(await brokenMoney(world.owner)),
    ...(await brokenDeposits(world.owner)),
    ...(await brokenIssuances(world.owner)),
    ...(await brokenCards(world.owner)),
    ...findings.map(({ kind, detail }) => `ledger verify: ${kind}: ${detail}`),
    ...differences(await flow.truth(world), await flow.ours(world)),
  ];
}

/** The same work once more: not one row may come of it, and what we have stays as it is. */
export async function findRepeats(
  world: WorkerWorld,
  flow: Pick<Flow, 'ours'>,
  subjects: Pick<Subjects, 'again'>,
): Promise<string[]> {
  const [before, had] = [await countMoneyRows(world.owner), await flow.ours(world)];
  await subjects.again();
  const after = await countMoneyRows(world.owner);
  const have = await flow.ours(world);
  const rows = Object.entries(after).flatMap(([name, count]) => {
    const known = Object.entries(before).find(([other]) => other === name)?.[1] ?? 0;
    return count === known ? [] : [`a second run made ${count - known} ${name}`];
  });
  return [
    ...rows,
    ...beyond(have, had).map((line) => `only after a second run: ${line}`),
    ...beyond(had, have).map((line) => `only before a second run: ${line}`),
  ];
}

/** What the provider says and we have not as often, and what we have and he does not say as often. */
export function differences(truth: readonly string[], ours: readonly string[]): string[] {
  return [
    ...beyond(truth, ours).map((line) => `only the provider says: ${line}`),
    ...beyond(ours, truth).map((line) => `only we say: ${line}`),
  ];
}

function beyond(these: readonly string[], those: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of those) left.set(line, (left.get(line) ?? 0) + 1);
  return these.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}
