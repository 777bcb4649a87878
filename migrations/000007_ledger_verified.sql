-- How far each account's chain of entries was checked: an hourly check goes on from here, a full one starts at 1 and
-- also sees whether an account has lost entries that were once there.
set role sverka_ledger_owner;

create table ledger.verified (
  account_id bigint primary key references ledger.account,
  seq bigint not null check (seq > 0),
  balance numeric(38,0) not null check (balance <> 'NaN'),
  checked_at timestamptz not null default clock_timestamp()
);

-- Moves marks forward, never back: two checks at once leave the further one.
create function ledger.mark_verified(accounts bigint[], seqs bigint[], balances numeric[]) returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  insert into ledger.verified (account_id, seq, balance)
    select x.account_id, x.seq, x.balance from unnest(accounts, seqs, balances) x(account_id, seq, balance)
      order by x.account_id
  on conflict (account_id) do update
    set seq = excluded.seq, balance = excluded.balance, checked_at = clock_timestamp()
    where verified.seq < excluded.seq;
$$;

reset role;
