import { type IssuanceWorld, openIssuanceWorld } from './issuance-world.js';
import { balanceOf } from './journal-fixtures.js';
import { eventually } from './simulated-custody.js';
import type { GatewayAnswer } from './worker-gateway.js';

/** A card that is issued, and its name at the issuer. */
export interface IssuedCard {
  readonly id: string;
  readonly ref: string;
}

/** What is done with cards that are there, on top of an issuance's world. */
export interface CardWorld extends IssuanceWorld {
  /** Issues an instant card with 25.00 USD on it. */
  issued(key: string): Promise<IssuedCard>;
  /** `POST /v1/cards/{id}/loads`: 10.00 USD, unless said otherwise. */
  load(card: IssuedCard, key: string, options?: { amount?: string; prefer?: string }): Promise<GatewayAnswer>;
  /** `POST /v1/cards/{id}/<change>`. */
  change(
    card: IssuedCard,
    change: 'freeze' | 'unfreeze' | 'close',
    options: { key: string; prefer?: string },
  ): Promise<GatewayAnswer>;
  /** The next call of that kind on that card meets this fault; `times` as often. */
  fault(card: IssuedCard, call: 'loads' | 'freeze' | 'unfreeze' | 'close', fault: object): Promise<void>;
  /** Takes back the faults that are left. */
  calm(): Promise<void>;
  /** Kinds of the movements about one subject, in order. */
  movementsOf(subjectId: string): Promise<string[]>;
  /** Types of the events about one subject, in order. */
  eventsOf(subjectId: string): Promise<string[]>;
  /** Kinds of alerts that are open about one subject. */
  alertsOf(subjectId: string): Promise<string[]>;
  /** What the journal has on a card, in cents. */
  onCard(cardId: string): Promise<bigint>;
  /** As the issuer's truth has it now. */
  statusAt(card: IssuedCard): Promise<string>;
  /** Of each change of the card: what it is and how it ended, in order. */
  changesOf(cardId: string): Promise<string[]>;
  /** Waits until the issuer has heard of all of them. */
  settled(cardId: string): Promise<unknown>;
  /** How often the issuer has really loaded under that reference. */
  loadsMade(loadId: string): Promise<number>;
}

export async function openCardWorld(
  options: { settings?: Readonly<Record<string, string>>; cents?: bigint } = {},
): Promise<CardWorld> {
  const base = await openIssuanceWorld({
    ...options,
    settings: { SVERKA_UNKNOWN_LOOKUP_INTERVAL: '100ms', ...options.settings },
  });
  const { world, gateway, merchant, issuer } = base;
  // What is done with a card must meet it: the lag in which a new one is not shown belongs to its making.
  await issuer.drive('POST', '/_sim/times', { lag_ms: 0 });
  const faults: string[] = [];
  const column = async (sql: string, id: string) =>
    (await world.tx.query<{ value: string }>(sql, [id])).map(({ value }) => value);
  const changesOf = (cardId: string) =>
    column(
      `select kind || ' ' || coalesce(outcome, 'open') as value from sverka.card_change where card_id = $1
       order by number`,
      cardId,
    );
  return {
    ...base,
    changesOf,
    settled: (cardId) => eventually(async () => (await changesOf(cardId)).every((change) => !change.endsWith('open'))),
    async issued(key) {
      const { body } = await base.issue(`issue-${key}`);
      await eventually(async () => (await base.card(body.id)).state === 'active').catch(async (error: unknown) => {
        throw new Error(`The card was not issued: ${JSON.stringify(await base.card(body.id))}`, { cause: error });
      });
      const [ref] = await column('select provider_ref as value from sverka.card where id = $1', body.id);
      return { id: body.id, ref: ref ?? '' };
    },
    load: (card, key, { amount = '10.00', prefer = 'wait=10' } = {}) =>
      gateway.post(merchant, `/v1/cards/${card.id}/loads`, {
        key,
        body: { amount: { amount, asset: 'USD' } },
        prefer,
      }),
    change: (card, change, how) =>
      gateway.post(merchant, `/v1/cards/${card.id}/${change}`, { prefer: 'wait=10', ...how }),
    async fault(card, call, fault) {
      const match = { method: 'POST', path: `/v1/cards/${card.ref}/${call}` };
      faults.push((await issuer.drive('POST', '/_sim/faults', { match, ...fault })).id);
    },
    async calm() {
      for (const id of faults.splice(0)) await issuer.drive('DELETE', `/_sim/faults/${id}`).catch(() => undefined);
    },
    movementsOf: (id) => column('select kind as value from ledger.movement where subject_id = $1 order by id', id),
    eventsOf: (id) =>
      column('select type as value from sverka.event where subject_id = $1 order by version, created_at', id),
    alertsOf: (id) =>
      column(`select kind as value from sverka.alert where subject_id = $1 and state = 'open' order by opened_at`, id),
    async onCard(cardId) {
      const [account] = await column(
        `select id::text as value from ledger.account where kind = 'card' and ref = $1`,
        cardId,
      );
      return account === undefined ? 0n : balanceOf(world.owner, BigInt(account));
    },
    async statusAt(card) {
      const { objects } = (await issuer.truth()) as unknown as {
        objects: { cards: { id: string; status: string }[] };
      };
      return objects.cards.find(({ id }) => id === card.ref)?.status ?? 'absent';
    },
    async loadsMade(loadId) {
      const { effects } = await issuer.truth();
      return effects.filter(({ kind, reference }) => kind === 'load' && reference === loadId).length;
    },
  };
}
