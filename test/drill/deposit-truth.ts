import { createDepositActivities } from '../../src/activities/deposits.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import { decimalsOf } from '../../src/domain/assets.js';
import { parseAmount } from '../../src/domain/money.js';
import { CANARY_CARD } from '../support/deposit-world.js';
import { eventually } from '../support/simulated-custody.js';
import { notificationsOf, storeNotification } from '../support/worker-inbox.js';
import { arrive, depositInput, depositRow, type KnownAddress, makeKnownAddress } from '../support/worker-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { resultOf } from './result-of.js';

/** One deposit of the drill, and whose it is. */
export interface DrilledDeposit {
  readonly to: KnownAddress;
  readonly ref: string;
}

/** Every completed deposit of an address that is ours, by account: it must be credited once, with this amount. */
export async function depositsAtProvider({ custody, owner }: WorkerWorld): Promise<string[]> {
  const { objects } = await custody.truth();
  const { rows } = await owner.query<{ account: string; merchant: string; address: string }>(
    `select provider_account as account, merchant_id as merchant, address from sverka.deposit_address
      where address is not null`,
  );
  const deposits: Record<string, unknown>[] = objects.deposits ?? [];
  return deposits
    .filter(({ status }) => status === 'completed')
    .flatMap(({ id, address, amount, asset }) =>
      rows
        .filter((row) => row.address === address)
        .map(({ account, merchant }) => {
          const minor = parseAmount(String(amount), decimalsOf(String(asset)));
          return `${merchant} got ${minor} ${asset} by ${id} of ${account}`;
        }),
    );
}

/** Every credit of a wallet by a deposit that was not taken back, out of the journal's entries alone. */
export async function depositsInJournal({ owner }: WorkerWorld): Promise<string[]> {
  const { rows } = await owner.query<{ line: string }>(
    `select format('%s got %s %s by %s of %s', a.merchant_id, e.amount, a.asset, coalesce(d.provider_ref, m.subject_id),
                   d.provider_account) as line
       from ledger.movement m join ledger.entry e on e.movement_id = m.id join ledger.account a on a.id = e.account_id
       left join sverka.deposit d on d.id = m.subject_id
      where m.kind = 'deposit_credit' and a.kind = 'wallet'
        and not exists (select from ledger.movement u where u.compensates = m.key)`,
  );
  return rows.map(({ line }) => line);
}

/** Deposits of a merchant each, at the custodian. What a stranger may write holds a card number, to be kept nowhere. */
export async function arriveMany(world: WorkerWorld, count: number, deposit: object = {}): Promise<DrilledDeposit[]> {
  const deposits: DrilledDeposit[] = [];
  for (let n = 0; n < count; n += 1) {
    const to = await makeKnownAddress(world);
    deposits.push({ to, ref: await arrive(world, to, { replaced_by: CANARY_CARD, ...deposit }) });
  }
  return deposits;
}

/** As the relay does: stores the notification, then nudges. */
export async function notifyAll(world: WorkerWorld, deposits: readonly DrilledDeposit[]): Promise<void> {
  for (const { ref } of deposits) await storeNotification(world, ref);
  await nudgeAll(world, deposits);
}

export async function nudgeAll({ temporal }: WorkerWorld, deposits: readonly DrilledDeposit[]): Promise<void> {
  for (const { ref } of deposits) await nudgeDeposit(temporal, depositInput(ref), { start: true });
}

/** Each workflow has ended, and no notification waits. */
export async function untilEnded(world: WorkerWorld, deposits: readonly DrilledDeposit[]): Promise<void> {
  for (const { ref } of deposits) {
    await resultOf(world, depositWorkflowId(depositInput(ref)));
    await eventually(async () => /^(done,?)*$/.test(await notificationsOf(world, ref)));
  }
}

export async function untilState(
  world: WorkerWorld,
  deposits: readonly DrilledDeposit[],
  state: string,
): Promise<void> {
  for (const { ref } of deposits) await eventually(async () => (await depositRow(world, ref))?.state === state);
}

/** Reads each of them again, as the sweep does for a closed workflow. */
export async function readAgain({ deps }: WorkerWorld, deposits: readonly DrilledDeposit[]): Promise<void> {
  const { providerReadDeposit } = createDepositActivities(deps);
  for (const { ref } of deposits) await providerReadDeposit({ ...depositInput(ref), absentMs: 0 });
}
