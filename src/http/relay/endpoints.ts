import type { ProviderConfig } from '../../config.js';
import { maskCustodyWebhook, nameCustodySubject, verifyCustodyWebhook } from '../../providers/custody/webhook.js';
import { maskIssuerWebhook, nameIssuerSubject, verifyIssuerWebhook } from '../../providers/issuer/webhook.js';
import { maskPertWebhook, namePertSubject, verifyPertWebhook } from '../../providers/pert/webhook.js';

/** What a verified body names; a parked one is stored for a person. */
export type NamedDelivery =
  | {
      readonly deliveryId: string;
      readonly eventType: string;
      readonly subject: { readonly type: string; readonly ref: string };
    }
  | { readonly parked: string; readonly deliveryId: string | null };

/** How a provider's notifications are verified and read. Both are pure and never throw. */
interface WebhookReader {
  verify(input: { rawBody: Buffer; headers: Headers; secrets: readonly string[]; nowMs: number }): 'ok' | 'bad';
  name(rawBody: Buffer, headers: Headers): NamedDelivery;
  /** What of the body may be stored. */
  mask(rawBody: Buffer): Buffer;
  /** Subject types that a workflow follows. */
  readonly subjects: readonly string[];
  /** Bodies that could hold card data or a person's: what the mask leaves is stored encrypted. */
  readonly sealed?: true;
}

/** Where a sealed body belongs: one that was moved elsewhere does not open. */
interface BodyPlace {
  readonly table: 'inbox';
  /** `<provider>/<endpoint>/<delivery id>`, the unique key of the inbox. */
  readonly row: string;
  readonly column: 'body';
}

/** Encrypts a body for exactly that place; throws when there is no key, and the notification is not taken. */
export type SealBody = (body: Buffer, place: BodyPlace) => Buffer;

/** One line a provider. */
const READERS: Readonly<Record<ProviderConfig['provider'], WebhookReader>> = {
  custody: {
    verify: verifyCustodyWebhook,
    name: nameCustodySubject,
    mask: maskCustodyWebhook,
    subjects: ['deposit', 'payout'],
  },
  issuer: {
    verify: verifyIssuerWebhook,
    name: nameIssuerSubject,
    mask: maskIssuerWebhook,
    subjects: ['card'],
    sealed: true,
  },
  pert: {
    verify: verifyPertWebhook,
    name: namePertSubject,
    mask: maskPertWebhook,
    subjects: ['transaction'],
  },
};

/** One route: `/hooks/<provider>/<endpoint>`. It belongs to one book. */
export interface Endpoint {
  readonly provider: ProviderConfig['provider'];
  readonly name: string;
  readonly book: ProviderConfig['book'];
  verify(rawBody: Buffer, headers: Headers): 'ok' | 'bad';
  /** Names the subject; one that nobody follows is parked. */
  read(rawBody: Buffer, headers: Headers): NamedDelivery;
  /** What of the body is stored: masked, and sealed where the provider asks for it. Throws when it cannot be sealed. */
  keep(rawBody: Buffer, deliveryId: string): Buffer;
}

export interface EndpointOptions {
  /** The clock that freshness is judged by, in milliseconds. */
  readonly now?: () => number;
  /** Left out, of a body that must be sealed nothing is kept but its hash. */
  readonly seal?: SealBody;
}

const NOTHING = Buffer.alloc(0);

/** The endpoints of this configuration, by path; `/hooks/<provider>` is the one named `default`. */
export function createEndpoints(
  providers: readonly ProviderConfig[],
  { now = Date.now, seal = () => NOTHING }: EndpointOptions = {},
): ReadonlyMap<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const { provider, account, book, webhookSecrets } of providers) {
    const reader = READERS[provider];
    const endpoint: Endpoint = {
      provider,
      name: account,
      book,
      verify: (rawBody, headers) => reader.verify({ rawBody, headers, secrets: webhookSecrets, nowMs: now() }),
      keep: (rawBody, deliveryId) => {
        const masked = reader.mask(rawBody);
        const row = `${provider}/${account}/${deliveryId}`;
        return reader.sealed ? seal(masked, { table: 'inbox', row, column: 'body' }) : masked;
      },
      read: (rawBody, headers) => {
        const named = reader.name(rawBody, headers);
        const followed = 'parked' in named || reader.subjects.includes(named.subject.type);
        return followed ? named : { parked: 'unknown_subject', deliveryId: named.deliveryId };
      },
    };
    endpoints.set(`/hooks/${provider}/${account}`, endpoint);
    if (account === 'default') endpoints.set(`/hooks/${provider}`, endpoint);
  }
  return endpoints;
}
