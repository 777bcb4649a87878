import * as oidc from 'openid-client';
import type { Config } from '../../config.js';
import type { Identity, SignInAttempt } from '../../db/identities.js';

/** A browser that is sent away, and what it has to come back with. */
export type SentAway = Pick<SignInAttempt, 'nonce' | 'verifier'> & { readonly state: string };

/** The identity provider refused, or what came back from it is not what was asked for. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
}

/** It does not answer, or not in a way that says anything. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway';
}

/** Who signs people in where links do not: OpenID Connect, with code and PKCE. */
export interface IdentityProvider {
  /** As it names itself; also the proof that it answers. Throws `ProviderAway`. */
  issuer(): Promise<string>;
  /** A fresh sign-in that leads back to `redirectUri`, and where to send the browser. Throws `ProviderAway`. */
  begin(redirectUri: string): Promise<{ readonly away: SentAway; readonly url: URL }>;
  /** Who came back to `callback` (with its query). Throws `SignInRefused`, `ProviderAway`. */
  finish(callback: URL, away: SentAway): Promise<Identity>;
}

/** What it says of itself is read again after that time. */
const DISCOVERY_MS = 60_000;
/** Below the 2.5 s in which a health check must answer. */
const DISCOVERY_TIMEOUT_S = 2;
const CALL_TIMEOUT_S = 8;
/** Of the client's errors, those that say nothing of the sign-in. */
const UNANSWERED = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM']);

/** The provider that the configuration names; null where it names none. */
export function createIdentityProvider(config: Config): IdentityProvider | null {
  const { SVERKA_OIDC_ISSUER: issuer, SVERKA_OIDC_CLIENT_ID: clientId } = config;
  if (issuer === undefined || clientId === undefined) return null;
  const discovered = remember(() => discover({ issuer, clientId, secret: config.SVERKA_OIDC_CLIENT_SECRET }));
  return {
    issuer: async () => (await discovered()).serverMetadata().issuer,
    async begin(redirectUri) {
      const client = await discovered();
      const verifier = oidc.randomPKCECodeVerifier();
      const away = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier };
      const url = oidc.buildAuthorizationUrl(client, {
        ...{ redirect_uri: redirectUri, scope: 'openid', state: away.state, nonce: away.nonce },
        ...{ code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      });
      return { away, url };
    },
    async finish(callback, { state, nonce, verifier }) {
      const client = await discovered();
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await oidc.authorizationCodeGrant(client, callback, checks).catch(translate);
      const claims = tokens.claims();
      // One that signs for many issuers would let a stranger's namesake in.
      if (claims?.iss !== client.serverMetadata().issuer) throw new SignInRefused('It is of another issuer.');
      return { issuer: claims.iss, subject: claims.sub };
    },
  };
}

async function discover(of: { issuer: string; clientId: string; secret: string | undefined }) {
  const issuer = new URL(of.issuer);
  const client = await oidc
    .discovery(issuer, of.clientId, {}, of.secret === undefined ? oidc.None() : oidc.ClientSecretBasic(of.secret), {
      // Its signature is checked as well, and not only whose connection brought the token.
      execute: [
        oidc.enableNonRepudiationChecks,
        // The configuration lets a plain connection be of this machine alone.
        ...(issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
      ],
      timeout: DISCOVERY_TIMEOUT_S,
    })
    .catch((cause: unknown) => {
      throw new ProviderAway('The identity provider does not say what it is.', { cause });
    });
  client.timeout = CALL_TIMEOUT_S;
  return client;
}

/** One call for all who ask at a time; a failure is not remembered. */
function remember<T>(call: () => Promise<T>): () => Promise<T> {
  let kept: { promise: Promise<T>; until: number } | null = null;
  return () => {
    if (kept !== null && performance.now() < kept.until) return kept.promise;
    const mine = { promise: call(), until: performance.now() + DISCOVERY_MS };
    kept = mine;
    mine.promise.catch(() => {
      if (kept === mine) kept = null;
    });
    return mine.promise;
  };
}

function translate(cause: unknown): never {
  const said = cause instanceof oidc.ClientError && !UNANSWERED.has(cause.code ?? '');
  const refused = cause instanceof oidc.ResponseBodyError || cause instanceof oidc.AuthorizationResponseError;
  if (said || refused) throw new SignInRefused('The sign-in was refused.', { cause });
  throw new ProviderAway('The identity provider does not answer.', { cause });
}
