import { isOwnWords } from '../../../contracts/withdrawal.js';
import {
  addWithdrawalDestination,
  listWithdrawalDestinations,
  listWithdrawalOffers,
  removeWithdrawalDestination,
  type WithdrawalDestination,
} from '../../../db/withdrawal-book.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { ActButton } from '../../pages/parts/act-button.js';
import { SelectField, TextField } from '../../pages/parts/field.js';
import { Form } from '../../pages/parts/form.js';
import { Head } from '../../pages/parts/head.js';
import { Moment } from '../../pages/parts/moment.js';
import { redirect, respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { Word } from '../../pages/words.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';

type Refused = Readonly<Partial<Record<'label' | 'address' | 'tag', Word>>>;

/** The merchant's book of destinations; a new one is not paid to at once. */
export function destinationsPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  return show(call, {});
}

/** Adds one; whoever took over a session cannot pay to it before the merchant has had time to see it. */
export async function addDestinationAct(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { form, deps, session } = call;
  const [label, network, address, tag] = [
    form.text('label'),
    form.text('network'),
    form.text('address'),
    form.text('tag'),
  ];
  const networks = await networksOf(call);
  const refused: Refused = {
    ...(label === '' || !isOwnWords(label) ? { label: 'label_bad' } : {}),
    ...(/^[!-~]{1,128}$/.test(address) && networks.includes(network) ? {} : { address: 'address_bad' }),
    ...(/^[!-~]{0,64}$/.test(tag) ? {} : { tag: 'tag_bad' }),
  };
  if (Object.keys(refused).length > 0) return show(call, refused);
  const of = { ...scopeOf(call), userId: session.userId, label, network, address, tag: tag || null };
  await addWithdrawalDestination(deps.db, of);
  return redirect('/cabinet/destinations');
}

export async function removeDestinationAct(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, session, params } = call;
  const of = { ...scopeOf(call), userId: session.userId, id: params['id'] ?? '' };
  if (!(await removeWithdrawalDestination(deps.db, of))) notFound();
  return redirect('/cabinet/destinations');
}

async function networksOf(call: SignedCall<CabinetDeps>): Promise<string[]> {
  const offers = await listWithdrawalOffers(call.deps.db, scopeOf(call).book);
  return [...new Set(offers.map(({ network }) => network))];
}

async function show(call: SignedCall<CabinetDeps>, refused: Refused): Promise<Response> {
  const { view, deps, session } = call;
  const [destinations, networks] = await Promise.all([
    listWithdrawalDestinations(deps.db, scopeOf(call)),
    networksOf(call),
  ]);
  return respond(
    call,
    { title: view.t('nav_destinations'), status: Object.keys(refused).length > 0 ? 422 : 200 },
    <>
      <Head
        view={view}
        title={view.t('nav_destinations')}
        crumb={{ href: '/cabinet/withdrawals', name: view.t('nav_withdrawals') }}
      />
      <Destinations {...{ view, destinations }} csrf={session.csrf} />
      <AddForm {...{ call, refused, networks }} />
    </>,
  );
}

function Destinations(of: { view: View; destinations: readonly WithdrawalDestination[]; csrf: string }) {
  const { view, destinations, csrf } = of;
  if (destinations.length === 0) return <p class="muted">{view.t('no_destinations')}</p>;
  return (
    <table class="table table--stack">
      <thead>
        <tr>
          <th scope="col">{view.t('col_label')}</th>
          <th scope="col">{view.t('col_network')}</th>
          <th scope="col">{view.t('col_address')}</th>
          <th scope="col" class="num">
            {view.t('col_usable_from')}
          </th>
          <th scope="col">{view.t('withdrawal_change')}</th>
        </tr>
      </thead>
      <tbody>
        {destinations.map((row) => (
          <tr>
            <th scope="row" class="lead">
              {row.label}
            </th>
            <td class="keep">{row.network}</td>
            <td class="keep">
              <span class="addr">{row.address}</span> {row.tag}
            </td>
            <td class="num age">
              <Moment view={view} at={row.usableFrom} />
            </td>
            <td>
              <ActButton
                csrf={csrf}
                action={`/cabinet/destinations/${row.id}/remove`}
                label={view.t('destination_remove')}
                danger
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function AddForm(of: { call: SignedCall<CabinetDeps>; refused: Refused; networks: readonly string[] }) {
  const { call, refused, networks } = of;
  const { view, form, session } = call;
  const field = (id: 'label' | 'address' | 'tag') => {
    const word = refused[id];
    return { id, value: form.text(id), error: word === undefined ? undefined : view.t(word) };
  };
  return (
    <section class="section" aria-labelledby="h-add">
      <div class="section-head">
        <h2 id="h-add">{view.t('destination_add')}</h2>
      </div>
      <p class="muted">{view.t('destination_add_more')}</p>
      <Form action="/cabinet/destinations" csrf={session.csrf}>
        <TextField {...field('label')} label={view.t('col_label')} maxlength={140} required />
        <SelectField
          id="network"
          label={view.t('col_network')}
          options={networks.map((value) => ({ value, label: value }))}
          value={form.text('network')}
        />
        <TextField {...field('address')} label={view.t('col_address')} maxlength={128} required />
        <TextField {...field('tag')} label={view.t('col_tag')} hint={view.t('tag_hint')} maxlength={64} />
        <div class="form-end">
          <button type="submit" class="btn btn--main">
            {view.t('destination_add')}
          </button>
        </div>
      </Form>
    </section>
  );
}
