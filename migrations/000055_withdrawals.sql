-- Withdrawals: what can be withdrawn and on which terms, to which destinations, what was asked for, and its proof.
set role sverka_owner;

-- What a merchant can withdraw; without a row it is not offered.
create table sverka.withdrawal_offer (
  book text not null check (book in ('live', 'test')),
  network text not null check (network ~ '^[a-z][a-z0-9_]{0,31}$'),
  asset text not null,
  -- The network fee as quoted, in minor units of the asset: held with the amount, shown before the request.
  fee_amount numeric(38, 0) not null check (fee_amount >= 0 and fee_amount <> 'NaN'),
  smallest_amount numeric(38, 0) not null default 1 check (smallest_amount > 0 and smallest_amount <> 'NaN'),
  -- From this amount on, two people approve.
  two_approvals_from numeric(38, 0) not null check (two_approvals_from > 0 and two_approvals_from <> 'NaN'),
  -- Who can pay it out: the custodian, a person by hand.
  routes text[] not null check (routes <@ array['custody', 'manual'] and cardinality(routes) between 1 and 2),
  set_by text not null,
  set_at timestamptz not null default clock_timestamp(),
  primary key (book, network, asset)
);

create table sverka.withdrawal_policy (
  book text primary key check (book in ('live', 'test')),
  -- A new destination is not paid to before that.
  cooling_off interval not null default '24 hours' check (cooling_off >= '0'),
  -- A request that nobody has decided on by then is cancelled.
  expires_after interval not null default '3 days' check (expires_after > '0'),
  set_by text not null,
  set_at timestamptz not null default clock_timestamp()
);
insert into sverka.withdrawal_policy (book, set_by) values ('live', 'migration'), ('test', 'migration');

