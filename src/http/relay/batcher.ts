/** Most items of one batch; larger ones gain nothing. */
const BATCH_MAX = 100;

interface Waiting<Item, Outcome> {
  readonly item: Item;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * Callers that wait while a batch commits form the next one, so that the commit and not the row is the unit of cost.
 * Each is answered after *its* commit. A batch that fails for a reason of one item is tried item by item, so that a
 * bad one never fails the rest; `isOutage` tells failures that concern all.
 */
export function createBatcher<Item, Outcome>(
  write: (batch: readonly Item[]) => Promise<readonly Outcome[]>,
  options: { isOutage: (error: unknown) => boolean; lanes: number },
): (item: Item) => Promise<Outcome> {
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
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
