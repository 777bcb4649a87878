import { parse, stringify } from 'lossless-json';
import type { SimulatedAccount } from '../simulator-kit/account.js';
import { inventId } from '../simulator-kit/invent-id.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { membersOf } from '../simulator-kit/requests.js';
import { bodySigner } from '../simulator-kit/signing.js';
import { idOfTransaction, type Ledger } from './simulator-ledger.js';
import { textOfEntry } from './simulator-texts.js';

/** An entry of an account's journal that is to be told. */
export interface ToldEntry {
  readonly account: SimulatedAccount;
  readonly ledger: Ledger;
  readonly position: number;
  readonly type: 'transaction.created' | 'transaction.updated';
}

/** Sends the webhook of an entry: its event id in a header that is not signed, its numbers as they are. */
export function sendEntryWebhook(kit: SimulatorKit, { account, ledger, position, type }: ToldEntry): void {
  const eventId = inventId('pwh');
  const entry = ledger.journal.at(position);
  const addresses = [entry.from, entry.to].filter((number) => number !== 0);
  const text = `{"event":"${type}","transaction":${textOfEntry(ledger, position)}}`;
  kit.webhooks.send({
    eventId,
    type,
    references: [
      idOfTransaction(ledger, entry.transaction),
      ...addresses.map((number) => ledger.accounts.byNumber(number).address),
    ],
    body: (changed) => (Object.keys(changed).length === 0 ? text : changedText(text, changed)),
    target: {
      url: account.hookUrl,
      sign: bodySigner({
        header: 'x-webhook-signature',
        prefix: 'sha256=',
        secret: account.webhookSecret,
        beside: { 'x-webhook-event-id': eventId },
      }),
    },
  });
}

function changedText(text: string, changed: Readonly<Record<string, unknown>>): string {
  return stringify({ ...membersOf(parse(text), 'a notification'), ...changed }) ?? text;
}
