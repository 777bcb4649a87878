import { toAmount } from '../contracts/values.js';
import type { Book } from '../domain/books.js';
import { type BalanceSourceRecord, listBalanceSources } from './balance-sources.js';
import { type BreakerRow, listBreakers } from './breaker.js';
import type { Tx } from './transaction.js';
import { WITHDRAWAL_WAITS_FOR_PERSON } from './withdrawals.js';

/** Everything of one kind that is open: how many, since when, and what it is worth by asset. */
export interface OpenItems {
  readonly what: string;
  readonly count: number;
  readonly oldest: Date;
  readonly sums: readonly { readonly amount: string; readonly asset: string }[];
}

/** What the home page of the console answers. */
export interface Home {
  /** Nothing happens without a person. */
  readonly decisions: readonly OpenItems[];
  /** Open alerts by kind; those of no book belong to both. */
  readonly alerts: readonly OpenItems[];
  /** Goes on by itself, and may take too long. */
  readonly ageing: readonly OpenItems[];
  readonly providers: readonly ProviderHealth[];
  readonly checks: readonly CheckRun[];
  /** Accounts whose balances are mirrored. */
  readonly mirrors: readonly BalanceSourceRecord[];
}

/** One of our accounts at a provider. */
export interface ProviderHealth {
  readonly provider: string;
  readonly book: Book;
  readonly breaker: BreakerRow['state'];
  readonly openUntil: Date | null;
  /** When it last answered something that counted; null when it never did. */
  readonly lastAnswerAt: Date | null;
}

export interface CheckRun {
  readonly name: string;
  readonly finishedAt: Date | null;
  readonly findings: number | null;
}

/** What is open in that book now. Each part is an index of what is open: nothing counts over a whole table. */
export async function readHome(db: Tx, book: Book): Promise<Home> {
  const [decisions, alerts, ageing, providers, checks, mirrors] = await Promise.all([
    db.query<OpenRow>(DECISIONS, [book]),
    db.query<OpenRow>(ALERTS, [book]),
    db.query<OpenRow>(AGEING, [book]),
    readProviders(db, book),
    db.query<CheckRun>(
      'select name, finished_at as "finishedAt", findings from sverka.check_run order by finished_at desc nulls last, name',
    ),
    listBalanceSources(db, book),
  ]);
  const items = { decisions: toItems(decisions), alerts: toItems(alerts), ageing: toItems(ageing) };
  return { ...items, providers, checks, mirrors };
}

interface OpenRow {
  readonly what: string;
  readonly asset: string | null;
  /** Minor units of a listed asset, or the provider's own decimal text. */
  readonly sum: string | null;
  readonly minor: boolean;
  readonly count: number;
  readonly oldest: Date;
}

const DEPOSITS = 'reported_asset as asset, trim_scale(sum(reported_amount))::text as sum, false as minor';
const ISSUANCES = 'asset, sum(load_amount + fee_amount)::text as sum, true as minor';
const WITHDRAWALS = 'asset, sum(amount)::text as sum, true as minor';
const COUNTED = 'count(*)::int as count, min(created_at) as oldest';

const DECISIONS = `
  select 'issuance' as what, ${ISSUANCES}, ${COUNTED} from sverka.issuance
    where book = $1 and (state = 'unknown' or flag is not null or needs_operator) group by asset
  union all
  select 'deposit', ${DEPOSITS}, ${COUNTED} from sverka.deposit
    where book = $1 and (state = 'parked' or flag is not null) group by reported_asset
  union all
  select 'withdrawal', ${WITHDRAWALS}, ${COUNTED} from sverka.withdrawal w
    where book = $1 and state in ('requested', 'approved', 'submitted', 'unknown', 'found_late')
      and ${WITHDRAWAL_WAITS_FOR_PERSON} group by asset
  union all
  select 'dead_letter', null, null, false, ${COUNTED} from sverka.dead_letter
    where book = $1 and closed_at is null having count(*) > 0`;

const ALERTS = `
  select kind as what, null as asset, null as sum, false as minor, count(*)::int as count, min(opened_at) as oldest
    from sverka.alert where state = 'open' and (book = $1 or book is null) group by kind`;

const AGEING = `
  select 'deposit' as what, ${DEPOSITS}, ${COUNTED} from sverka.deposit
    where book = $1 and state in ('noticed', 'confirming') group by reported_asset
  union all
  select 'issuance', ${ISSUANCES}, ${COUNTED} from sverka.issuance
    where book = $1 and state in ('reserved', 'submitted', 'pending', 'unknown') group by asset
  union all
  select 'withdrawal', ${WITHDRAWALS}, ${COUNTED} from sverka.withdrawal
    where book = $1 and state in ('requested', 'approved', 'submitted', 'unknown') group by asset
  union all
  select 'load', asset, sum(amount)::text, true, ${COUNTED} from sverka.card_load
    where book = $1 and state in ('reserved', 'submitted', 'unknown') group by asset
  union all
  select 'deposit_address', null, null, false, ${COUNTED} from sverka.deposit_address
    where book = $1 and state in ('preparing', 'unknown') having count(*) > 0`;

function toItems(rows: readonly OpenRow[]): OpenItems[] {
  return [...new Set(rows.map(({ what }) => what))].map((what) => {
    const of = rows.filter((row) => row.what === what);
    return {
      what,
      count: of.reduce((sum, { count }) => sum + count, 0),
      oldest: new Date(Math.min(...of.map(({ oldest }) => oldest.getTime()))),
      sums: of.flatMap(({ asset, sum, minor }) => {
        if (asset === null || sum === null) return [];
        return [minor ? toAmount(BigInt(sum), asset) : { amount: sum, asset }];
      }),
    };
  });
}

/** Breakers that ever moved, and feeds that were ever paged: what neither knows was never asked. */
async function readProviders(db: Tx, book: Book): Promise<ProviderHealth[]> {
  const [breakers, sources] = await Promise.all([
    listBreakers(db),
    db.query<{ provider: string; lastPageAt: Date | null }>(
      `select provider, max(last_page_at) as "lastPageAt" from sverka.source where book = $1 group by provider`,
      [book],
    ),
  ]);
  const ours = breakers.filter(({ name }) => name.endsWith(`:${book}`));
  const names = new Set([...ours.map(({ name }) => name.split(':')[0] ?? name), ...sources.map((s) => s.provider)]);
  return [...names].toSorted().map((provider) => {
    const breaker = ours.find(({ name }) => name === `${provider}:${book}`);
    return {
      provider,
      book,
      breaker: breaker?.state ?? 'closed',
      openUntil: breaker?.openUntil ?? null,
      lastAnswerAt: sources.find((source) => source.provider === provider)?.lastPageAt ?? null,
    };
  });
}
