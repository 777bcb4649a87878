-- A movement is one business fact; its entries are its balanced legs. Only `ledger.post` writes them.
set role sverka_ledger_owner;

create table ledger.movement (
  id bigint generated always as identity primary key,
  key bytea not null unique check (octet_length(key) = 32),    -- the operation key: what makes it once, for ever
  body_hash bytea not null check (octet_length(body_hash) = 32),    -- of kind and lines as instructed
  book text not null check (book in ('live', 'test')),
  merchant_id text not null,
  kind text not null check (kind ~ '^[a-z]+(_[a-z]+)*$'),
  subject_type text not null,
  subject_id text not null,
  generation int not null check (generation >= 0),
  compensates bytea references ledger.movement (key),
  reference text check (length(reference) <= 140),
  trace_id text,
  recorded_at timestamptz not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id()    -- ids do not follow commit order: the sealer numbers by this
);
create index movement_statement on ledger.movement (book, merchant_id, id desc);
create index movement_xid on ledger.movement (xid);

-- The last entry's balance is the account's: nothing keeps it anywhere else.
create table ledger.entry (
  account_id bigint not null references ledger.account,
  seq bigint not null check (seq > 0),
  movement_id bigint not null references ledger.movement,
  amount numeric(38,0) not null check (amount <> 0 and amount <> 'NaN'),
  balance numeric(38,0) not null check (balance <> 'NaN'),
  primary key (account_id, seq)    -- two writers of one balance cannot both have the next number
);
create index entry_movement on ledger.entry (movement_id);

do $$ declare t text; begin
  foreach t in array array['movement', 'entry'] loop
    execute format('create trigger append_only before update or delete or truncate on ledger.%I
      for each statement execute function ledger.refuse_change()', t);
    execute format('alter table ledger.%I enable always trigger append_only', t);
  end loop;
end $$;

-- Every account with what stands on it now; an account that never moved stands at 0 with seq 0.
create view ledger.account_balance as
  select a.id as account_id, a.book, a.merchant_id, a.customer_id, a.kind, a.ref, a.asset, a.decimals, a.floor, a.cap,
         coalesce(h.seq, 0) as seq, coalesce(h.balance, 0) as balance, h.movement_id as last_movement_id
    from ledger.account a
    left join lateral (select e.seq, e.balance, e.movement_id from ledger.entry e
                         where e.account_id = a.id order by e.seq desc limit 1) h on true;

reset role;
