import type { Child } from 'hono/jsx';
import { listPasskeys } from '../../db/passkeys.js';
import { assetPath } from '../pages/assets.js';
import type { SignedCall } from '../pages/call.js';
import type { View } from '../pages/view.js';
import { checkPasskey } from './check-passkey.js';
import type { ConsoleDeps } from './console-deps.js';
import type { DecisionProblem } from './take-decision.js';

/** The field of the form that brings what a passkey signed. */
const FIELD = 'step_up';
const HOME = '/operator';

/**
 * Null where approving what was seen may go on: the setting is off, or a passkey of this person has just signed for it.
 * An answer of another session, for another hash, used before or older than five minutes is refused.
 */
export async function requireStepUp(call: SignedCall<ConsoleDeps>, seenHash: Buffer): Promise<DecisionProblem | null> {
  const { deps, form, session } = call;
  if (!deps.approvalPasskey) return null;
  const answer = form.text(FIELD);
  if (answer === '') return { status: 422, fields: { passkey: 'step_up_needed' } };
  if (await checkPasskey(call, answer, seenHash)) {
    deps.log.info('A passkey was used.', { user: session.userId });
    return null;
  }
  return { status: 422, fields: { passkey: 'step_up_refused' } };
}

/** `off` where the setting is, `none` where this person has no passkey yet. */
export type StepUpState = 'off' | 'none' | 'ready';

export async function readStepUp({ deps, session }: SignedCall<ConsoleDeps>): Promise<StepUpState> {
  if (!deps.approvalPasskey) return 'off';
  return (await listPasskeys(deps.db, session.userId)).length === 0 ? 'none' : 'ready';
}

/** The part of a form that asks for a passkey when its `choice` is `approve`; the form's `seen` is the hash. */
export function StepUp(of: { view: View; state: StepUpState; problem: DecisionProblem | null }) {
  const { view, state, problem } = of;
  if (state === 'off') return null;
  const error = problem?.fields.passkey;
  if (state === 'none') {
    return (
      <div class="field" id="passkey">
        <p class={error === undefined ? 'hint' : 'err'}>
          {view.t('step_up_none')} <a href={`${HOME}/passkeys`}>{view.t('nav_passkeys')}</a>
        </p>
      </div>
    );
  }
  return (
    <PasskeyPart kind="approve" options={`${HOME}/passkeys/challenge`} name={FIELD} failed={view.t('step_up_failed')}>
      <p class="hint">{view.t('step_up_hint')}</p>
      {error === undefined ? null : <p class="err">{view.t(error)}</p>}
      <noscript>
        <p class="err">{view.t('step_up_noscript')}</p>
      </noscript>
    </PasskeyPart>
  );
}

/** What the script works on: where it asks what a passkey shall sign, and the field that takes the answer. */
export function PasskeyPart(of: {
  kind: 'approve' | 'register';
  options: string;
  name: string;
  failed: string;
  children?: Child;
}) {
  const { kind, options, name, failed, children } = of;
  return (
    <div
      class="field"
      id="passkey"
      data-passkey={kind}
      data-options={options}
      data-when={kind === 'approve' ? 'approve' : undefined}
    >
      <input type="hidden" name={name} value="" />
      {children}
      <p class="err" role="alert" data-failed="" hidden>
        {failed}
      </p>
      <script src={assetPath(HOME, 'simplewebauthn.js')} defer />
      <script src={assetPath(HOME, 'passkey.js')} defer />
    </div>
  );
}
