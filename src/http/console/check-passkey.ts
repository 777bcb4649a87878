import { randomBytes } from 'node:crypto';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { z } from 'zod';
import {
  addPasskey,
  beginPasskey,
  listPasskeys,
  type Passkey,
  takePasskeyChallenge,
  usePasskey,
} from '../../db/passkeys.js';
import type { SignedCall } from '../pages/call.js';
import { sessionCookie } from '../pages/cookies.js';
import { authorOf } from './author-of.js';
import type { ConsoleDeps } from './console-deps.js';

type Call = SignedCall<ConsoleDeps>;

/** As the browser sends it: the package checks the rest, but reads what is not there. */
const base64url = z.string().regex(/^[A-Za-z0-9_-]*$/);
const answerSchema = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.looseObject({ clientDataJSON: base64url, transports: z.array(z.string().max(32)).max(8).optional() }),
  clientExtensionResults: z.looseObject({}),
});
const clientDataSchema = z.object({ challenge: base64url.length(43) });

/** What the browser hands to a passkey to approve what was seen, under a challenge of this session. */
export async function askToApprove(call: Call, seenHash: Buffer) {
  const passkeys = await listPasskeys(call.deps.db, call.session.userId);
  const challenge = await begin(call, seenHash);
  return generateAuthenticationOptions({
    ...{ rpID: siteOf(call), challenge, userVerification: 'required', allowCredentials: passkeys.map(nameOf) },
  });
}

/** What the browser hands to a new passkey. */
export async function askToRegister(call: Call) {
  const { session } = call;
  const known = await listPasskeys(call.deps.db, session.userId);
  const challenge = await begin(call, null);
  return generateRegistrationOptions({
    ...{
      rpName: 'Sverka',
      rpID: siteOf(call),
      userName: session.login,
      userID: new TextEncoder().encode(session.userId),
    },
    ...{ challenge, attestationType: 'none', excludeCredentials: known.map(nameOf) },
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'required' },
  });
}

/**
 * True when the answer was made by a passkey of this person, who was verified by it, to a challenge that was asked of
 * this session for what was seen; the challenge is used up by any answer to it.
 */
export async function checkPasskey(call: Call, text: string, seenHash: Buffer): Promise<boolean> {
  const answer = await answerTo(call, text, seenHash);
  if (answer === null) return false;
  const { deps, session } = call;
  const passkey = (await listPasskeys(deps.db, session.userId)).find(({ id }) => id === answer.response.id);
  if (passkey === undefined) return false;
  const checked = await verifyAuthenticationResponse({
    ...expected(call, answer.challenge),
    response: answer.response as unknown as AuthenticationResponseJSON,
    credential: { ...nameOf(passkey), publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
  }).catch((error: unknown) => refused(call, error));
  if (!checked?.verified) return false;
  const { newCounter } = checked.authenticationInfo;
  return usePasskey(deps.db, { token: tokenOf(call), id: passkey.id, counter: newCounter });
}

/** Adds the passkey that answered to the person; false where its answer is not right. */
export async function register(call: Call, text: string): Promise<boolean> {
  const answer = await answerTo(call, text, null);
  if (answer === null) return false;
  const checked = await verifyRegistrationResponse({
    ...expected(call, answer.challenge),
    response: answer.response as unknown as RegistrationResponseJSON,
  }).catch((error: unknown) => refused(call, error));
  if (!checked?.verified) return false;
  const { id, publicKey, counter, transports = [] } = checked.registrationInfo.credential;
  const { deps, session } = call;
  await addPasskey(
    deps.db,
    { userId: session.userId, id, publicKey: Buffer.from(publicKey), counter, transports },
    authorOf(call),
  );
  return true;
}

/** What was answered and to which challenge, which is used up; null where it was not asked. */
async function answerTo(call: Call, text: string, seenHash: Buffer | null) {
  const response = answerSchema.safeParse(parse(text)).data;
  if (response === undefined) return null;
  const said = clientDataSchema.safeParse(parse(Buffer.from(response.response.clientDataJSON, 'base64url').toString()));
  if (!said.success) return null;
  const challenge = Buffer.from(said.data.challenge, 'base64url');
  const taken = await takePasskeyChallenge(call.deps.db, { token: tokenOf(call), challenge, seenHash });
  return taken ? { response, challenge: said.data.challenge } : null;
}

async function begin(call: Call, seenHash: Buffer | null): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = randomBytes(32);
  await beginPasskey(call.deps.db, { token: tokenOf(call), challenge, seenHash });
  return new Uint8Array(challenge);
}

function expected(call: Call, challenge: string) {
  return {
    ...{ expectedChallenge: challenge, expectedOrigin: call.deps.origin, expectedRPID: siteOf(call) },
    requireUserVerification: true,
  };
}

function refused({ deps }: Call, error: unknown): null {
  deps.log.warn('The answer of a passkey was refused.', { error });
  return null;
}

function nameOf({ id, transports }: Passkey) {
  return { id, transports: [...transports] };
}

function siteOf({ deps }: Call): string {
  return new URL(deps.origin).hostname;
}

function tokenOf({ cookie }: Call): string {
  return cookie(sessionCookie('console')) ?? '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What is no JSON is refused as what it is not.
    return null;
  }
}
