import { isDecimalString } from '../../domain/money.js';
import type { SimulatedAccount } from '../simulator-kit/account.js';
import { inventId } from '../simulator-kit/invent-id.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { badRequest, objectsOf, SimulatorRefusal } from '../simulator-kit/requests.js';
import { type CardRecord, wrongState } from './simulator-card.js';

type Members = Readonly<Record<string, unknown>>;

interface Load {
  readonly id: string;
  readonly book: string;
  readonly card_id: string;
  readonly reference: string;
  readonly amount: string;
}

export interface LoadBook {
  /** True when it is new; refuses a known reference that names another load, and a card that takes none. */
  add(account: SimulatedAccount, card: CardRecord, body: Members): boolean;
  /** What was loaded on a card after its first load. */
  onCard(cardId: string): readonly Load[];
  objects(): Load[];
  /** Takes back what `objects` gave before a restart. */
  restore(loads: unknown): void;
  clear(): void;
}

/** Loads of all accounts: one per account and reference, for ever. */
export function createLoadBook(kit: SimulatorKit): LoadBook {
  const loads = new Map<string, Load>();
  const keep = (load: Load) => {
    loads.set(keyOf(load.book, load.reference), load);
    kit.effect({ kind: 'load', reference: load.reference, id: load.id });
  };
  return {
    add({ book }, card, { reference, amount }) {
      if (typeof reference !== 'string' || reference === '') throw badRequest('reference must be text');
      if (!isDecimalString(amount) || /^[0.]+$/.test(amount)) {
        throw badRequest('amount must be a decimal string above zero');
      }
      const known = loads.get(keyOf(book, reference));
      // Before the state: the same load again is no new one, whatever became of the card since.
      if (known?.card_id === card.id && known.amount === amount) return false;
      if (known) throw new SimulatorRefusal(409, 'reference_conflict', 'the reference names another load');
      if (card.status !== 'active') throw wrongState(card.status);
      keep({ id: inventId('ild'), book, card_id: card.id, reference, amount });
      return true;
    },
    onCard: (cardId) => [...loads.values()].filter((load) => load.card_id === cardId),
    objects: () => [...loads.values()],
    restore(list) {
      for (const { id, book, card_id: card, reference, amount } of objectsOf(list)) {
        const of = { book: String(book), card_id: String(card), reference: String(reference) };
        keep({ id: String(id), amount: String(amount), ...of });
      }
    },
    clear: () => loads.clear(),
  };
}

function keyOf(book: string, reference: string): string {
  return JSON.stringify([book, reference]);
}
