import { ConstraintViolation, UniqueViolation } from '../../../db/errors.js';
import { type Identity, type IdentityListing, linkIdentity, unlinkIdentity } from '../../../db/identities.js';
import type { UserListing } from '../../../db/merchants-listing.js';
import type { SignedCall } from '../../pages/call.js';
import { ProviderAway } from '../../pages/identity-provider.js';
import { notFound } from '../../pages/page-error.js';
import { ActButton } from '../../pages/parts/act-button.js';
import { TextField } from '../../pages/parts/field.js';
import { Form } from '../../pages/parts/form.js';
import { Moment } from '../../pages/parts/moment.js';
import type { View } from '../../pages/view.js';
import type { Word } from '../../pages/words.js';
import { authorOf } from '../author-of.js';
import type { ConsoleDeps } from '../console-deps.js';

/** Links the subject of the form to that person; answers why not, or null. */
export async function linkSubject(call: SignedCall<ConsoleDeps>, userId: string): Promise<Word | null> {
  const { deps, form } = call;
  const provider = deps.identityProvider ?? notFound();
  try {
    const identity = { issuer: await provider.issuer(), subject: form.text('subject') };
    await linkIdentity(deps.db, { ...identity, userId }, authorOf(call));
    return null;
  } catch (error) {
    if (error instanceof UniqueViolation) return 'identity_taken';
    if (error instanceof ConstraintViolation) return 'identity_bad';
    if (error instanceof ProviderAway) return 'sign_in_away';
    throw error;
  }
}

/** Unlinks the identity of the form from that person. */
export async function unlinkSubject(call: SignedCall<ConsoleDeps>, userId: string): Promise<void> {
  const { deps, form } = call;
  const identity: Identity = { issuer: form.text('issuer'), subject: form.text('subject') };
  await unlinkIdentity(deps.db, { ...identity, userId }, authorOf(call));
}

/** Who signs in as this person, and the forms of an admin; `problem` is why a subject was not linked. */
export function UserIdentities(of: {
  view: View;
  user: UserListing;
  identities: readonly IdentityListing[];
  /** Of an admin. */
  csrf: string | null;
  problem: Word | null;
  entered: string;
}) {
  const { view, user, identities, csrf, problem, entered } = of;
  const at = `/operator/users/${user.id}/identities`;
  return (
    <section class="section" aria-labelledby="h-identities">
      <div class="section-head">
        <h2 id="h-identities">{view.t('identities')}</h2>
      </div>
      {identities.length === 0 ? (
        <p class="muted">{view.t('identities_none')}</p>
      ) : (
        <Identities view={view} identities={identities} at={at} csrf={csrf} />
      )}
      {csrf === null ? null : (
        <Form action={at} csrf={csrf}>
          <TextField
            id="subject"
            label={view.t('identity_subject')}
            hint={view.t('identity_subject_hint')}
            error={problem === null ? undefined : view.t(problem)}
            value={entered}
            maxlength={255}
            required
          />
          <div class="form-end">
            <button type="submit" class="btn">
              {view.t('identity_link')}
            </button>
          </div>
        </Form>
      )}
    </section>
  );
}

function Identities(of: { view: View; identities: readonly IdentityListing[]; at: string; csrf: string | null }) {
  const { view, identities, at, csrf } = of;
  return (
    <table class="table table--stack">
      <thead>
        <tr>
          <th scope="col">{view.t('identity_subject')}</th>
          <th scope="col">{view.t('identity_issuer')}</th>
          <th scope="col">{view.t('identity_linked')}</th>
          {csrf === null ? null : <th scope="col">{view.t('change')}</th>}
        </tr>
      </thead>
      <tbody>
        {identities.map(({ issuer, subject, linkedAt }) => (
          <tr>
            <th scope="row" class="lead id">
              {subject}
            </th>
            <td class="keep">{issuer}</td>
            <td class="value">
              <Moment view={view} at={linkedAt} />
            </td>
            {csrf === null ? null : (
              <td>
                <ActButton
                  {...{ csrf, action: `${at}/unlink`, danger: true, fields: { issuer, subject } }}
                  label={view.t('identity_unlink')}
                />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
