/** Most items of one batch; larger ones gain nothing. */
const BATCH_MAX = 100;
const WAITING_MAX = 2_000;
const DEADLINE_MS = 8_000;

interface Waiting<Item, Outcome> {
  readonly item: Item;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

export interface BatcherOptions {
  readonly isOutage: (error: unknown) => boolean;
  /** Batches that are written at the same time. */
  readonly lanes: number;
  /** Callers that may wait for a batch, 2 000 unless told. */
  readonly waitingMax?: number;
  /** For how long one waits for its answer, 8 s unless told. */
  readonly deadlineMs?: number;
}

/** Not taken: too many wait already, or it waited for too long. What was in flight may still be written. */
export class BatcherBusy extends Error {
  constructor(reason: 'too_many_wait' | 'waited_too_long') {
    super(`The batch did not take it (${reason}); send it again later.`);
    this.name = 'BatcherBusy';
  }
}

/**
 * Callers that wait while a batch commits form the next one, so that the commit and not the row is the unit of cost.
 * Each is answered after *its* commit. A batch that fails for a reason of one item is tried item by item, so that a
 * bad one never fails the rest; `isOutage` tells failures that concern all. While `waitingMax` wait, the next is
 * refused at once, and each is answered within `deadlineMs`, with `BatcherBusy`.
 */
export function createBatcher<Item, Outcome>(
  write: (batch: readonly Item[]) => Promise<readonly Outcome[]>,
  options: BatcherOptions,
): (item: Item) => Promise<Outcome> {
  const { waitingMax = WAITING_MAX, deadlineMs = DEADLINE_MS } = options;
  const waiting: Waiting<Item, Outcome>[] = [];
  let busy = 0;
  let scheduled = false;

  const schedule = () => {
    if (scheduled || busy >= options.lanes || waiting.length === 0) return;
    scheduled = true;
    // After this turn of the loop: who was just answered may ask again and stand in the next batch.
    setImmediate(() => {
      scheduled = false;
      void drain();
    });
  };
  const drain = async () => {
    const batch = waiting.splice(0, BATCH_MAX);
    busy += 1;
    schedule();
    await commit(batch);
    busy -= 1;
    schedule();
  };
  const commit = async (batch: readonly Waiting<Item, Outcome>[]): Promise<void> => {
    try {
      const outcomes = await write(batch.map((each) => each.item));
      batch.forEach((each, place) => {
        const outcome = outcomes[place];
        if (outcome === undefined) each.reject(new Error('The batch came back with fewer outcomes than items.'));
        else each.resolve(outcome);
      });
    } catch (error) {
      if (batch.length === 1 || options.isOutage(error)) for (const each of batch) each.reject(error);
      else for (const each of batch) await commit([each]);
    }
  };

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= waitingMax) return reject(new BatcherBusy('too_many_wait'));
      const own: Waiting<Item, Outcome> = {
        item,
        resolve: (outcome) => {
          clearTimeout(late);
          resolve(outcome);
        },
        reject: (error) => {
          clearTimeout(late);
          reject(error);
        },
      };
      const late = setTimeout(() => {
        const place = waiting.indexOf(own);
        if (place >= 0) waiting.splice(place, 1);
        reject(new BatcherBusy('waited_too_long'));
      }, deadlineMs);
      waiting.push(own);
      schedule();
    });
}
