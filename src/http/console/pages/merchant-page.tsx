import { toOwner } from '../../../contracts/values.js';
import { toWallet, type WalletResource } from '../../../contracts/wallet.js';
import { findApiKeyListing } from '../../../db/api-keys-listing.js';
import {
  type ApiKeyListing,
  createApiKey,
  findMerchant,
  listApiKeys,
  type MerchantRecord,
  revokeApiKey,
} from '../../../db/merchants.js';
import { walletId } from '../../../db/new-id.js';
import { readWallet } from '../../../db/wallets.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound, PageError } from '../../pages/page-error.js';
import { ActButton } from '../../pages/parts/act-button.js';
import { Amount } from '../../pages/parts/amount.js';
import { SelectField } from '../../pages/parts/field.js';
import { Form } from '../../pages/parts/form.js';
import { Head } from '../../pages/parts/head.js';
import { Fresh, Moment } from '../../pages/parts/moment.js';
import { Notice } from '../../pages/parts/notice.js';
import { redirect, respond } from '../../pages/respond.js';
import { oneOf, type View } from '../../pages/view.js';
import { authorOf } from '../author-of.js';
import type { ConsoleDeps } from '../console-deps.js';

/** A merchant with its keys and what it has in the chosen book. */
export async function merchantPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, await merchantOf(call), null);
}

/** Makes a key, which the answer shows this once. */
export async function createKeyAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, form, session } = call;
  const merchant = await merchantOf(call);
  const book = oneOf(['live', 'test'], form.text('book'));
  const access = oneOf(['full', 'read_only'], form.text('access'));
  if (book === null || access === null) throw new PageError(422);
  const { id, secret } = await createApiKey(deps.db, { merchantId: merchant.id, book, access }, authorOf(call));
  deps.log.info('A key was made.', { user: session.userId, merchant_id: merchant.id, key_id: id, book });
  return show(call, merchant, secret);
}

/** Refuses a key from now on. */
export async function revokeKeyAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, params, session } = call;
  const key = (await findApiKeyListing(deps.db, params['id'] ?? '')) ?? notFound();
  await revokeApiKey(deps.db, key.id, authorOf(call));
  deps.log.info('A key was revoked.', { user: session.userId, merchant_id: key.merchantId, key_id: key.id });
  return redirect(`/operator/merchants/${key.merchantId}`);
}

async function merchantOf({ deps, params }: SignedCall<ConsoleDeps>): Promise<MerchantRecord> {
  return (await findMerchant(deps.db, params['id'] ?? '')) ?? notFound();
}

async function show(call: SignedCall<ConsoleDeps>, merchant: MerchantRecord, made: string | null): Promise<Response> {
  const { deps, view, session } = call;
  const [keys, { balances, asOf }] = await Promise.all([
    listApiKeys(deps.db, merchant.id),
    readWallet(deps.db, { book: view.book, merchantId: merchant.id, customerId: null }),
  ]);
  const owner = toOwner({ merchantId: merchant.id, customerId: null, customerRef: null });
  const wallet = toWallet({ id: walletId(view.book, merchant.id), owner, balances, asOf });
  const csrf = session.roles.includes('admin') ? session.csrf : null;
  return respond(
    call,
    { title: merchant.name },
    <>
      <Head
        view={view}
        title={merchant.name}
        crumb={{ href: '/operator/merchants', name: view.t('nav_merchants') }}
        more={
          <>
            <span class="id">{merchant.id}</span> · <Moment view={view} at={merchant.createdAt} />
          </>
        }
        end={<Fresh view={view} at={asOf} />}
      />
      {made === null ? null : (
        <Notice tone="person" title={view.t('key_made')} alert>
          <p>
            <code class="id">{made}</code>
          </p>
          <p>{view.t('key_made_more')}</p>
        </Notice>
      )}
      <Wallet view={view} wallet={wallet} />
      <section class="section" aria-labelledby="h-keys">
        <div class="section-head">
          <h2 id="h-keys">{view.t('keys')}</h2>
          <a href={`/operator/deposits?${new URLSearchParams({ merchant: merchant.id }).toString()}`}>
            {view.t('nav_deposits')}
          </a>
          <a href={`/operator/issuances?${new URLSearchParams({ merchant: merchant.id }).toString()}`}>
            {view.t('nav_issuances')}
          </a>
          <a href={`/operator/trace/${merchant.id}`}>{view.t('history')}</a>
        </div>
        {csrf === null ? null : <NewKey view={view} merchantId={merchant.id} csrf={csrf} />}
        <Keys view={view} keys={keys} csrf={csrf} />
      </section>
    </>,
  );
}

const COLUMNS = ['available', 'held', 'incoming', 'on_cards', 'receivable'] as const;
const WORDS = {
  available: 'col_available',
  held: 'held',
  incoming: 'incoming',
  on_cards: 'on_cards',
  receivable: 'owed',
} as const;

function Wallet({ view, wallet }: { view: View; wallet: WalletResource }) {
  return (
    <section class="section" aria-labelledby="h-wallet">
      <div class="section-head">
        <h2 id="h-wallet">{view.t('nav_wallet')}</h2>
      </div>
      {wallet.balances.length === 0 ? (
        <p class="muted">{view.t('nothing_moved')}</p>
      ) : (
        <table class="table table--stack">
          <thead>
            <tr>
              <th scope="col">{view.t('col_asset')}</th>
              {COLUMNS.map((name) => (
                <th scope="col" class="num">
                  {view.t(WORDS[name])}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {wallet.balances.map((row) => (
              <tr>
                <th scope="row" class="lead">
                  {row.asset}
                </th>
                {COLUMNS.map((name) => (
                  <td class={name === 'available' ? 'num value' : 'num'}>
                    <Amount view={view} amount={row[name].amount} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function NewKey({ view, merchantId, csrf }: { view: View; merchantId: string; csrf: string }) {
  return (
    <Form action={`/operator/merchants/${merchantId}/keys`} csrf={csrf} class="toolbar">
      <SelectField
        id="book"
        label={view.t('col_book')}
        value="test"
        options={(['live', 'test'] as const).map((value) => ({ value, label: view.t(`book_${value}`) }))}
      />
      <SelectField
        id="access"
        label={view.t('col_access')}
        options={(['full', 'read_only'] as const).map((value) => ({ value, label: view.t(`access_${value}`) }))}
      />
      <button type="submit" class="btn btn--main">
        {view.t('key_make')}
      </button>
    </Form>
  );
}

function Keys({ view, keys, csrf }: { view: View; keys: readonly ApiKeyListing[]; csrf: string | null }) {
  if (keys.length === 0) return <p class="muted">{view.t('no_keys')}</p>;
  return (
    <table class="table table--stack">
      <thead>
        <tr>
          <th scope="col">{view.t('col_id')}</th>
          <th scope="col">{view.t('col_book')}</th>
          <th scope="col">{view.t('col_access')}</th>
          <th scope="col">{view.t('col_created')}</th>
          <th scope="col">{view.t('col_revoked')}</th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr>
            <th scope="row" class="lead">
              <span class="id">{key.id}</span>
            </th>
            <td class="value">{view.t(`book_${key.book}`)}</td>
            <td class="keep">{view.t(`access_${key.access}`)}</td>
            <td>
              <Moment view={view} at={key.createdAt} />
            </td>
            <td class="age">
              {key.revokedAt === null && csrf !== null ? (
                <ActButton csrf={csrf} action={`/operator/keys/${key.id}/revoke`} label={view.t('key_revoke')} danger />
              ) : (
                <Moment view={view} at={key.revokedAt} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
