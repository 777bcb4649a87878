import { randomBytes } from 'node:crypto';
import { badRequest } from '../simulator-kit/requests.js';
import type { AddressRecord } from './simulator-addresses.js';
import { CHAINS, guessChain, inventTransactionHash, isChain, settle } from './simulator-chain.js';

const SETTABLE = [
  'address',
  'tag',
  'network',
  'asset',
  'tx_hash',
  'output_index',
  'amount',
  'confirmations',
  'required_confirmations',
  'status',
  'settlement',
  'replaced_by',
] as const;

/** Unknown values on purpose: whoever drives the simulator may state anything, also what no honest custodian would. */
export type DepositRecord = { readonly id: string; readonly updated_at: unknown } & Readonly<
  Record<(typeof SETTABLE)[number], unknown>
>;
type Members = Readonly<Record<string, unknown>>;

/** A deposit as told, with what is not told chosen: completed, confirmed, settled where the address settles. */
export function newDeposit(body: Members, address: AddressRecord | undefined): DepositRecord {
  refuseOthers(body, ['book']);
  if (typeof body.address !== 'string' || body.address === '') throw badRequest('a deposit needs an address');
  if (body.amount === undefined) throw badRequest('a deposit needs an amount, a decimal string');
  const network = body.network ?? address?.network ?? guessChain(body.address);
  const chain = isChain(network) ? CHAINS[network] : undefined;
  const asset = body.asset ?? address?.asset ?? chain?.assets[0];
  if (network === undefined || asset === undefined) {
    throw badRequest('nobody made this address here: name network and asset too');
  }
  const required = body.required_confirmations ?? chain?.requiredConfirmations ?? 1;
  const status = body.status ?? statusOf(body.confirmations, required);
  const settled = status === 'completed' && address?.settle_in ? settle(body.amount, address.settle_in) : null;
  return {
    id: `cdp_${randomBytes(12).toString('hex')}`,
    address: body.address,
    tag: body.tag ?? null,
    network,
    asset,
    tx_hash: given(body.tx_hash, inventTransactionHash(network)),
    output_index: given(body.output_index, 0),
    amount: body.amount,
    confirmations: body.confirmations ?? confirmationsOf(status, required),
    required_confirmations: required,
    status,
    settlement: given(body.settlement, settled),
    replaced_by: body.replaced_by ?? null,
    updated_at: new Date().toISOString(),
  };
}

/** The deposit with some members changed; what becomes completed is confirmed and settled, unless told otherwise. */
export function changedDeposit(
  record: DepositRecord,
  { body, settleIn }: { body: Members; settleIn: string | null },
): DepositRecord {
  refuseOthers(body, ['updated_at']);
  const next: DepositRecord = { ...record, updated_at: new Date().toISOString(), ...body };
  if (body.status !== 'completed') return next;
  const settled = settleIn === null ? null : settle(next.amount, settleIn);
  return {
    ...next,
    confirmations: given(body.confirmations, next.required_confirmations),
    settlement: given(body.settlement, record.settlement ?? settled),
  };
}

/** A deposit out of a state file. */
export function restoredDeposit(members: Members): DepositRecord {
  const { address, tag, network, asset, tx_hash, output_index, amount, confirmations } = members;
  const { required_confirmations, status, settlement, replaced_by, updated_at } = members;
  const transfer = { address, tag, network, asset, tx_hash, output_index, amount };
  const progress = { confirmations, required_confirmations, status, settlement, replaced_by, updated_at };
  return { id: String(members.id), ...transfer, ...progress };
}

/** True when nothing but the time of the change differs. */
export function isSameDeposit(one: DepositRecord, other: DepositRecord): boolean {
  return SETTABLE.every((member) => JSON.stringify(one[member]) === JSON.stringify(other[member]));
}

// Null is given; only absence takes what we would have chosen.
function given(value: unknown, otherwise: unknown): unknown {
  return value === undefined ? otherwise : value;
}

function statusOf(confirmations: unknown, required: unknown): string {
  if (typeof confirmations !== 'number' || typeof required !== 'number') return 'completed';
  if (confirmations >= required) return 'completed';
  return confirmations > 0 ? 'confirming' : 'seen';
}

function confirmationsOf(status: unknown, required: unknown): unknown {
  if (status === 'completed') return required;
  return status === 'confirming' ? 1 : 0;
}

function refuseOthers(body: Members, also: readonly string[]): void {
  const known: readonly string[] = [...SETTABLE, ...also];
  const other = Object.keys(body).find((member) => !known.includes(member));
  if (other) throw badRequest(`a deposit has no ${other}; known are ${known.join(', ')}`);
}
