import type pg from 'pg';
import { readBalances } from '../../src/db/accounts.js';
import { Retryable } from '../../src/db/errors.js';
import { hashOperationKey, type PostResult } from '../../src/db/journal.js';
import { queriesOf } from '../../src/db/transaction.js';
import type { MovementInstruction } from '../../src/domain/journal.js';
import { postNow } from './journal-fixtures.js';
import { chanceOf, openWorld, randomMovement, type World } from './journal-histories.js';
import { JournalModel } from './journal-model.js';

export interface Comparison {
  /** The first thing in which journal and model differ; null when there is none. */
  readonly difference: string | null;
  /** Outcomes and reasons that the history met: one that met too little proves nothing. */
  readonly met: ReadonlySet<string>;
}

/** One caller: every outcome, split and balance has to be the model's. */
export async function compareHistory(pool: pg.Pool, options: { seed: number; movements: number }): Promise<Comparison> {
  const world = await openWorld(pool);
  const chance = chanceOf(options.seed);
  const model = new JournalModel(world.accounts);
  const earlier: MovementInstruction[] = [];
  const met = new Set<string>();
  for (let done = 0; done < options.movements; ) {
    const batch = Array.from({ length: 1 + chance(12) }, () => randomMovement(world, chance, earlier));
    done += batch.length;
    const expected = batch.map((movement) => model.post(movement));
    const results = await postNow(pool, ...batch);
    for (const [i, result] of results.entries()) {
      met.add(result.outcome).add(result.detail ?? '');
      const { outcome, detail, moved } = result;
      const difference = differ({ outcome, detail, moved }, expected[i]);
      if (difference) return { met, difference: `${show(batch[i]?.lines)}: ${difference}` };
    }
  }
  return { met, difference: await differInBalances(pool, world, model) };
}

/**
 * Many callers at once, then the posted movements in the order of their ids through the model, one after the other:
 * ids are drawn under the locks, so equal splits and balances show that the callers were as good as one.
 */
export async function compareCallers(
  pool: pg.Pool,
  options: { seed: number; callers: number; batches: number },
): Promise<Comparison> {
  const world = await openWorld(pool);
  const earlier: MovementInstruction[] = [];
  const met = new Set<string>();
  const posted = new Map<string, { movement: MovementInstruction; result: PostResult }>();
  const call = async (caller: number) => {
    const chance = chanceOf(options.seed * 1_000 + caller);
    for (let i = 0; i < options.batches; i += 1) {
      const batch = Array.from({ length: 1 + chance(4) }, () => randomMovement(world, chance, earlier));
      const results = await postAgain(pool, batch, met);
      for (const [at, result] of results.entries()) {
        const movement = batch[at] as MovementInstruction;
        met.add(result.outcome);
        if (result.outcome === 'posted')
          posted.set(hashOperationKey(movement.key).toString('hex'), { movement, result });
      }
    }
  };
  await Promise.all(Array.from({ length: options.callers }, (_, caller) => call(caller)));

  const model = new JournalModel(world.accounts);
  const { rows } = await pool.query<{ key: Buffer }>('select key from ledger.movement order by id');
  if (rows.length !== posted.size) return { met, difference: `${rows.length} rows of ${posted.size} posted` };
  for (const { key } of rows) {
    const one = posted.get(key.toString('hex'));
    if (!one) return { met, difference: 'a movement that nobody was told of' };
    const { outcome, detail, moved } = model.post(one.movement);
    const difference = differ({ outcome: 'posted', detail: null, moved: one.result.moved }, { outcome, detail, moved });
    if (difference) return { met, difference: `${show(one.movement.lines)}: ${difference}` };
  }
  return { met, difference: await differInBalances(pool, world, model) };
}

async function postAgain(pool: pg.Pool, batch: MovementInstruction[], met: Set<string>): Promise<PostResult[]> {
  for (;;) {
    try {
      return await postNow(pool, ...batch);
    } catch (error) {
      if (!(error instanceof Retryable)) throw error;
      met.add(error.sqlstate ?? '');
    }
  }
}

async function differInBalances(pool: pg.Pool, world: World, model: JournalModel): Promise<string | null> {
  const ids = world.accounts.map((account) => account.id);
  const shown = await readBalances(queriesOf(pool), ids);
  const wrong = ids.find((id) => shown.get(id)?.balance !== model.balance(id));
  return wrong === undefined ? null : `account ${wrong}: ${shown.get(wrong)?.balance} is not ${model.balance(wrong)}`;
}

function differ(journal: object, model: object | undefined): string | null {
  const [ours, theirs] = [show(journal), show(model)];
  return ours === theirs ? null : `journal ${ours}, model ${theirs}`;
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item)) ?? 'nothing';
}
