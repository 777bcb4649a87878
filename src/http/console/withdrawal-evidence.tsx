import { toAmount } from '../../contracts/values.js';
import type { WithdrawalRecord } from '../../contracts/withdrawal.js';
import type { WithdrawalFacts, WithdrawalTermsRow } from '../../db/withdrawal-facts.js';
import { Amount } from '../pages/parts/amount.js';
import { Moment } from '../pages/parts/moment.js';
import type { View } from '../pages/view.js';

/** What the page of a withdrawal shows beside its row. */
export interface ShownWithdrawal {
  readonly facts: WithdrawalFacts;
  readonly merchant: string;
  readonly logins: ReadonlyMap<string, string>;
}

/** Who asked for what and when, who has approved it, and what was handed in as proof. */
export function Evidence(of: { view: View; record: WithdrawalRecord; shown: ShownWithdrawal }) {
  const { view, record, shown } = of;
  const { facts, logins } = shown;
  const login = (id: string) => logins.get(id) ?? id;
  return (
    <>
      <section class="section" aria-labelledby="h-terms">
        <div class="section-head">
          <h2 id="h-terms">{view.t('asked_for')}</h2>
        </div>
        <table class="table table--stack">
          <thead>
            <tr>
              <th scope="col">{view.t('col_terms')}</th>
              <th scope="col" class="num">
                {view.t('col_amount')}
              </th>
              <th scope="col">{view.t('col_destination')}</th>
              <th scope="col">{view.t('col_requester')}</th>
              <th scope="col" class="num">
                {view.t('col_created')}
              </th>
            </tr>
          </thead>
          <tbody>
            {facts.terms.map((row) => (
              <Terms {...{ view, row, asset: record.asset, login: login(row.requestedBy) }} />
            ))}
          </tbody>
        </table>
      </section>
      <section class="section" aria-labelledby="h-approvals">
        <div class="section-head">
          <h2 id="h-approvals">{view.t('approvals')}</h2>
        </div>
        <p>
          {view.t('approvals_of', { n: facts.approvalsNeeded ?? 1, given: facts.approvedBy.length })}
          {facts.approvedBy.length === 0 ? '' : `: ${facts.approvedBy.map(login).join(', ')}`}
        </p>
      </section>
      {facts.proofs.length === 0 ? null : <Proofs {...{ view, id: record.id, proofs: facts.proofs, login }} />}
    </>
  );
}

function Terms(of: { view: View; row: WithdrawalTermsRow; asset: string; login: string }) {
  const { view, row, asset, login } = of;
  return (
    <tr>
      <th scope="row" class="lead">
        {row.terms}
      </th>
      <td class="num value">
        <Amount view={view} {...toAmount(row.amount, asset)} />
      </td>
      <td class="keep">
        <span class="addr">{row.address}</span> {row.tag} <span class="sub">{row.network}</span>
      </td>
      <td>{login}</td>
      <td class="num age">
        <Moment view={view} at={row.createdAt} />
      </td>
    </tr>
  );
}

function Proofs(of: { view: View; id: string; proofs: WithdrawalFacts['proofs']; login: (id: string) => string }) {
  const { view, id, proofs, login } = of;
  return (
    <section class="section" aria-labelledby="h-proofs">
      <div class="section-head">
        <h2 id="h-proofs">{view.t('proofs')}</h2>
      </div>
      <ul>
        {proofs.map((proof) => (
          <li>
            {proof.transactionHash === null ? null : <span class="addr">{proof.transactionHash}</span>}{' '}
            {proof.fileName === null ? null : (
              <a href={`/operator/withdrawals/${id}/proofs/${proof.id}`}>{proof.fileName}</a>
            )}{' '}
            <span class="sub">
              {login(proof.addedBy)}, <Moment view={view} at={proof.createdAt} />
              {proof.fileHash === null ? '' : ` · SHA-256 ${proof.fileHash.slice(0, 16)}…`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
