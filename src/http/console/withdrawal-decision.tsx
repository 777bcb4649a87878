import { readRoute } from '../../contracts/withdrawal.js';
import { addWithdrawalProof, type NewProof, type WithdrawalFacts } from '../../db/withdrawal-facts.js';
import type { WithdrawalRoute } from '../../domain/withdrawal.js';
import type { Role, SignedCall } from '../pages/call.js';
import { SelectField, TextField } from '../pages/parts/field.js';
import type { Word } from '../pages/words.js';
import type { ConsoleDeps } from './console-deps.js';
import type { DecisionTerms } from './decision-form.js';
import { StepUp, type StepUpState } from './step-up.js';
import type { ArgumentOf } from './take-decision.js';

/** The largest file that is taken as a proof. */
export const PROOF_BYTES_MAX = 5 * 1_024 * 1_024;

/** Who may choose what (as sverka.decision_right has it, which refuses anybody else). */
const ROLES: Readonly<Record<string, readonly Role[]>> = {
  approve: ['approver'],
  reject: ['approver', 'operator'],
  cancel: ['operator'],
  pay: ['operator'],
  complete: ['operator'],
  fail: ['operator'],
};

/** What is peculiar to deciding on a withdrawal: who may, the way to pay, the proof. */
export function withdrawalTerms(
  { session, view, form }: SignedCall<ConsoleDeps>,
  facts: WithdrawalFacts,
  stepUp: StepUpState,
): DecisionTerms {
  const routes = facts.routes.map((value) => ({ value, label: view.t(`route_${value}`) }));
  const isRequester = facts.terms.some(({ requestedBy }) => requestedBy === session.userId);
  return {
    may: (choice) => !isRequester && (ROLES[choice] ?? []).some((role) => session.roles.includes(role)),
    notYou: isRequester ? 'decide_own' : 'decide_withdrawal_roles',
    upload: true,
    confirm: (choices, problem) =>
      choices.includes('approve') ? <StepUp view={view} state={stepUp} problem={problem} /> : null,
    field(choice, error) {
      if (choice === 'approve') {
        return <SelectField id="route" label={view.t('fact_route')} options={routes} value={form.text('route')} />;
      }
      if (choice !== 'complete') return undefined;
      return (
        <>
          <TextField
            {...{ id: 'hash', value: form.text('hash'), error }}
            label={view.t('col_hash')}
            hint={view.t('proof_hash_hint')}
          />
          <div class="field">
            <label for="file">{view.t('proof_file')}</label>
            <input class="input" type="file" id="file" name="file" accept={[...TYPES.keys()].join(',')} />
            <p class="hint">{view.t('proof_file_hint')}</p>
          </div>
        </>
      );
    },
  };
}

/** What a choice names: of `approve` the way to pay, of `complete` the proof, which is kept first. */
export function withdrawalArgument(
  { deps, form, session }: SignedCall<ConsoleDeps>,
  of: { readonly id: string; readonly routes: readonly WithdrawalRoute[] },
): ArgumentOf {
  return async (choice) => {
    if (choice === 'approve') {
      const route = readRoute(form.text('route'));
      return route !== null && of.routes.includes(route) ? route : { refused: 'route_bad' };
    }
    if (choice !== 'complete') return null;
    const proof = await proofOf(form);
    if (typeof proof === 'string') return { refused: proof };
    return addWithdrawalProof(deps.db, { withdrawalId: of.id, userId: session.userId, ...proof });
  };
}

/** Types that are taken, by how their bytes begin: what a browser says of a file is not believed. */
const TYPES: ReadonlyMap<string, readonly number[]> = new Map([
  ['application/pdf', [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
]);
const HASH = /^[0-9A-Za-z]{16,128}$/;
const NAME_MAX = 140;

async function proofOf(form: SignedCall<ConsoleDeps>['form']): Promise<NewProof | Word> {
  const [hash, file] = [form.text('hash'), form.file('file')];
  if (hash === '' && file === null) return 'proof_missing';
  if (hash !== '' && !HASH.test(hash)) return 'proof_hash_bad';
  const transactionHash = hash === '' ? null : hash;
  if (file === null) return { transactionHash, file: null };
  if (file.size > PROOF_BYTES_MAX) return 'proof_file_large';
  // Kept as it is and never opened by us, so that nothing in it can grow or run.
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = [...TYPES].find(([, begins]) => begins.every((byte, at) => bytes[at] === byte))?.[0];
  if (type === undefined) return 'proof_file_type';
  const name = file.name.replaceAll(/[^\p{L}\p{N} ._-]/gu, '_').slice(0, NAME_MAX) || 'proof';
  return { transactionHash, file: { name, type, bytes } };
}
