import { isListedAsset, toAmount } from '../../../contracts/values.js';
import { readEnteredAmount, readEnteredFee, readRoute } from '../../../contracts/withdrawal.js';
import { ConstraintViolation } from '../../../db/errors.js';
import {
  listWithdrawalOffers,
  readWithdrawalPolicy,
  setWithdrawalOffer,
  setWithdrawalPolicy,
  type WithdrawalOffer,
  type WithdrawalPolicy,
} from '../../../db/withdrawal-book.js';
import type { SignedCall } from '../../pages/call.js';
import { Amount } from '../../pages/parts/amount.js';
import { CheckField, TextField } from '../../pages/parts/field.js';
import { Form } from '../../pages/parts/form.js';
import { Head } from '../../pages/parts/head.js';
import { Fresh } from '../../pages/parts/moment.js';
import { Notice } from '../../pages/parts/notice.js';
import { redirect, respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import { authorOf } from '../author-of.js';
import type { ConsoleDeps } from '../console-deps.js';

const AT = '/operator/terms';
const HOUR_MS = 3_600_000;
const HOURS_MAX = 24 * 366;

/** On which terms a merchant may ask for a withdrawal, in the chosen book; an admin sets them. */
export async function termsPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, false);
}

/** Offers an asset on a network from now on, or changes its terms; requests that are there keep theirs. */
export async function setOfferAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view, form, session } = call;
  const offer = readOffer(form.text('network'), form.text('asset'), {
    ...{ fee: form.text('fee'), smallest: form.text('smallest'), two: form.text('two'), routes: form.texts('routes') },
  });
  if (offer === null || !(await wasSet(setWithdrawalOffer(deps.db, { ...offer, book: view.book }, authorOf(call))))) {
    return show(call, true);
  }
  deps.log.info('Terms of withdrawals were set.', { user: session.userId, source: `${offer.network}:${offer.asset}` });
  return redirect(AT);
}

/** How long a new destination waits, and a request that nobody decides on. */
export async function setPolicyAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view, form, session } = call;
  const [cooling, expires] = [readHours(form.text('cooling')), readHours(form.text('expires'))];
  if (cooling === null || expires === null || expires === 0) return show(call, true);
  const policy = { coolingOffMs: cooling * HOUR_MS, expiresAfterMs: expires * HOUR_MS };
  await setWithdrawalPolicy(deps.db, { book: view.book, ...policy }, authorOf(call));
  deps.log.info('Terms of withdrawals were set.', { user: session.userId, source: view.book });
  return redirect(AT);
}

interface EnteredTerms {
  readonly fee: string;
  readonly smallest: string;
  readonly two: string;
  readonly routes: readonly string[];
}

function readOffer(network: string, asset: string, entered: EnteredTerms): WithdrawalOffer | null {
  if (!isListedAsset(asset)) return null;
  const fee = readEnteredFee(entered.fee, asset);
  const [smallest, two] = [readEnteredAmount(entered.smallest, asset), readEnteredAmount(entered.two, asset)];
  const routes = entered.routes.flatMap((route) => readRoute(route) ?? []);
  if (fee === null || smallest === null || two === null || routes.length === 0) return null;
  return { network, asset, fee, smallest, twoApprovalsFrom: two, routes };
}

function readHours(text: string): number | null {
  const hours = /^[0-9]{1,5}$/.test(text) ? Number(text) : null;
  return hours !== null && hours <= HOURS_MAX ? hours : null;
}

/** False where the database holds it to be no such terms. */
async function wasSet(set: Promise<void>): Promise<boolean> {
  try {
    await set;
    return true;
  } catch (error) {
    if (error instanceof ConstraintViolation) return false;
    throw error;
  }
}

