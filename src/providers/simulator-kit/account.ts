/** One account at a simulated provider: its key sees its own things only, its webhooks go to its own endpoint. */
export interface SimulatedAccount {
  readonly book: string;
  readonly apiKey: string;
  readonly hookUrl: string;
  readonly webhookSecret: string;
}

/** The key of `Authorization: Bearer <key>`, or null for any other header. */
export function bearerOf(header: string | undefined): string | null {
  const [scheme, key] = (header ?? '').split(' ');
  return scheme === 'Bearer' && key ? key : null;
}
