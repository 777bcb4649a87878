import { createHmac } from 'node:crypto';
import type { WebhookTarget } from './webhooks.js';

/**
 * Signs as custody and issuer do: `<header>: t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over `<t>.<body>`, made anew for
 * each attempt. A forged one has the right form and the wrong secret.
 */
export function timedSigner(header: string, secret: string): WebhookTarget['sign'] {
  return (body, { forged }) => {
    const seconds = Math.floor(Date.now() / 1_000);
    const hmac = createHmac('sha256', forged ? `not ${secret}` : secret);
    const digest = hmac.update(`${seconds}.`).update(body).digest('hex');
    return { [header]: `t=${seconds},v1=${digest}` };
  };
}

/** Signs over the body alone: `<header>: <prefix><hex>`, with headers that stay unsigned beside it. */
export function bodySigner(options: {
  readonly header: string;
  readonly prefix: string;
  readonly secret: string;
  readonly beside?: Readonly<Record<string, string>>;
}): WebhookTarget['sign'] {
  const { header, prefix, secret, beside = {} } = options;
  return (body, { forged }) => {
    const hmac = createHmac('sha256', forged ? `not ${secret}` : secret);
    return { ...beside, [header]: prefix + hmac.update(body).digest('hex') };
  };
}