-- A merchant's own book of destinations; one never changes: another address is another row, with its own cooling-off.
create table sverka.withdrawal_destination (
  id text primary key check (id ~ '^wdd_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  label text not null check (length(btrim(label)) between 1 and 140),
  network text not null,
  address text not null check (address ~ '^[!-~]{1,128}$'),
  tag text check (tag ~ '^[!-~]{1,64}$'),
  added_by text not null references sverka."user",
  usable_from timestamptz not null,
  removed_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create unique index withdrawal_destination_once on sverka.withdrawal_destination
  (book, merchant_id, network, address, coalesce(tag, '')) where removed_at is null;

create table sverka.withdrawal (
  -- Also our reference at the custodian.
  id text primary key check (id ~ '^wd_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  -- Of the form that asked for it: a form sent twice asks once.
  request_key text not null check (length(request_key) between 16 and 64),
  asset text not null,
  amount numeric(38, 0) not null check (amount > 0 and amount <> 'NaN'),
  fee_amount numeric(38, 0) not null check (fee_amount >= 0 and fee_amount <> 'NaN'),
  network text not null,
  destination_id text not null references sverka.withdrawal_destination,
  -- As they were when it was asked for.
  address text not null,
  tag text,
  reference text check (length(reference) between 1 and 140),
  -- Counts what the merchant asked for: an edit is the next.
  terms integer not null default 1 check (terms >= 1),
  requested_by text not null references sverka."user",
  expires_at timestamptz not null,
  -- What the first approver chose; the others approve the same.
  route text check (route in ('custody', 'manual')),
  -- How many had to approve it, once enough have.
  approvals_needed integer check (approvals_needed between 1 and 2),
  -- The custodian's payout, and what he says of it (R19).
  payout_ref text,
  payout_status text,
  payout_fee_asset text,
  payout_fee_amount numeric(38, 0) check (payout_fee_amount >= 0 and payout_fee_amount <> 'NaN'),
  transaction_hash text,
  proof_id text,
  -- A proof or payout that is not what was approved: never paid or given back after that, a person looks.
  flag text check (flag in ('proof_mismatch', 'payout_mismatch')),
  needs_operator boolean not null default false,
  -- When the sweep last made sure that somebody follows it.
  swept_at timestamptz,
  applied_ticket bigint not null default 0,
  -- The run that committed the intent, or `user:…` of who pays by hand.
  submitted_by text,
  submitted_at timestamptz,
  settled_at timestamptz,
  movement_ids text[] not null check (cardinality(movement_ids) >= 1),
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (book, merchant_id, request_key)
);
create index withdrawal_merchant on sverka.withdrawal (book, merchant_id, created_at desc, id desc);
create index withdrawal_waiting on sverka.withdrawal (created_at, id)
  where state in ('requested', 'approved', 'submitted', 'unknown', 'found_late');
create index withdrawal_created on sverka.withdrawal (created_at desc, id desc);
create index withdrawal_hash on sverka.withdrawal (transaction_hash) where transaction_hash is not null;
create index withdrawal_payout on sverka.withdrawal (payout_ref) where payout_ref is not null;

-- What was asked for each time, and by whom: who asked, even once, approves none of it.
create table sverka.withdrawal_terms (
  withdrawal_id text not null references sverka.withdrawal,
  terms integer not null,
  amount numeric(38, 0) not null,
  fee_amount numeric(38, 0) not null,
  network text not null,
  address text not null,
  tag text,
  requested_by text not null references sverka."user",
  created_at timestamptz not null default clock_timestamp(),
  primary key (withdrawal_id, terms)
);
create trigger append_only before update or delete or truncate on sverka.withdrawal_terms
  for each statement execute function sverka.refuse_change();
alter table sverka.withdrawal_terms enable always trigger append_only;

-- What shows that it was paid: a transaction, a file, or both.
create table sverka.withdrawal_proof (
  id text primary key check (id ~ '^wdp_[0-9a-z]{26}$'),
  withdrawal_id text not null references sverka.withdrawal,
  transaction_hash text check (transaction_hash ~ '^[0-9A-Za-z]{16,128}$'),
  file_name text check (length(file_name) between 1 and 140),
  file_type text check (file_type in ('application/pdf', 'image/png', 'image/jpeg')),
  file bytea check (octet_length(file) between 1 and 5242880),
  file_hash bytea check (octet_length(file_hash) = 32),
  added_by text not null references sverka."user",
  created_at timestamptz not null default clock_timestamp(),
  check (num_nulls(file_name, file_type, file, file_hash) in (0, 4)),
  check (transaction_hash is not null or file is not null),
  check (file is null or file_hash = sha256(file))
);
create index withdrawal_proof_of on sverka.withdrawal_proof (withdrawal_id, created_at);
create trigger append_only before update or delete or truncate on sverka.withdrawal_proof
  for each statement execute function sverka.refuse_change();
alter table sverka.withdrawal_proof enable always trigger append_only;

insert into sverka.state_move (subject_type, from_state, to_state, by_decision) values
  ('withdrawal', null, 'requested', false),
  ('withdrawal', 'requested', 'approved', true),
  ('withdrawal', 'requested', 'rejected', true),
  ('withdrawal', 'requested', 'cancelled', false),
  ('withdrawal', 'approved', 'submitted', false),
  ('withdrawal', 'approved', 'cancelled', true),
  ('withdrawal', 'submitted', 'completed', false),
  ('withdrawal', 'submitted', 'failed', false),
  ('withdrawal', 'submitted', 'unknown', false),
  ('withdrawal', 'unknown', 'completed', false),
  ('withdrawal', 'unknown', 'failed', false),
  ('withdrawal', 'failed', 'found_late', false);

insert into sverka.decision_move (subject_type, choice, from_state, to_state) values
  ('withdrawal', 'approve', 'requested', 'approved'),
  ('withdrawal', 'reject', 'requested', 'rejected'),
  ('withdrawal', 'cancel', 'approved', 'cancelled');

insert into sverka.decision_right (subject_type, choice, role) values
  ('withdrawal', 'approve', 'approver'),
  ('withdrawal', 'reject', 'approver'),
  ('withdrawal', 'reject', 'operator'),
  ('withdrawal', 'cancel', 'operator'),
  ('withdrawal', 'pay', 'operator'),
  ('withdrawal', 'complete', 'operator'),
  ('withdrawal', 'fail', 'operator');

-- Amount and destination change only with the terms, and only while nobody has approved them.
create trigger keep_terms before update on sverka.withdrawal for each row
  when ((old.asset, old.request_key) is distinct from (new.asset, new.request_key)
    or (old.amount, old.fee_amount, old.network, old.destination_id, old.address, old.tag, old.terms, old.requested_by)
      is distinct from
      (new.amount, new.fee_amount, new.network, new.destination_id, new.address, new.tag, new.terms, new.requested_by)
      and (old.state <> 'requested' or new.state <> 'requested' or new.terms <> old.terms + 1
        or new.version <> old.version + 1)
    or old.route is distinct from new.route and old.state <> 'requested'
    or old.submitted_at is distinct from new.submitted_at and old.submitted_at is not null)
  execute function sverka.refuse_new_terms();
alter table sverka.withdrawal enable always trigger keep_terms;

call sverka.watch_states('sverka.withdrawal', 'withdrawal');

grant select on sverka.withdrawal_offer, sverka.withdrawal_policy, sverka.withdrawal_destination, sverka.withdrawal,
  sverka.withdrawal_terms, sverka.withdrawal_proof to sverka_console;
grant select on sverka.withdrawal_offer, sverka.withdrawal_policy, sverka.withdrawal_destination, sverka.withdrawal,
  sverka.withdrawal_terms to sverka_worker, sverka_cabinet;
grant select (id, withdrawal_id, transaction_hash, file_name, file_type, file_hash, added_by, created_at)
  on sverka.withdrawal_proof to sverka_worker;

reset role;
