import type { ProviderConfig } from '../../config.js';
import { maskCustodyWebhook, nameCustodySubject, verifyCustodyWebhook } from '../../providers/custody/webhook.js';

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
  name(rawBody: Buffer): NamedDelivery;
  /** What of the body may be stored. */
  mask(rawBody: Buffer): Buffer;
}

/** One line a provider; the subject types are those that a workflow follows. */
const READERS: Readonly<Record<ProviderConfig['provider'], WebhookReader & { readonly subjects: readonly string[] }>> =
  {
    custody: {
      verify: verifyCustodyWebhook,
      name: nameCustodySubject,
      mask: maskCustodyWebhook,
      subjects: ['deposit'],
    },
  };

/** One route: `/hooks/<provider>/<endpoint>`. It belongs to one book. */
export interface Endpoint {
  readonly provider: ProviderConfig['provider'];
  readonly name: string;
  readonly book: ProviderConfig['book'];
  verify(rawBody: Buffer, headers: Headers): 'ok' | 'bad';
  /** Names the subject; one that nobody follows is parked. */
  read(rawBody: Buffer): NamedDelivery;
  mask(rawBody: Buffer): Buffer;
}

/**
 * The endpoints of this configuration, by path; `/hooks/<provider>` is the one named `default`. `now` is the clock
 * that freshness is judged by, in milliseconds.
 */
export function createEndpoints(
  providers: readonly ProviderConfig[],
  now: () => number = Date.now,
): ReadonlyMap<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const { provider, account, book, webhookSecrets } of providers) {
    const reader = READERS[provider];
    const endpoint: Endpoint = {
      provider,
      name: account,
      book,
      verify: (rawBody, headers) => reader.verify({ rawBody, headers, secrets: webhookSecrets, nowMs: now() }),
      mask: reader.mask,
      read: (rawBody) => {
        const named = reader.name(rawBody);
        const followed = 'parked' in named || reader.subjects.includes(named.subject.type);
        return followed ? named : { parked: 'unknown_subject', deliveryId: named.deliveryId };
      },
    };
    endpoints.set(`/hooks/${provider}/${account}`, endpoint);
    if (account === 'default') endpoints.set(`/hooks/${provider}`, endpoint);
  }
  return endpoints;
}