async function show(call: SignedCall<ConsoleDeps>, refused: boolean): Promise<Response> {
  const { deps, view, session } = call;
  const [offers, policy] = await Promise.all([
    listWithdrawalOffers(deps.db, view.book),
    readWithdrawalPolicy(deps.db, view.book),
  ]);
  const csrf = session.roles.includes('admin') ? session.csrf : null;
  return respond(
    call,
    { title: view.t('nav_terms'), status: refused ? 422 : 200 },
    <>
      <Head view={view} title={view.t('nav_terms')} end={<Fresh view={view} at={view.now} />} />
      {refused ? (
        <Notice tone="fail" alert>
          {view.t('terms_bad')}
        </Notice>
      ) : null}
      <section class="section" aria-labelledby="h-offers">
        <div class="section-head">
          <h2 id="h-offers">{view.t('terms_offers')}</h2>
          <a href={`/operator/trace/withdrawal_terms:${view.book}`}>{view.t('history')}</a>
        </div>
        <Offers view={view} offers={offers} />
        {csrf === null ? null : <OfferForm call={call} csrf={csrf} />}
      </section>
      <section class="section" aria-labelledby="h-policy">
        <div class="section-head">
          <h2 id="h-policy">{view.t('terms_policy')}</h2>
        </div>
        <Policy view={view} policy={policy} csrf={csrf} />
      </section>
    </>,
  );
}

function Offers({ view, offers }: { view: View; offers: readonly WithdrawalOffer[] }) {
  if (offers.length === 0) return <p class="muted">{view.t('terms_none')}</p>;
  return (
    <table class="table table--stack">
      <thead>
        <tr>
          <th scope="col">{view.t('col_asset')}</th>
          <th scope="col">{view.t('col_network')}</th>
          <th scope="col" class="num">
            {view.t('terms_fee')}
          </th>
          <th scope="col" class="num">
            {view.t('terms_smallest')}
          </th>
          <th scope="col" class="num">
            {view.t('terms_two')}
          </th>
          <th scope="col">{view.t('fact_route')}</th>
        </tr>
      </thead>
      <tbody>
        {offers.map(({ asset, network, fee, smallest, twoApprovalsFrom, routes }) => (
          <tr>
            <th scope="row" class="lead">
              {asset}
            </th>
            <td class="keep">{network}</td>
            {[fee, smallest, twoApprovalsFrom].map((minor) => (
              <td class="num">
                <Amount view={view} amount={toAmount(minor, asset).amount} />
              </td>
            ))}
            <td>{routes.map((route) => view.named('route', route)).join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function OfferForm({ call, csrf }: { call: SignedCall<ConsoleDeps>; csrf: string }) {
  const { view, form } = call;
  const routes = (['custody', 'manual'] as const).map((value) => ({ value, label: view.t(`route_${value}`) }));
  const field = (id: string, label: string) => <TextField id={id} label={label} value={form.text(id)} required />;
  return (
    <details>
      <summary>{view.t('terms_new')}</summary>
      <Form action={`${AT}/offers`} csrf={csrf}>
        {field('network', view.t('col_network'))}
        {field('asset', view.t('col_asset'))}
        {field('fee', view.t('terms_fee'))}
        {field('smallest', view.t('terms_smallest'))}
        {field('two', view.t('terms_two'))}
        <CheckField legend={view.t('fact_route')} name="routes" options={routes} chosen={form.texts('routes')} />
        <div class="form-end">
          <button type="submit" class="btn btn--main">
            {view.t('terms_set')}
          </button>
        </div>
      </Form>
    </details>
  );
}

function Policy({ view, policy, csrf }: { view: View; policy: WithdrawalPolicy; csrf: string | null }) {
  const hours = (ms: number) => String(ms / HOUR_MS);
  if (csrf === null) {
    return (
      <p>
        {view.t('terms_cooling')}: {hours(policy.coolingOffMs)}. {view.t('terms_expires')}:{' '}
        {hours(policy.expiresAfterMs)}.
      </p>
    );
  }
  return (
    <Form action={`${AT}/policy`} csrf={csrf}>
      <TextField id="cooling" label={view.t('terms_cooling')} value={hours(policy.coolingOffMs)} required />
      <TextField id="expires" label={view.t('terms_expires')} value={hours(policy.expiresAfterMs)} required />
      <div class="form-end">
        <button type="submit" class="btn btn--main">
          {view.t('terms_set')}
        </button>
      </div>
    </Form>
  );
}
