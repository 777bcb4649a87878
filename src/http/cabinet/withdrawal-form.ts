import { randomUUID } from 'node:crypto';
import { type Amount, toAmount } from '../../contracts/values.js';
import { isOwnWords, readEnteredAmount } from '../../contracts/withdrawal.js';
import type { WithdrawalRefusal, WithdrawalTerms } from '../../db/request-withdrawal.js';
import {
  listWithdrawalDestinations,
  listWithdrawalOffers,
  type WithdrawalDestination,
  type WithdrawalOffer,
} from '../../db/withdrawal-book.js';
import type { SignedCall } from '../pages/call.js';
import type { Word } from '../pages/words.js';
import { type CabinetDeps, scopeOf } from './cabinet-deps.js';

/** A destination with what can be sent to it. */
export interface Target {
  readonly destination: WithdrawalDestination;
  readonly offer: WithdrawalOffer;
  /** `wdd_… USDT-TRC20`: what the form sends. */
  readonly value: string;
  readonly fee: Amount;
  /** Not paid to yet. */
  readonly cooling: boolean;
}

/** What a withdrawal can be asked to: each destination of the book with each asset that is offered on its network. */
export async function readTargets(call: SignedCall<CabinetDeps>): Promise<Target[]> {
  const scope = scopeOf(call);
  const [destinations, offers] = await Promise.all([
    listWithdrawalDestinations(call.deps.db, scope),
    listWithdrawalOffers(call.deps.db, scope.book),
  ]);
  return destinations.flatMap((destination) =>
    offers
      .filter(({ network }) => network === destination.network)
      .map((offer) => ({
        ...{ destination, offer, value: `${destination.id} ${offer.asset}` },
        fee: toAmount(offer.fee, offer.asset),
        cooling: destination.usableFrom > call.view.now,
      })),
  );
}

/** What was entered, and why it is not taken; the form is shown again with both. */
export interface Entered {
  readonly key: string;
  readonly target: string;
  readonly amount: string;
  readonly reference: string;
  readonly refused: Readonly<Partial<Record<'target' | 'amount' | 'reference', Word>>>;
  readonly status: number;
}

export const nothingEntered = (): Entered => ({
  ...{ key: randomUUID(), target: '', amount: '', reference: '', refused: {}, status: 200 },
});

/** Reads the form; `terms` are what was asked for, where all of it can be read. */
export function readWithdrawalForm(
  { form }: SignedCall<CabinetDeps>,
  targets: readonly Target[],
): { readonly entered: Entered; readonly terms: (WithdrawalTerms & { readonly asset: string }) | null } {
  const [key, target, text, reference] = [
    form.text('key'),
    form.text('target'),
    form.text('amount'),
    form.text('reference'),
  ];
  const chosen = targets.find(({ value }) => value === target);
  const read = (amount: string) => (chosen === undefined ? null : readEnteredAmount(amount, chosen.offer.asset));
  const amount = read(text);
  const refused: Entered['refused'] = {
    ...(chosen === undefined ? { target: 'target_choose' as const } : {}),
    ...(chosen?.cooling ? { target: 'refused_destination_cooling_off' as const } : {}),
    ...(chosen !== undefined && amount === null ? { amount: 'amount_bad' as const } : {}),
    ...(isOwnWords(reference) ? {} : { reference: 'reference_bad' as const }),
  };
  const entered = {
    ...{ target, amount: text, reference, refused, status: 422 },
    key: /^[0-9a-f-]{36}$/.test(key) ? key : randomUUID(),
  };
  if (Object.keys(refused).length > 0 || chosen === undefined || amount === null) return { entered, terms: null };
  const { destination, offer } = chosen;
  // A fee of nothing is no amount: what was shown then reads as nothing, too.
  const seenFee = read(form.text(`fee ${target}`)) ?? 0n;
  const terms = {
    amount,
    seenFee,
    destinationId: destination.id,
    reference: reference || null,
    asset: offer.asset,
  };
  return { entered, terms };
}

/** The same form again, saying what stood against the request. */
export function refusedBy(entered: Entered, refusal: WithdrawalRefusal): Entered {
  const field = refusal.startsWith('destination') || refusal === 'not_offered' ? 'target' : 'amount';
  return { ...entered, refused: { [field]: `refused_${refusal}` }, status: refusal === 'fee_changed' ? 409 : 422 };
}
