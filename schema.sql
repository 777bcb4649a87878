-- The schema that all migrations together make, read from a fresh database's catalogs. Do not edit:
-- write a migration, then run `node scripts/dump-schema.mjs`. test/db/schema.test.ts compares the two.
-- Whoever ran the migrations is called "migrator" here.

-- Roles

create role sverka_cabinet login;
alter role sverka_cabinet set idle_in_transaction_session_timeout=10s;
alter role sverka_cabinet set lock_timeout=2s;
alter role sverka_cabinet set statement_timeout=5s;
create role sverka_console login;
alter role sverka_console set idle_in_transaction_session_timeout=10s;
alter role sverka_console set lock_timeout=2s;
alter role sverka_console set statement_timeout=5s;
create role sverka_gateway login;
alter role sverka_gateway set idle_in_transaction_session_timeout=10s;
alter role sverka_gateway set lock_timeout=2s;
alter role sverka_gateway set statement_timeout=5s;
create role sverka_ledger_owner nologin;
create role sverka_owner nologin;
create role sverka_relay login;
alter role sverka_relay set idle_in_transaction_session_timeout=10s;
alter role sverka_relay set lock_timeout=2s;
alter role sverka_relay set statement_timeout=5s;
create role sverka_reports login;
alter role sverka_reports set idle_in_transaction_session_timeout=10s;
alter role sverka_reports set lock_timeout=2s;
alter role sverka_reports set statement_timeout=5s;
create role sverka_simulators login;
alter role sverka_simulators set idle_in_transaction_session_timeout=10s;
alter role sverka_simulators set lock_timeout=2s;
alter role sverka_simulators set statement_timeout=5s;
grant pg_read_all_stats to sverka_simulators;
create role sverka_worker login;
alter role sverka_worker set idle_in_transaction_session_timeout=10s;
alter role sverka_worker set lock_timeout=2s;
alter role sverka_worker set statement_timeout=5s;

-- Schemas

create schema ledger authorization sverka_ledger_owner;
create schema sverka authorization sverka_owner;

-- Default privileges

sverka_ledger_owner, f: {sverka_ledger_owner=X/sverka_ledger_owner}
sverka_owner, f: {sverka_owner=X/sverka_owner}

-- Sequences

create sequence sverka.read_ticket as bigint; -- sverka_owner
create sequence sverka.schema_migration_id_seq as integer; -- migrator

-- Tables

create table ledger.account (
  id bigint not null generated always as identity,
  book text not null,
  merchant_id text not null,
  customer_id text,
  kind text not null,
  ref text not null default ''::text,
  asset text not null,
  decimals smallint not null,
  floor numeric(38,0),
  cap numeric(38,0),
  constraint account_pkey PRIMARY KEY (id),
  constraint account_name UNIQUE NULLS NOT DISTINCT (book, merchant_id, customer_id, kind, ref, asset),
  constraint account_asset_decimals_fkey FOREIGN KEY (asset, decimals) REFERENCES ledger.asset(code, decimals),
  constraint account_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint account_cap_check CHECK ((cap <> 'NaN'::numeric)),
  constraint account_customer_id_check CHECK ((customer_id ~ '^cus_[0-9a-z]{26}$'::text)),
  constraint account_floor_check CHECK ((floor <> 'NaN'::numeric)),
  constraint account_kind_check CHECK ((kind = ANY (ARRAY['wallet'::text, 'hold'::text, 'opening'::text, 'card'::text, 'fees'::text, 'receivable'::text, 'clearing:custody'::text, 'clearing:issuer'::text, 'clearing:lightning'::text, 'clearing:sportsbook'::text, 'clearing:payout'::text]))),
  constraint account_merchant_id_check CHECK ((merchant_id ~ '^mer_[0-9a-z]{26}$'::text)),
  constraint account_ref_check CHECK ((length(ref) <= 128)),
  constraint counterparts_are_the_merchants CHECK (((customer_id IS NULL) OR ((kind <> 'fees'::text) AND (kind !~~ 'clearing:%'::text)))),
  constraint fits_bigint CHECK (((decimals > 11) OR ((floor IS NOT NULL) AND (cap IS NOT NULL) AND (floor >= ('-9223372036854775808'::bigint)::numeric) AND (cap <= ('9223372036854775807'::bigint)::numeric)))),
  constraint never_above_zero CHECK (((kind <> 'receivable'::text) OR ((cap IS NOT NULL) AND (cap = (0)::numeric)))),
  constraint never_below_zero CHECK (((kind <> ALL (ARRAY['wallet'::text, 'hold'::text, 'card'::text])) OR ((floor IS NOT NULL) AND (floor = (0)::numeric)))),
  constraint ref_where_there_are_many CHECK (((ref <> ''::text) = (kind = ANY (ARRAY['hold'::text, 'card'::text])))),
  constraint zero_is_within CHECK (((COALESCE(floor, (0)::numeric) <= (0)::numeric) AND (COALESCE(cap, (0)::numeric) >= (0)::numeric)))
); -- sverka_ledger_owner

create table ledger.asset (
  code text not null,
  decimals smallint not null,
  constraint asset_pkey PRIMARY KEY (code),
  constraint asset_code_decimals_key UNIQUE (code, decimals),
  constraint asset_code_check CHECK ((code ~ '^[A-Z0-9-]{3,20}$'::text)),
  constraint asset_decimals_check CHECK (((decimals >= 0) AND (decimals <= 18)))
); -- sverka_ledger_owner

create table ledger.entry (
  account_id bigint not null,
  seq bigint not null,
  movement_id bigint not null,
  amount numeric(38,0) not null,
  balance numeric(38,0) not null,
  constraint entry_pkey PRIMARY KEY (account_id, seq),
  constraint entry_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger.account(id),
  constraint entry_movement_id_fkey FOREIGN KEY (movement_id) REFERENCES ledger.movement(id),
  constraint entry_amount_check CHECK (((amount <> (0)::numeric) AND (amount <> 'NaN'::numeric))),
  constraint entry_balance_check CHECK ((balance <> 'NaN'::numeric)),
  constraint entry_seq_check CHECK ((seq > 0))
); -- sverka_ledger_owner

create table ledger.movement (
  id bigint not null generated always as identity,
  key bytea not null,
  body_hash bytea not null,
  book text not null,
  merchant_id text not null,
  kind text not null,
  subject_type text not null,
  subject_id text not null,
  generation integer not null,
  compensates bytea,
  reference text,
  trace_id text,
  recorded_at timestamp with time zone not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id(),
  constraint movement_pkey PRIMARY KEY (id),
  constraint movement_key_key UNIQUE (key),
  constraint movement_compensates_fkey FOREIGN KEY (compensates) REFERENCES ledger.movement(key),
  constraint movement_body_hash_check CHECK ((octet_length(body_hash) = 32)),
  constraint movement_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint movement_generation_check CHECK ((generation >= 0)),
  constraint movement_key_check CHECK ((octet_length(key) = 32)),
  constraint movement_kind_check CHECK ((kind ~ '^[a-z]+(_[a-z]+)*$'::text)),
  constraint movement_reference_check CHECK ((length(reference) <= 140))
); -- sverka_ledger_owner

create table ledger.verified (
  account_id bigint not null,
  seq bigint not null,
  balance numeric(38,0) not null,
  checked_at timestamp with time zone not null default clock_timestamp(),
  constraint verified_pkey PRIMARY KEY (account_id),
  constraint verified_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger.account(id),
  constraint verified_balance_check CHECK ((balance <> 'NaN'::numeric)),
  constraint verified_seq_check CHECK ((seq > 0))
); -- sverka_ledger_owner

create table sverka.alert (
  id text not null default sverka.new_id('alt'::text),
  key text not null,
  kind text not null,
  book text,
  subject_type text,
  subject_id text,
  detail text not null,
  state text not null default 'open'::text,
  times integer not null default 1,
  trace_id text,
  opened_at timestamp with time zone not null default clock_timestamp(),
  last_seen_at timestamp with time zone not null default clock_timestamp(),
  resolved_at timestamp with time zone,
  constraint alert_pkey PRIMARY KEY (id),
  constraint alert_key_key UNIQUE (key),
  constraint alert_state_check CHECK ((state = ANY (ARRAY['open'::text, 'resolved'::text])))
); -- sverka_owner

create table sverka.api_key (
  id text not null,
  merchant_id text not null,
  book text not null,
  access text not null,
  hash bytea not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  revoked_at timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_hash_key UNIQUE (hash),
  constraint api_key_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint api_key_access_check CHECK ((access = ANY (ARRAY['full'::text, 'read_only'::text]))),
  constraint api_key_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint api_key_hash_check CHECK ((octet_length(hash) = 32)),
  constraint api_key_id_check CHECK ((id ~ '^key_[0-9a-z]{26}$'::text))
); -- sverka_owner

create table sverka.audit (
  id bigint not null generated always as identity,
  book text not null,
  merchant_id text,
  subject_type text not null,
  subject_id text not null,
  from_state text,
  to_state text not null,
  version integer not null,
  actor text not null,
  reason text,
  trace_id text,
  recorded_at timestamp with time zone not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id(),
  constraint audit_pkey PRIMARY KEY (id)
); -- sverka_owner

create table sverka.audit_seal (
  "position" bigint not null,
  audit_id bigint not null,
  hash bytea not null,
  constraint audit_seal_pkey PRIMARY KEY ("position"),
  constraint audit_seal_audit_id_key UNIQUE (audit_id),
  constraint audit_seal_audit_id_fkey FOREIGN KEY (audit_id) REFERENCES sverka.audit(id),
  constraint audit_seal_hash_check CHECK ((octet_length(hash) = 32))
); -- sverka_owner

create table sverka.balance_address (
  source_id integer not null,
  address text not null,
  currency text not null,
  balance numeric not null,
  version numeric(78,0) not null,
  resets integer not null,
  read_at timestamp with time zone not null,
  base_number integer not null,
  first_version numeric(78,0),
  first_before numeric,
  last_version numeric(78,0),
  last_after numeric,
  seen_version numeric(78,0) not null,
  seen_before numeric not null,
  constraint balance_address_pkey PRIMARY KEY (source_id, address, currency),
  constraint balance_address_balance_check CHECK (((balance >= (0)::numeric) AND (balance <> 'NaN'::numeric)))
); -- sverka_owner

create table sverka.balance_bad_item (
  id bigint not null generated always as identity,
  source_id integer not null,
  since_cursor text not null,
  page_limit integer not null,
  item_id text,
  raw text not null,
  reason text not null,
  base_number integer not null,
  found_at timestamp with time zone not null default clock_timestamp(),
  applied_at timestamp with time zone,
  constraint balance_bad_item_pkey PRIMARY KEY (id),
  constraint balance_bad_item_source_id_since_cursor_item_id_raw_key UNIQUE NULLS NOT DISTINCT (source_id, since_cursor, item_id, raw),
  constraint balance_bad_item_source_id_fkey FOREIGN KEY (source_id) REFERENCES sverka.balance_source(id)
); -- sverka_owner

create table sverka.balance_check (
  id text not null,
  source_id integer not null,
  trigger text not null,
  result text,
  actions text[] not null default '{}'::text[],
  cursor text,
  min_cursor text,
  theirs jsonb,
  currencies jsonb not null default '[]'::jsonb,
  changes_read integer not null default 0,
  consecutive_differences integer not null default 0,
  trace_id text,
  started_at timestamp with time zone not null default clock_timestamp(),
  finished_at timestamp with time zone,
  constraint balance_check_pkey PRIMARY KEY (id),
  constraint balance_check_source_id_fkey FOREIGN KEY (source_id) REFERENCES sverka.balance_source(id),
  constraint balance_check_check CHECK (((result IS NULL) = (finished_at IS NULL))),
  constraint balance_check_id_check CHECK ((id ~ '^bchk_[0-9a-z]{26}$'::text)),
  constraint balance_check_result_check CHECK ((result = ANY (ARRAY['equal'::text, 'healed'::text, 'differs'::text, 'rebased'::text, 'failed'::text]))),
  constraint balance_check_trigger_check CHECK ((trigger = ANY (ARRAY['timer'::text, 'webhook_gap'::text, 'operator'::text, 'first_load'::text])))
); -- sverka_owner

create table sverka.balance_conflict (
  id bigint not null generated always as identity,
  source_id integer not null,
  address text not null,
  currency text not null,
  version numeric(78,0) not null,
  known numeric not null,
  told numeric not null,
  recorded_at timestamp with time zone not null default clock_timestamp(),
  constraint balance_conflict_pkey PRIMARY KEY (id),
  constraint balance_conflict_source_id_fkey FOREIGN KEY (source_id) REFERENCES sverka.balance_source(id)
); -- sverka_owner

create table sverka.balance_currency (
  source_id integer not null,
  currency text not null,
  confirmed numeric not null,
  frozen numeric not null,
  held numeric not null,
  available numeric not null,
  base numeric not null,
  moved numeric not null default 0,
  seen numeric not null default 0,
  differs_since timestamp with time zone,
  last_read_at timestamp with time zone not null,
  constraint balance_currency_pkey PRIMARY KEY (source_id, currency),
  constraint balance_currency_source_id_fkey FOREIGN KEY (source_id) REFERENCES sverka.balance_source(id),
  constraint balance_currency_currency_check CHECK ((currency ~ '^[!-~]{1,32}$'::text))
); -- sverka_owner

create table sverka.balance_source (
  id integer not null generated always as identity,
  book text not null,
  provider text not null,
  account text not null,
  merchant_id text,
  base_cursor text,
  base_number integer not null default 0,
  resets integer not null default 0,
  differences integer not null default 0,
  last_action text,
  stale_told bigint not null default 0,
  asked text,
  checked_at timestamp with time zone,
  next_check_at timestamp with time zone not null default clock_timestamp(),
  not_before timestamp with time zone,
  created_at timestamp with time zone not null default clock_timestamp(),
  key text not null default ((((book || ':'::text) || provider) || ':'::text) || account),
  constraint balance_source_pkey PRIMARY KEY (id),
  constraint balance_source_book_provider_account_key UNIQUE (book, provider, account),
  constraint balance_source_key_key UNIQUE (key),
  constraint balance_source_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint balance_source_asked_check CHECK ((asked = ANY (ARRAY['webhook_gap'::text, 'operator'::text]))),
  constraint balance_source_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text])))
); -- sverka_owner

create table sverka.balance_transaction (
  source_id integer not null,
  id text not null,
  version numeric(78,0) not null,
  status text not null,
  currency text not null,
  from_address text,
  from_amount numeric,
  from_balance numeric,
  to_address text,
  to_amount numeric,
  to_balance numeric,
  created text not null,
  constraint balance_transaction_pkey PRIMARY KEY (source_id, id)
); -- sverka_owner

create table sverka.breaker (
  name text not null,
  state text not null default 'closed'::text,
  failed_at timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  open_until timestamp with time zone,
  probe_until timestamp with time zone,
  probe text,
  changed_at timestamp with time zone not null default clock_timestamp(),
  constraint breaker_pkey PRIMARY KEY (name),
  constraint breaker_check CHECK (((state <> 'open'::text) OR (open_until IS NOT NULL))),
  constraint breaker_check1 CHECK (((state <> 'half_open'::text) OR (num_nonnulls(probe, probe_until) = 2))),
  constraint breaker_state_check CHECK ((state = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text])))
); -- sverka_owner

create table sverka.card (
  id text not null,
  book text not null,
  merchant_id text not null,
  cardholder_id text not null,
  product text not null,
  asset text not null,
  provider text not null,
  provider_account text not null,
  provider_ref text,
  last4 text,
  expires text,
  provider_status text,
  provider_read_at timestamp with time zone,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint card_pkey PRIMARY KEY (id),
  constraint card_cardholder_id_fkey FOREIGN KEY (cardholder_id) REFERENCES sverka.cardholder(id),
  constraint card_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint card_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint card_check CHECK (((state = ANY (ARRAY['pending'::text, 'failed'::text])) OR (num_nulls(provider_ref, last4, expires) = 0))),
  constraint card_expires_check CHECK ((expires ~ '^20[0-9]{2}-(0[1-9]|1[0-2])$'::text)),
  constraint card_id_check CHECK ((id ~ '^card_[0-9a-z]{26}$'::text)),
  constraint card_last4_check CHECK ((last4 ~ '^[0-9]{4}$'::text)),
  constraint card_product_check CHECK ((product = ANY (ARRAY['instant'::text, 'async'::text])))
); -- sverka_owner

create table sverka.card_change (
  card_id text not null,
  number integer not null,
  book text not null,
  merchant_id text not null,
  kind text not null,
  request_id text not null,
  submitted_at timestamp with time zone,
  outcome text,
  done_at timestamp with time zone,
  needs_operator boolean not null default false,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  touched_at timestamp with time zone,
  constraint card_change_pkey PRIMARY KEY (card_id, number),
  constraint card_change_request_id_key UNIQUE (request_id),
  constraint card_change_card_id_fkey FOREIGN KEY (card_id) REFERENCES sverka.card(id),
  constraint card_change_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint card_change_request_id_fkey FOREIGN KEY (request_id) REFERENCES sverka.request(id),
  constraint card_change_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint card_change_check CHECK (((outcome IS NULL) = (done_at IS NULL))),
  constraint card_change_check1 CHECK (((outcome IS DISTINCT FROM 'confirmed'::text) OR (submitted_at IS NOT NULL))),
  constraint card_change_kind_check CHECK ((kind = ANY (ARRAY['freeze'::text, 'unfreeze'::text, 'close'::text]))),
  constraint card_change_number_check CHECK ((number >= 1)),
  constraint card_change_outcome_check CHECK ((outcome = ANY (ARRAY['confirmed'::text, 'superseded'::text])))
); -- sverka_owner

create table sverka.card_fee (
  merchant_id text,
  product text not null,
  asset text not null,
  amount numeric(38,0) not null,
  set_by text not null,
  set_at timestamp with time zone not null default clock_timestamp(),
  constraint card_fee_merchant_id_product_asset_key UNIQUE NULLS NOT DISTINCT (merchant_id, product, asset),
  constraint card_fee_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint card_fee_amount_check CHECK (((amount >= (0)::numeric) AND (amount <> 'NaN'::numeric))),
  constraint card_fee_product_check CHECK ((product = ANY (ARRAY['instant'::text, 'async'::text])))
); -- sverka_owner

create table sverka.card_fee_change (
  id bigint not null generated always as identity,
  merchant_id text,
  product text not null,
  asset text not null,
  before numeric(38,0),
  after numeric(38,0) not null,
  set_by text not null,
  set_at timestamp with time zone not null default clock_timestamp(),
  constraint card_fee_change_pkey PRIMARY KEY (id),
  constraint card_fee_change_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint card_fee_change_set_by_check CHECK ((set_by <> ''::text))
); -- sverka_owner

create table sverka.card_load (
  id text not null,
  book text not null,
  merchant_id text not null,
  card_id text not null,
  asset text not null,
  amount numeric(38,0) not null,
  provider text not null,
  provider_account text not null,
  workflow_id text not null,
  decline_reason text,
  movement_ids text[] not null,
  needs_operator boolean not null default false,
  applied_ticket bigint not null default 0,
  submitted_by text,
  submitted_at timestamp with time zone,
  settled_at timestamp with time zone,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint card_load_pkey PRIMARY KEY (id),
  constraint card_load_card_id_fkey FOREIGN KEY (card_id) REFERENCES sverka.card(id),
  constraint card_load_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint card_load_amount_check CHECK (((amount > (0)::numeric) AND (amount <> 'NaN'::numeric))),
  constraint card_load_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint card_load_id_check CHECK ((id ~ '^load_[0-9a-z]{26}$'::text)),
  constraint card_load_movement_ids_check CHECK ((cardinality(movement_ids) >= 1))
); -- sverka_owner

create table sverka.cardholder (
  id text not null,
  book text not null,
  merchant_id text not null,
  revision integer not null default 1,
  first_initial text,
  last_initial text,
  country text not null,
  reference text,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint cardholder_pkey PRIMARY KEY (id),
  constraint cardholder_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint cardholder_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint cardholder_check CHECK ((((state = 'active'::text) = (first_initial IS NOT NULL)) AND ((state = 'active'::text) = (last_initial IS NOT NULL)))),
  constraint cardholder_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
  constraint cardholder_first_initial_check CHECK (((char_length(first_initial) >= 1) AND (char_length(first_initial) <= 8))),
  constraint cardholder_id_check CHECK ((id ~ '^chd_[0-9a-z]{26}$'::text)),
  constraint cardholder_last_initial_check CHECK (((char_length(last_initial) >= 1) AND (char_length(last_initial) <= 8))),
  constraint cardholder_reference_check CHECK ((char_length(reference) <= 140)),
  constraint cardholder_revision_check CHECK ((revision >= 1))
); -- sverka_owner

create table sverka.cardholder_key (
  cardholder_id text not null,
  revision integer not null,
  key_id text not null,
  wrapped bytea not null,
  fingerprint bytea not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint cardholder_key_pkey PRIMARY KEY (cardholder_id, revision),
  constraint cardholder_key_cardholder_id_fkey FOREIGN KEY (cardholder_id) REFERENCES sverka.cardholder(id),
  constraint cardholder_key_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  constraint cardholder_key_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9._:/-]{1,200}$'::text)),
  constraint cardholder_key_revision_check CHECK ((revision >= 1)),
  constraint cardholder_key_wrapped_check CHECK (((octet_length(wrapped) >= 256) AND (octet_length(wrapped) <= 1024)))
); -- sverka_owner

create table sverka.cardholder_member (
  cardholder_id text not null,
  revision integer not null,
  member text not null,
  sealed bytea not null,
  constraint cardholder_member_pkey PRIMARY KEY (cardholder_id, member, revision),
  constraint cardholder_member_cardholder_id_fkey FOREIGN KEY (cardholder_id) REFERENCES sverka.cardholder(id),
  constraint cardholder_member_member_check CHECK ((member = ANY (ARRAY['first_name'::text, 'last_name'::text, 'birth_date'::text, 'country'::text, 'document'::text]))),
  constraint cardholder_member_revision_check CHECK ((revision >= 1)),
  constraint cardholder_member_sealed_check CHECK (((octet_length(sealed) >= 30) AND (octet_length(sealed) <= 1024)))
); -- sverka_owner

create table sverka.check_run (
  name text not null,
  expected_since timestamp with time zone not null default clock_timestamp(),
  began_at timestamp with time zone,
  finished_at timestamp with time zone,
  findings integer,
  detail jsonb,
  constraint check_run_pkey PRIMARY KEY (name),
  constraint check_run_check CHECK ((num_nulls(began_at, finished_at, findings, detail) = ANY (ARRAY[0, 4]))),
  constraint check_run_findings_check CHECK ((findings >= 0))
); -- sverka_owner

create table sverka.customer (
  id text not null,
  book text not null,
  merchant_id text not null,
  ref text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint customer_pkey PRIMARY KEY (id),
  constraint customer_book_merchant_id_ref_key UNIQUE (book, merchant_id, ref),
  constraint customer_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint customer_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint customer_id_check CHECK ((id ~ '^cus_[0-9a-z]{26}$'::text)),
  constraint customer_ref_check CHECK ((ref ~ '^[A-Za-z0-9._:-]{1,64}$'::text))
); -- sverka_owner

create table sverka.dead_letter (
  id text not null,
  inbox_id text not null,
  reason text not null,
  attempts integer not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  closed_at timestamp with time zone,
  replays integer not null default 0,
  book text not null,
  closed_how text,
  constraint dead_letter_pkey PRIMARY KEY (id),
  constraint dead_letter_inbox_id_key UNIQUE (inbox_id),
  constraint closed_together CHECK (((closed_at IS NULL) = (closed_how IS NULL))),
  constraint dead_letter_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint dead_letter_closed_how_check CHECK ((closed_how = ANY (ARRAY['abandoned'::text, 'applied'::text]))),
  constraint dead_letter_id_check CHECK ((id ~ '^dl_[0-9a-z]{26}$'::text))
); -- sverka_owner

create table sverka.decision (
  id text not null,
  subject_type text not null,
  subject_id text not null,
  stage text not null,
  choice text not null,
  seen_hash bytea not null,
  user_id text not null,
  reason text not null,
  evidence jsonb not null default '{}'::jsonb,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  argument text,
  constraint decision_pkey PRIMARY KEY (id),
  constraint decision_subject_type_subject_id_stage_key UNIQUE (subject_type, subject_id, stage),
  constraint decision_user_id_fkey FOREIGN KEY (user_id) REFERENCES sverka."user"(id),
  constraint decision_argument_check CHECK ((argument <> ''::text)),
  constraint decision_id_check CHECK ((id ~ '^dec_[0-9a-z]{26}$'::text)),
  constraint decision_reason_check CHECK (((length(btrim(reason)) >= 1) AND (length(btrim(reason)) <= 1000))),
  constraint decision_seen_hash_check CHECK ((octet_length(seen_hash) = 32))
); -- sverka_owner

create table sverka.decision_move (
  subject_type text not null,
  choice text not null,
  from_state text not null,
  to_state text not null,
  constraint decision_move_pkey PRIMARY KEY (subject_type, choice, from_state, to_state)
); -- sverka_owner

create table sverka.decision_outcome (
  decision_id text not null,
  outcome text not null,
  detail text not null,
  trace_id text,
  recorded_at timestamp with time zone not null default clock_timestamp(),
  constraint decision_outcome_pkey PRIMARY KEY (decision_id),
  constraint decision_outcome_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES sverka.decision(id),
  constraint decision_outcome_outcome_check CHECK ((outcome = ANY (ARRAY['applied'::text, 'void'::text])))
); -- sverka_owner

create table sverka.decision_right (
  subject_type text not null,
  choice text not null,
  role text not null,
  constraint decision_right_pkey PRIMARY KEY (subject_type, choice, role)
); -- sverka_owner

create table sverka.deposit (
  id text not null,
  book text not null,
  merchant_id text not null,
  customer_id text,
  deposit_address_id text not null,
  kind text not null default 'deposit'::text,
  network text not null,
  provider text not null,
  provider_account text not null,
  provider_ref text not null,
  provider_status text not null,
  tx_hash text,
  output_index integer,
  block_number numeric(38,0),
  block_hash text,
  reported_text text not null,
  reported_amount numeric(38,18) not null,
  reported_asset text not null,
  settlement_mode text not null,
  settlement_asset text,
  generation integer not null default 0,
  credited_amount numeric(38,0),
  credited_asset text,
  spendable boolean not null default false,
  movement_ids text[] not null default '{}'::text[],
  flag text,
  applied_ticket bigint not null default 0,
  last_read_at timestamp with time zone not null,
  credited_at timestamp with time zone,
  final_at timestamp with time zone,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  contradiction text,
  accepted_contradiction text,
  constraint deposit_pkey PRIMARY KEY (id),
  constraint deposit_book_provider_provider_account_provider_ref_key UNIQUE (book, provider, provider_account, provider_ref),
  constraint deposit_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES sverka.customer(id),
  constraint deposit_deposit_address_id_fkey FOREIGN KEY (deposit_address_id) REFERENCES sverka.deposit_address(id),
  constraint deposit_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint deposit_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint deposit_check CHECK (((credited_amount IS NULL) = (credited_asset IS NULL))),
  constraint deposit_check1 CHECK (((state <> ALL (ARRAY['credited'::text, 'final'::text])) OR (credited_amount IS NOT NULL))),
  constraint deposit_credited_amount_check CHECK (((credited_amount > (0)::numeric) AND (credited_amount <> 'NaN'::numeric))),
  constraint deposit_generation_check CHECK ((generation >= 0)),
  constraint deposit_id_check CHECK ((id ~ '^dep_[0-9a-z]{26}$'::text)),
  constraint deposit_kind_check CHECK ((kind = ANY (ARRAY['deposit'::text, 'airdrop'::text]))),
  constraint deposit_reported_amount_check CHECK (((reported_amount >= (0)::numeric) AND (reported_amount <> 'NaN'::numeric))),
  constraint deposit_settlement_mode_check CHECK ((settlement_mode = ANY (ARRAY['as_token'::text, 'settled'::text]))),
  constraint flag_has_its_facts CHECK (((flag IS NULL) OR (contradiction IS NOT NULL)))
); -- sverka_owner

create table sverka.deposit_address (
  id text not null,
  book text not null,
  merchant_id text not null,
  customer_id text,
  network text not null,
  asset text not null,
  settlement_mode text not null,
  settlement_asset text,
  provider text not null,
  provider_account text not null,
  provider_ref text,
  address text,
  tag text,
  needs_operator boolean not null default false,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint deposit_address_pkey PRIMARY KEY (id),
  constraint deposit_address_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES sverka.customer(id),
  constraint deposit_address_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint deposit_address_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint deposit_address_check CHECK (((settlement_mode = 'settled'::text) = (settlement_asset IS NOT NULL))),
  constraint deposit_address_check1 CHECK (((state <> 'active'::text) OR ((address IS NOT NULL) AND (provider_ref IS NOT NULL)))),
  constraint deposit_address_id_check CHECK ((id ~ '^addr_[0-9a-z]{26}$'::text)),
  constraint deposit_address_settlement_mode_check CHECK ((settlement_mode = ANY (ARRAY['as_token'::text, 'settled'::text])))
); -- sverka_owner

create table sverka.event (
  id text not null,
  type text not null,
  book text not null,
  merchant_id text not null,
  subject_type text not null,
  subject_id text not null,
  version integer not null,
  data jsonb not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id(),
  constraint event_pkey PRIMARY KEY (id),
  constraint event_type_subject_id_version_key UNIQUE (type, subject_id, version),
  constraint event_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint event_id_check CHECK ((id ~ '^evt_[0-9a-z]{26}$'::text))
); -- sverka_owner

create table sverka.event_seal (
  "position" bigint not null,
  event_id text not null,
  constraint event_seal_pkey PRIMARY KEY ("position"),
  constraint event_seal_event_id_key UNIQUE (event_id),
  constraint event_seal_event_id_fkey FOREIGN KEY (event_id) REFERENCES sverka.event(id)
); -- sverka_owner

create table sverka.inbox (
  id text not null,
  provider text not null,
  endpoint text not null,
  book text not null,
  delivery_id text not null,
  body bytea not null,
  body_hash bytea not null,
  event_type text,
  subject_type text,
  subject_ref text,
  status text not null,
  reason text,
  waits_for text,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null default clock_timestamp(),
  trace_id text,
  received_at timestamp with time zone not null default clock_timestamp(),
  done_at timestamp with time zone,
  armed integer not null default 1,
  constraint inbox_pkey PRIMARY KEY (id),
  constraint inbox_provider_endpoint_delivery_id_key UNIQUE (provider, endpoint, delivery_id),
  constraint inbox_body_hash_check CHECK ((octet_length(body_hash) = 32)),
  constraint inbox_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint inbox_id_check CHECK ((id ~ '^inb_[0-9a-z]{26}$'::text)),
  constraint inbox_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'done'::text, 'unmatched'::text, 'parked'::text])))
); -- sverka_owner

create table sverka.inbox_conflict (
  id bigint not null generated always as identity,
  inbox_id text not null,
  body bytea not null,
  body_hash bytea not null,
  trace_id text,
  received_at timestamp with time zone not null default clock_timestamp(),
  constraint inbox_conflict_pkey PRIMARY KEY (id),
  constraint inbox_conflict_inbox_id_body_hash_key UNIQUE (inbox_id, body_hash),
  constraint inbox_conflict_inbox_id_fkey FOREIGN KEY (inbox_id) REFERENCES sverka.inbox(id),
  constraint inbox_conflict_body_hash_check CHECK ((octet_length(body_hash) = 32))
); -- sverka_owner

create table sverka.issuance (
  id text not null,
  book text not null,
  merchant_id text not null,
  card_id text not null,
  generation integer not null default 0,
  cardholder_id text not null,
  cardholder_revision integer not null,
  product text not null,
  asset text not null,
  load_amount numeric(38,0) not null,
  fee_amount numeric(38,0) not null,
  provider text not null,
  provider_account text not null,
  provider_ref text,
  provider_status text,
  decline_reason text,
  movement_ids text[] not null default '{}'::text[],
  flag text,
  contradiction text,
  accepted_contradiction text,
  needs_operator boolean not null default false,
  applied_ticket bigint not null default 0,
  submitted_by text,
  submitted_at timestamp with time zone,
  settled_at timestamp with time zone,
  last_read_at timestamp with time zone,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  workflow_id text not null,
  looks integer not null default 0,
  failed_at timestamp with time zone,
  constraint issuance_pkey PRIMARY KEY (id),
  constraint issuance_card_id_generation_key UNIQUE (card_id, generation),
  constraint issuance_card_id_fkey FOREIGN KEY (card_id) REFERENCES sverka.card(id),
  constraint issuance_cardholder_id_fkey FOREIGN KEY (cardholder_id) REFERENCES sverka.cardholder(id),
  constraint issuance_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint issuance_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint issuance_check CHECK (((flag IS NULL) OR (contradiction IS NOT NULL))),
  constraint issuance_check1 CHECK (((state <> 'active'::text) OR (provider_ref IS NOT NULL))),
  constraint issuance_fee_amount_check CHECK (((fee_amount >= (0)::numeric) AND (fee_amount <> 'NaN'::numeric))),
  constraint issuance_generation_check CHECK ((generation >= 0)),
  constraint issuance_id_check CHECK ((id ~ '^iss_[0-9a-z]{26}$'::text)),
  constraint issuance_load_amount_check CHECK (((load_amount >= (0)::numeric) AND (load_amount <> 'NaN'::numeric))),
  constraint issuance_looks_check CHECK ((looks >= 0)),
  constraint issuance_product_check CHECK ((product = ANY (ARRAY['instant'::text, 'async'::text])))
); -- sverka_owner

create table sverka.ledger_import (
  file_hash bytea not null,
  lines jsonb not null,
  state text not null default 'requested'::text,
  problems jsonb not null default '[]'::jsonb,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  finished_at timestamp with time zone,
  actor text not null default 'cli'::text,
  constraint ledger_import_pkey PRIMARY KEY (file_hash),
  constraint ledger_import_actor_check CHECK (((actor = 'cli'::text) OR (actor ~ '^user:usr_[0-9a-z]{26}$'::text))),
  constraint ledger_import_check CHECK (((state = 'requested'::text) = (finished_at IS NULL))),
  constraint ledger_import_file_hash_check CHECK ((octet_length(file_hash) = 32)),
  constraint ledger_import_lines_check CHECK (((jsonb_typeof(lines) = 'array'::text) AND ((jsonb_array_length(lines) >= 1) AND (jsonb_array_length(lines) <= 1000)))),
  constraint ledger_import_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'posted'::text, 'refused'::text])))
); -- sverka_owner

create table sverka.login_link (
  token_hash bytea not null,
  user_id text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint login_link_pkey PRIMARY KEY (token_hash),
  constraint login_link_user_id_fkey FOREIGN KEY (user_id) REFERENCES sverka."user"(id),
  constraint login_link_token_hash_check CHECK ((octet_length(token_hash) = 32))
); -- sverka_owner

create table sverka.merchant (
  id text not null,
  name text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint merchant_pkey PRIMARY KEY (id),
  constraint merchant_id_check CHECK ((id ~ '^mer_[0-9a-z]{26}$'::text)),
  constraint merchant_name_check CHECK (((length(name) >= 1) AND (length(name) <= 140)))
); -- sverka_owner

create table sverka.movement_seal (
  "position" bigint not null,
  movement_id bigint not null,
  constraint movement_seal_pkey PRIMARY KEY ("position"),
  constraint movement_seal_movement_id_key UNIQUE (movement_id)
); -- sverka_owner

create table sverka.passkey (
  credential_id text not null,
  user_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  last_used_at timestamp with time zone,
  removed_at timestamp with time zone,
  constraint passkey_pkey PRIMARY KEY (credential_id),
  constraint passkey_user_id_fkey FOREIGN KEY (user_id) REFERENCES sverka."user"(id),
  constraint passkey_counter_check CHECK ((counter >= 0)),
  constraint passkey_credential_id_check CHECK (((credential_id ~ '^[A-Za-z0-9_-]+$'::text) AND ((length(credential_id) >= 8) AND (length(credential_id) <= 1400)))),
  constraint passkey_public_key_check CHECK (((octet_length(public_key) >= 16) AND (octet_length(public_key) <= 4096)))
); -- sverka_owner

create table sverka.passkey_challenge (
  challenge bytea not null,
  session_hash bytea not null,
  seen_hash bytea,
  expires_at timestamp with time zone not null,
  constraint passkey_challenge_pkey PRIMARY KEY (challenge),
  constraint passkey_challenge_session_hash_fkey FOREIGN KEY (session_hash) REFERENCES sverka.session(token_hash),
  constraint passkey_challenge_challenge_check CHECK ((octet_length(challenge) = 32)),
  constraint passkey_challenge_seen_hash_check CHECK ((octet_length(seen_hash) = 32))
); -- sverka_owner

create unlogged table sverka.rate_limit (
  key text not null,
  points integer not null default 0,
  expire bigint,
  constraint rate_limit_pkey PRIMARY KEY (key)
); -- sverka_owner

create table sverka.relay_heartbeat (
  relay text not null,
  seen_at timestamp with time zone not null,
  rejected bigint not null,
  failed bigint not null,
  rejected_before bigint not null default 0,
  window_at timestamp with time zone not null default clock_timestamp(),
  constraint relay_heartbeat_pkey PRIMARY KEY (relay)
); -- sverka_owner

create table sverka.request (
  id text not null,
  book text not null,
  merchant_id text not null,
  key text not null,
  method text not null,
  path text not null,
  fingerprint bytea not null,
  resource_type text,
  resource_id text,
  made boolean,
  refusal jsonb,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint request_pkey PRIMARY KEY (id),
  constraint request_book_merchant_id_key_key UNIQUE (book, merchant_id, key),
  constraint request_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint request_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint request_check CHECK (((num_nonnulls(resource_id, refusal) = 1) AND ((resource_id IS NULL) = (made IS NULL)) AND ((resource_id IS NULL) = (resource_type IS NULL)))),
  constraint request_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  constraint request_id_check CHECK ((id ~ '^req_[0-9a-z]{26}$'::text))
); -- sverka_owner

create table sverka.schema_migration (
  id integer not null default nextval('sverka.schema_migration_id_seq'::regclass),
  name character varying(255) not null,
  run_on timestamp without time zone not null,
  constraint schema_migration_pkey PRIMARY KEY (id)
); -- migrator

create table sverka.seal_mark (
  kind text not null,
  sealed_before xid8 not null default '0'::xid8,
  constraint seal_mark_pkey PRIMARY KEY (kind),
  constraint seal_mark_kind_check CHECK ((kind = ANY (ARRAY['movement'::text, 'event'::text, 'audit'::text])))
); -- sverka_owner

create table sverka.session (
  token_hash bytea not null,
  user_id text not null,
  audience text not null,
  csrf bytea not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  last_seen_at timestamp with time zone not null default clock_timestamp(),
  idle_until timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  step_up_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint session_pkey PRIMARY KEY (token_hash),
  constraint session_user_id_fkey FOREIGN KEY (user_id) REFERENCES sverka."user"(id),
  constraint session_audience_check CHECK ((audience = ANY (ARRAY['console'::text, 'cabinet'::text]))),
  constraint session_csrf_check CHECK ((octet_length(csrf) = 32)),
  constraint session_token_hash_check CHECK ((octet_length(token_hash) = 32))
); -- sverka_owner

create table sverka.sign_in_attempt (
  state_hash bytea not null,
  browser_hash bytea not null,
  audience text not null,
  nonce text not null,
  verifier text not null,
  next text not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_attempt_pkey PRIMARY KEY (state_hash),
  constraint sign_in_attempt_audience_check CHECK ((audience = ANY (ARRAY['console'::text, 'cabinet'::text]))),
  constraint sign_in_attempt_browser_hash_check CHECK ((octet_length(browser_hash) = 32)),
  constraint sign_in_attempt_nonce_check CHECK ((length(nonce) >= 43)),
  constraint sign_in_attempt_state_hash_check CHECK ((octet_length(state_hash) = 32)),
  constraint sign_in_attempt_verifier_check CHECK ((length(verifier) >= 43))
); -- sverka_owner

create table sverka.source (
  book text not null,
  provider text not null,
  account text not null,
  feed text not null,
  cursor text,
  missing_cursors integer not null default 0,
  last_page_at timestamp with time zone,
  constraint source_pkey PRIMARY KEY (book, provider, account, feed),
  constraint source_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text])))
); -- sverka_owner

create table sverka.state_move (
  subject_type text not null,
  from_state text,
  to_state text not null,
  by_decision boolean not null default false,
  constraint state_move_subject_type_from_state_to_state_key UNIQUE NULLS NOT DISTINCT (subject_type, from_state, to_state)
); -- sverka_owner

create table sverka."user" (
  id text not null,
  login text not null,
  merchant_id text,
  roles text[] not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  disabled_at timestamp with time zone,
  person text not null,
  constraint user_pkey PRIMARY KEY (id),
  constraint user_login_key UNIQUE (login),
  constraint user_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint user_check CHECK (((merchant_id IS NOT NULL) = (roles = ARRAY['requester'::text]))),
  constraint user_id_check CHECK ((id ~ '^usr_[0-9a-z]{26}$'::text)),
  constraint user_login_check CHECK ((login ~ '^[a-z0-9._-]{1,64}$'::text)),
  constraint user_roles_check CHECK (((roles <@ ARRAY['requester'::text, 'operator'::text, 'approver'::text, 'admin'::text, 'auditor'::text]) AND (cardinality(roles) > 0)))
); -- sverka_owner

create table sverka.user_identity (
  issuer text not null,
  subject text not null,
  user_id text not null,
  audience text not null,
  linked_by text not null,
  linked_at timestamp with time zone not null default clock_timestamp(),
  unlinked_by text,
  unlinked_at timestamp with time zone,
  constraint user_identity_pkey PRIMARY KEY (issuer, subject, audience, linked_at),
  constraint user_identity_user_id_fkey FOREIGN KEY (user_id) REFERENCES sverka."user"(id),
  constraint user_identity_audience_check CHECK ((audience = ANY (ARRAY['console'::text, 'cabinet'::text]))),
  constraint user_identity_check CHECK (((unlinked_by IS NULL) = (unlinked_at IS NULL))),
  constraint user_identity_issuer_check CHECK (((issuer ~ '^https?://'::text) AND (length(issuer) <= 255))),
  constraint user_identity_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 255)))
); -- sverka_owner

create table sverka.withdrawal (
  id text not null,
  book text not null,
  merchant_id text not null,
  request_key text not null,
  asset text not null,
  amount numeric(38,0) not null,
  fee_amount numeric(38,0) not null,
  network text not null,
  destination_id text not null,
  address text not null,
  tag text,
  reference text,
  terms integer not null default 1,
  requested_by text not null,
  expires_at timestamp with time zone not null,
  route text,
  approvals_needed integer,
  payout_ref text,
  payout_status text,
  payout_fee_asset text,
  payout_fee_amount numeric(38,0),
  transaction_hash text,
  proof_id text,
  flag text,
  needs_operator boolean not null default false,
  swept_at timestamp with time zone,
  applied_ticket bigint not null default 0,
  submitted_by text,
  submitted_at timestamp with time zone,
  settled_at timestamp with time zone,
  movement_ids text[] not null,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint withdrawal_pkey PRIMARY KEY (id),
  constraint withdrawal_book_merchant_id_request_key_key UNIQUE (book, merchant_id, request_key),
  constraint withdrawal_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sverka.withdrawal_destination(id),
  constraint withdrawal_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint withdrawal_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES sverka."user"(id),
  constraint withdrawal_amount_check CHECK (((amount > (0)::numeric) AND (amount <> 'NaN'::numeric))),
  constraint withdrawal_approvals_needed_check CHECK (((approvals_needed >= 1) AND (approvals_needed <= 2))),
  constraint withdrawal_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint withdrawal_fee_amount_check CHECK (((fee_amount >= (0)::numeric) AND (fee_amount <> 'NaN'::numeric))),
  constraint withdrawal_flag_check CHECK ((flag = ANY (ARRAY['proof_mismatch'::text, 'payout_mismatch'::text]))),
  constraint withdrawal_id_check CHECK ((id ~ '^wd_[0-9a-z]{26}$'::text)),
  constraint withdrawal_movement_ids_check CHECK ((cardinality(movement_ids) >= 1)),
  constraint withdrawal_payout_fee_amount_check CHECK (((payout_fee_amount >= (0)::numeric) AND (payout_fee_amount <> 'NaN'::numeric))),
  constraint withdrawal_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 140))),
  constraint withdrawal_request_key_check CHECK (((length(request_key) >= 16) AND (length(request_key) <= 64))),
  constraint withdrawal_route_check CHECK ((route = ANY (ARRAY['custody'::text, 'manual'::text]))),
  constraint withdrawal_terms_check CHECK ((terms >= 1))
); -- sverka_owner

create table sverka.withdrawal_destination (
  id text not null,
  book text not null,
  merchant_id text not null,
  label text not null,
  network text not null,
  address text not null,
  tag text,
  added_by text not null,
  usable_from timestamp with time zone not null,
  removed_at timestamp with time zone,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint withdrawal_destination_pkey PRIMARY KEY (id),
  constraint withdrawal_destination_added_by_fkey FOREIGN KEY (added_by) REFERENCES sverka."user"(id),
  constraint withdrawal_destination_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES sverka.merchant(id),
  constraint withdrawal_destination_address_check CHECK ((address ~ '^[!-~]{1,128}$'::text)),
  constraint withdrawal_destination_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint withdrawal_destination_id_check CHECK ((id ~ '^wdd_[0-9a-z]{26}$'::text)),
  constraint withdrawal_destination_label_check CHECK (((length(btrim(label)) >= 1) AND (length(btrim(label)) <= 140))),
  constraint withdrawal_destination_tag_check CHECK ((tag ~ '^[!-~]{1,64}$'::text))
); -- sverka_owner

create table sverka.withdrawal_offer (
  book text not null,
  network text not null,
  asset text not null,
  fee_amount numeric(38,0) not null,
  smallest_amount numeric(38,0) not null default 1,
  two_approvals_from numeric(38,0) not null,
  routes text[] not null,
  set_by text not null,
  set_at timestamp with time zone not null default clock_timestamp(),
  constraint withdrawal_offer_pkey PRIMARY KEY (book, network, asset),
  constraint withdrawal_offer_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint withdrawal_offer_fee_amount_check CHECK (((fee_amount >= (0)::numeric) AND (fee_amount <> 'NaN'::numeric))),
  constraint withdrawal_offer_network_check CHECK ((network ~ '^[a-z][a-z0-9_]{0,31}$'::text)),
  constraint withdrawal_offer_routes_check CHECK (((routes <@ ARRAY['custody'::text, 'manual'::text]) AND ((cardinality(routes) >= 1) AND (cardinality(routes) <= 2)))),
  constraint withdrawal_offer_smallest_amount_check CHECK (((smallest_amount > (0)::numeric) AND (smallest_amount <> 'NaN'::numeric))),
  constraint withdrawal_offer_two_approvals_from_check CHECK (((two_approvals_from > (0)::numeric) AND (two_approvals_from <> 'NaN'::numeric)))
); -- sverka_owner

create table sverka.withdrawal_policy (
  book text not null,
  cooling_off interval not null default '24:00:00'::interval,
  expires_after interval not null default '3 days'::interval,
  set_by text not null,
  set_at timestamp with time zone not null default clock_timestamp(),
  constraint withdrawal_policy_pkey PRIMARY KEY (book),
  constraint withdrawal_policy_book_check CHECK ((book = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint withdrawal_policy_cooling_off_check CHECK ((cooling_off >= '00:00:00'::interval)),
  constraint withdrawal_policy_expires_after_check CHECK ((expires_after > '00:00:00'::interval))
); -- sverka_owner

create table sverka.withdrawal_proof (
  id text not null,
  withdrawal_id text not null,
  transaction_hash text,
  file_name text,
  file_type text,
  file bytea,
  file_hash bytea,
  added_by text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint withdrawal_proof_pkey PRIMARY KEY (id),
  constraint withdrawal_proof_added_by_fkey FOREIGN KEY (added_by) REFERENCES sverka."user"(id),
  constraint withdrawal_proof_withdrawal_id_fkey FOREIGN KEY (withdrawal_id) REFERENCES sverka.withdrawal(id),
  constraint withdrawal_proof_check CHECK ((num_nulls(file_name, file_type, file, file_hash) = ANY (ARRAY[0, 4]))),
  constraint withdrawal_proof_check1 CHECK (((transaction_hash IS NOT NULL) OR (file IS NOT NULL))),
  constraint withdrawal_proof_check2 CHECK (((file IS NULL) OR (file_hash = sha256(file)))),
  constraint withdrawal_proof_file_check CHECK (((octet_length(file) >= 1) AND (octet_length(file) <= 5242880))),
  constraint withdrawal_proof_file_hash_check CHECK ((octet_length(file_hash) = 32)),
  constraint withdrawal_proof_file_name_check CHECK (((length(file_name) >= 1) AND (length(file_name) <= 140))),
  constraint withdrawal_proof_file_type_check CHECK ((file_type = ANY (ARRAY['application/pdf'::text, 'image/png'::text, 'image/jpeg'::text]))),
  constraint withdrawal_proof_id_check CHECK ((id ~ '^wdp_[0-9a-z]{26}$'::text)),
  constraint withdrawal_proof_transaction_hash_check CHECK ((transaction_hash ~ '^[0-9A-Za-z]{16,128}$'::text))
); -- sverka_owner

create table sverka.withdrawal_terms (
  withdrawal_id text not null,
  terms integer not null,
  amount numeric(38,0) not null,
  fee_amount numeric(38,0) not null,
  network text not null,
  address text not null,
  tag text,
  requested_by text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint withdrawal_terms_pkey PRIMARY KEY (withdrawal_id, terms),
  constraint withdrawal_terms_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES sverka."user"(id),
  constraint withdrawal_terms_withdrawal_id_fkey FOREIGN KEY (withdrawal_id) REFERENCES sverka.withdrawal(id)
); -- sverka_owner


-- Indexes that no constraint makes

CREATE INDEX entry_movement ON ledger.entry USING btree (movement_id);
CREATE INDEX movement_statement ON ledger.movement USING btree (book, merchant_id, id DESC);
CREATE INDEX movement_xid ON ledger.movement USING btree (xid);
CREATE INDEX alert_open ON sverka.alert USING btree (opened_at, id) WHERE (state = 'open'::text);
CREATE INDEX api_key_merchant ON sverka.api_key USING btree (merchant_id);
CREATE INDEX audit_subject ON sverka.audit USING btree (subject_id, id);
CREATE INDEX audit_trace ON sverka.audit USING btree (trace_id);
CREATE INDEX audit_xid ON sverka.audit USING btree (xid);
CREATE INDEX balance_address_base ON sverka.balance_address USING btree (source_id, base_number);
CREATE INDEX balance_address_currency ON sverka.balance_address USING btree (source_id, currency, address);
CREATE INDEX balance_address_place ON sverka.balance_address USING btree (address);
CREATE INDEX balance_address_reset ON sverka.balance_address USING btree (source_id, resets, address, currency);
CREATE INDEX balance_bad_item_waiting ON sverka.balance_bad_item USING btree (source_id) WHERE (applied_at IS NULL);
CREATE INDEX balance_check_of ON sverka.balance_check USING btree (source_id, started_at DESC, id DESC);
CREATE UNIQUE INDEX balance_check_open ON sverka.balance_check USING btree (source_id) WHERE (finished_at IS NULL);
CREATE INDEX balance_check_result ON sverka.balance_check USING btree (result, started_at DESC, id DESC);
CREATE INDEX balance_check_time ON sverka.balance_check USING btree (started_at DESC, id DESC);
CREATE INDEX balance_check_trace ON sverka.balance_check USING btree (trace_id);
CREATE INDEX balance_conflict_of ON sverka.balance_conflict USING btree (source_id);
CREATE INDEX card_change_waiting ON sverka.card_change USING btree (card_id, number) WHERE (outcome IS NULL);
CREATE INDEX card_holder ON sverka.card USING btree (cardholder_id);
CREATE INDEX card_last4 ON sverka.card USING btree (last4) WHERE (last4 IS NOT NULL);
CREATE INDEX card_load_card ON sverka.card_load USING btree (card_id, created_at DESC, id DESC);
CREATE INDEX card_load_waiting ON sverka.card_load USING btree (card_id) WHERE (state = ANY (ARRAY['reserved'::text, 'submitted'::text, 'unknown'::text]));
CREATE INDEX card_owner ON sverka.card USING btree (book, merchant_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX card_provider_ref ON sverka.card USING btree (book, provider, provider_account, provider_ref) WHERE (provider_ref IS NOT NULL);
CREATE INDEX cardholder_owner ON sverka.cardholder USING btree (book, merchant_id, created_at DESC, id DESC);
CREATE INDEX cardholder_reference ON sverka.cardholder USING btree (book, merchant_id, reference);
CREATE INDEX dead_letter_open ON sverka.dead_letter USING btree (created_at, id) WHERE (closed_at IS NULL);
CREATE UNIQUE INDEX deposit_address_name ON sverka.deposit_address USING btree (book, merchant_id, customer_id, network, asset) NULLS NOT DISTINCT WHERE (state <> 'failed'::text);
CREATE UNIQUE INDEX deposit_address_place ON sverka.deposit_address USING btree (book, provider, provider_account, address, tag) NULLS NOT DISTINCT WHERE (address IS NOT NULL);
CREATE INDEX deposit_address_waiting ON sverka.deposit_address USING btree (created_at) WHERE (state = ANY (ARRAY['preparing'::text, 'unknown'::text]));
CREATE INDEX deposit_booked_output ON sverka.deposit USING btree (book, provider, provider_account, sverka.plain_hash(tx_hash)) WHERE (movement_ids <> '{}'::text[]);
CREATE INDEX deposit_hash ON sverka.deposit USING btree (tx_hash);
CREATE INDEX deposit_of_test ON sverka.deposit USING btree (id) WHERE (book = 'test'::text);
CREATE UNIQUE INDEX deposit_output ON sverka.deposit USING btree (book, provider, provider_account, network, sverka.plain_hash(tx_hash), output_index) WHERE (state = ANY (ARRAY['credited'::text, 'final'::text]));
CREATE INDEX deposit_owner ON sverka.deposit USING btree (book, merchant_id, created_at DESC, id DESC);
CREATE INDEX deposit_person ON sverka.deposit USING btree (created_at, id) WHERE ((state = 'parked'::text) OR (flag IS NOT NULL));
CREATE INDEX deposit_uncommon ON sverka.deposit USING btree (state, id) WHERE (state = ANY (ARRAY['noticed'::text, 'confirming'::text, 'rejected'::text, 'parked'::text, 'dropped'::text, 'orphaned'::text]));
CREATE INDEX deposit_waiting ON sverka.deposit USING btree (last_read_at) WHERE (state = ANY (ARRAY['noticed'::text, 'confirming'::text]));
CREATE INDEX event_subject ON sverka.event USING btree (subject_id);
CREATE INDEX event_trace ON sverka.event USING btree (trace_id);
CREATE INDEX event_xid ON sverka.event USING btree (xid);
CREATE INDEX inbox_pending ON sverka.inbox USING btree (next_attempt_at) WHERE (status = 'pending'::text);
CREATE INDEX inbox_subject ON sverka.inbox USING btree (subject_ref);
CREATE INDEX inbox_told ON sverka.inbox USING btree (provider, endpoint, received_at, id) WHERE ((status = 'pending'::text) AND (subject_type = 'transaction'::text));
CREATE INDEX inbox_waiting ON sverka.inbox USING btree (provider, endpoint, subject_type, subject_ref) WHERE (status = ANY (ARRAY['pending'::text, 'unmatched'::text]));
CREATE INDEX inbox_waits_for ON sverka.inbox USING btree (waits_for) WHERE (status = 'unmatched'::text);
CREATE INDEX issuance_given_up ON sverka.issuance USING btree (id) WHERE ((state = 'failed'::text) AND (submitted_at IS NOT NULL));
CREATE INDEX issuance_of_test ON sverka.issuance USING btree (id) WHERE (book = 'test'::text);
CREATE INDEX issuance_person ON sverka.issuance USING btree (created_at, id) WHERE ((state = 'unknown'::text) OR (flag IS NOT NULL) OR needs_operator);
CREATE INDEX issuance_provider_ref ON sverka.issuance USING btree (provider, provider_account, provider_ref) WHERE (provider_ref IS NOT NULL);
CREATE UNIQUE INDEX issuance_settled_ref ON sverka.issuance USING btree (book, provider, provider_account, provider_ref) WHERE (state = 'active'::text);
CREATE INDEX issuance_uncommon ON sverka.issuance USING btree (state, id) WHERE (state = ANY (ARRAY['reserved'::text, 'submitted'::text, 'pending'::text, 'unknown'::text, 'failed'::text, 'found_late'::text]));
CREATE INDEX issuance_unread ON sverka.issuance USING btree (id) WHERE ((state = 'active'::text) AND (last_read_at <= settled_at));
CREATE INDEX issuance_waiting ON sverka.issuance USING btree (id) WHERE (state = ANY (ARRAY['reserved'::text, 'submitted'::text, 'pending'::text, 'unknown'::text]));
CREATE INDEX ledger_import_requested ON sverka.ledger_import USING btree (created_at) WHERE (state = 'requested'::text);
CREATE INDEX login_link_user ON sverka.login_link USING btree (user_id) WHERE (used_at IS NULL);
CREATE INDEX passkey_challenge_expires ON sverka.passkey_challenge USING btree (expires_at);
CREATE INDEX passkey_of_user ON sverka.passkey USING btree (user_id) WHERE (removed_at IS NULL);
CREATE INDEX request_resource ON sverka.request USING btree (resource_id);
CREATE INDEX session_of_user ON sverka.session USING btree (user_id) WHERE (revoked_at IS NULL);
CREATE INDEX sign_in_attempt_expires ON sverka.sign_in_attempt USING btree (expires_at);
CREATE INDEX user_identity_of ON sverka.user_identity USING btree (user_id);
CREATE UNIQUE INDEX user_identity_once ON sverka.user_identity USING btree (issuer, subject, audience) WHERE (unlinked_at IS NULL);
CREATE INDEX withdrawal_address ON sverka.withdrawal USING btree (address);
CREATE INDEX withdrawal_created ON sverka.withdrawal USING btree (created_at DESC, id DESC);
CREATE UNIQUE INDEX withdrawal_destination_once ON sverka.withdrawal_destination USING btree (book, merchant_id, network, address, COALESCE(tag, ''::text)) WHERE (removed_at IS NULL);
CREATE INDEX withdrawal_hash ON sverka.withdrawal USING btree (transaction_hash) WHERE (transaction_hash IS NOT NULL);
CREATE INDEX withdrawal_merchant ON sverka.withdrawal USING btree (book, merchant_id, created_at DESC, id DESC);
CREATE INDEX withdrawal_payout ON sverka.withdrawal USING btree (payout_ref) WHERE (payout_ref IS NOT NULL);
CREATE INDEX withdrawal_proof_of ON sverka.withdrawal_proof USING btree (withdrawal_id, created_at);
CREATE INDEX withdrawal_uncommon ON sverka.withdrawal USING btree (state, id) WHERE (state = ANY (ARRAY['requested'::text, 'approved'::text, 'submitted'::text, 'unknown'::text, 'failed'::text, 'found_late'::text, 'rejected'::text, 'cancelled'::text]));
CREATE INDEX withdrawal_waiting ON sverka.withdrawal USING btree (created_at, id) WHERE (state = ANY (ARRAY['requested'::text, 'approved'::text, 'submitted'::text, 'unknown'::text, 'found_late'::text]));

-- Views

create view ledger.account_balance as
 SELECT a.id AS account_id,
    a.book,
    a.merchant_id,
    a.customer_id,
    a.kind,
    a.ref,
    a.asset,
    a.decimals,
    a.floor,
    a.cap,
    COALESCE(h.seq, 0::bigint) AS seq,
    COALESCE(h.balance, 0::numeric) AS balance,
    h.movement_id AS last_movement_id
   FROM ledger.account a
     LEFT JOIN LATERAL ( SELECT e.seq,
            e.balance,
            e.movement_id
           FROM ledger.entry e
          WHERE e.account_id = a.id
          ORDER BY e.seq DESC
         LIMIT 1) h ON true; -- sverka_ledger_owner

create view sverka.schema_version as
 SELECT COALESCE(max("left"(name::text, 6)::integer), 0) AS version
   FROM sverka.schema_migration; -- migrator


-- Triggers

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.account FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.asset FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.entry FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.movement FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.audit FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.audit_seal FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER keep_finished BEFORE UPDATE ON sverka.balance_check FOR EACH ROW WHEN ((old.finished_at IS NOT NULL)) EXECUTE FUNCTION sverka.keep_finished_check();
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.balance_check FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.balance_conflict FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change();
CREATE TRIGGER audit_move AFTER INSERT OR UPDATE ON sverka.card FOR EACH ROW EXECUTE FUNCTION sverka.audit_move('card'); -- enabled always
CREATE TRIGGER guard_card_again BEFORE UPDATE OF state ON sverka.card FOR EACH ROW WHEN (((old.state = 'failed'::text) AND (new.state = 'pending'::text))) EXECUTE FUNCTION sverka.guard_card_again(); -- enabled always
CREATE TRIGGER guard_move BEFORE INSERT OR UPDATE ON sverka.card FOR EACH ROW EXECUTE FUNCTION sverka.guard_move('card'); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.card FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER keep_terms BEFORE UPDATE ON sverka.card FOR EACH ROW WHEN (((((((old.cardholder_id IS DISTINCT FROM new.cardholder_id) OR (old.product IS DISTINCT FROM new.product)) OR (old.asset IS DISTINCT FROM new.asset)) OR (old.provider IS DISTINCT FROM new.provider)) OR (old.provider_account IS DISTINCT FROM new.provider_account)) OR ((old.state = ANY (ARRAY['active'::text, 'frozen'::text, 'closed'::text])) AND (((old.provider_ref IS DISTINCT FROM new.provider_ref) OR (old.last4 IS DISTINCT FROM new.last4)) OR (old.expires IS DISTINCT FROM new.expires))))) EXECUTE FUNCTION sverka.refuse_new_terms(); -- enabled always
CREATE TRIGGER guard_card_change BEFORE UPDATE ON sverka.card_change FOR EACH ROW EXECUTE FUNCTION sverka.guard_card_change(); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.card_change FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.card_fee_change FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER audit_move AFTER INSERT OR UPDATE ON sverka.card_load FOR EACH ROW EXECUTE FUNCTION sverka.audit_move('load'); -- enabled always
CREATE TRIGGER guard_move BEFORE INSERT OR UPDATE ON sverka.card_load FOR EACH ROW EXECUTE FUNCTION sverka.guard_move('load'); -- enabled always
CREATE TRIGGER guard_new_load BEFORE INSERT ON sverka.card_load FOR EACH ROW EXECUTE FUNCTION sverka.guard_new_load(); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.card_load FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER keep_terms BEFORE UPDATE ON sverka.card_load FOR EACH ROW WHEN (((((((old.card_id IS DISTINCT FROM new.card_id) OR (old.asset IS DISTINCT FROM new.asset)) OR (old.amount IS DISTINCT FROM new.amount)) OR (old.provider IS DISTINCT FROM new.provider)) OR (old.provider_account IS DISTINCT FROM new.provider_account)) OR ((old.submitted_at IS DISTINCT FROM new.submitted_at) AND (old.submitted_at IS NOT NULL)))) EXECUTE FUNCTION sverka.refuse_new_terms(); -- enabled always
CREATE TRIGGER audit_move AFTER INSERT OR UPDATE ON sverka.cardholder FOR EACH ROW EXECUTE FUNCTION sverka.audit_move('cardholder'); -- enabled always
CREATE TRIGGER guard_cardholder BEFORE UPDATE ON sverka.cardholder FOR EACH ROW EXECUTE FUNCTION sverka.guard_cardholder(); -- enabled always
CREATE TRIGGER guard_move BEFORE INSERT OR UPDATE ON sverka.cardholder FOR EACH ROW EXECUTE FUNCTION sverka.guard_move('cardholder'); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.cardholder FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER guard_cardholder_key BEFORE INSERT OR DELETE OR UPDATE ON sverka.cardholder_key FOR EACH ROW EXECUTE FUNCTION sverka.guard_cardholder_key(); -- enabled always
CREATE TRIGGER keep_rows BEFORE TRUNCATE ON sverka.cardholder_key FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.cardholder_member FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.decision FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER guard_decision BEFORE INSERT ON sverka.decision FOR EACH ROW EXECUTE FUNCTION sverka.guard_decision(); -- enabled always
CREATE TRIGGER guard_withdrawal_decision BEFORE INSERT ON sverka.decision FOR EACH ROW WHEN ((new.subject_type = 'withdrawal'::text)) EXECUTE FUNCTION sverka.guard_withdrawal_decision(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.decision_outcome FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER audit_move AFTER INSERT OR UPDATE ON sverka.deposit FOR EACH ROW EXECUTE FUNCTION sverka.audit_move('deposit'); -- enabled always
CREATE TRIGGER guard_move BEFORE INSERT OR UPDATE ON sverka.deposit FOR EACH ROW EXECUTE FUNCTION sverka.guard_move('deposit'); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.deposit FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER keep_terms BEFORE UPDATE OF customer_id, deposit_address_id, kind, network, reported_asset, provider, provider_account, provider_ref, settlement_mode, settlement_asset ON sverka.deposit FOR EACH ROW WHEN ((((((((((old.customer_id IS DISTINCT FROM new.customer_id) OR (old.deposit_address_id IS DISTINCT FROM new.deposit_address_id)) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.provider IS DISTINCT FROM new.provider)) OR (old.provider_account IS DISTINCT FROM new.provider_account)) OR (old.provider_ref IS DISTINCT FROM new.provider_ref)) OR (old.settlement_mode IS DISTINCT FROM new.settlement_mode)) OR (old.settlement_asset IS DISTINCT FROM new.settlement_asset)) OR ((old.state = ANY (ARRAY['credited'::text, 'final'::text])) AND ((old.network IS DISTINCT FROM new.network) OR (old.reported_asset IS DISTINCT FROM new.reported_asset))))) EXECUTE FUNCTION sverka.refuse_new_terms(); -- enabled always
CREATE TRIGGER audit_move AFTER INSERT OR UPDATE ON sverka.deposit_address FOR EACH ROW EXECUTE FUNCTION sverka.audit_move('deposit_address'); -- enabled always
CREATE TRIGGER guard_move BEFORE INSERT OR UPDATE ON sverka.deposit_address FOR EACH ROW EXECUTE FUNCTION sverka.guard_move('deposit_address'); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.deposit_address FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER keep_terms BEFORE UPDATE OF customer_id, network, asset, settlement_mode, settlement_asset, provider, provider_account, provider_ref, address, tag ON sverka.deposit_address FOR EACH ROW WHEN (((((((((old.customer_id IS DISTINCT FROM new.customer_id) OR (old.network IS DISTINCT FROM new.network)) OR (old.asset IS DISTINCT FROM new.asset)) OR (old.settlement_mode IS DISTINCT FROM new.settlement_mode)) OR (old.settlement_asset IS DISTINCT FROM new.settlement_asset)) OR (old.provider IS DISTINCT FROM new.provider)) OR (old.provider_account IS DISTINCT FROM new.provider_account)) OR ((old.address IS NOT NULL) AND (((old.provider_ref IS DISTINCT FROM new.provider_ref) OR (old.address IS DISTINCT FROM new.address)) OR (old.tag IS DISTINCT FROM new.tag))))) EXECUTE FUNCTION sverka.refuse_new_terms(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.event FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.event_seal FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER audit_move AFTER INSERT OR UPDATE ON sverka.issuance FOR EACH ROW EXECUTE FUNCTION sverka.audit_move('issuance'); -- enabled always
CREATE TRIGGER guard_issue_again BEFORE INSERT ON sverka.issuance FOR EACH ROW EXECUTE FUNCTION sverka.guard_issue_again(); -- enabled always
CREATE TRIGGER guard_move BEFORE INSERT OR UPDATE ON sverka.issuance FOR EACH ROW EXECUTE FUNCTION sverka.guard_move('issuance'); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.issuance FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER keep_terms BEFORE UPDATE ON sverka.issuance FOR EACH ROW WHEN ((((((((((((old.card_id IS DISTINCT FROM new.card_id) OR (old.generation IS DISTINCT FROM new.generation)) OR (old.cardholder_id IS DISTINCT FROM new.cardholder_id)) OR (old.cardholder_revision IS DISTINCT FROM new.cardholder_revision)) OR (old.product IS DISTINCT FROM new.product)) OR (old.asset IS DISTINCT FROM new.asset)) OR (old.load_amount IS DISTINCT FROM new.load_amount)) OR (old.fee_amount IS DISTINCT FROM new.fee_amount)) OR (old.provider IS DISTINCT FROM new.provider)) OR (old.provider_account IS DISTINCT FROM new.provider_account)) OR ((old.submitted_at IS DISTINCT FROM new.submitted_at) AND (old.submitted_at IS NOT NULL)))) EXECUTE FUNCTION sverka.refuse_new_terms(); -- enabled always
CREATE TRIGGER keep_posted BEFORE UPDATE ON sverka.ledger_import FOR EACH ROW WHEN ((old.state = 'posted'::text)) EXECUTE FUNCTION sverka.keep_posted(); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.ledger_import FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.movement_seal FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.request FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER own_person BEFORE INSERT ON sverka."user" FOR EACH ROW EXECUTE FUNCTION sverka.own_person();
CREATE TRIGGER audit_move AFTER INSERT OR UPDATE ON sverka.withdrawal FOR EACH ROW EXECUTE FUNCTION sverka.audit_move('withdrawal'); -- enabled always
CREATE TRIGGER guard_move BEFORE INSERT OR UPDATE ON sverka.withdrawal FOR EACH ROW EXECUTE FUNCTION sverka.guard_move('withdrawal'); -- enabled always
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON sverka.withdrawal FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_delete(); -- enabled always
CREATE TRIGGER keep_terms BEFORE UPDATE ON sverka.withdrawal FOR EACH ROW WHEN ((((old.asset IS DISTINCT FROM new.asset) OR (old.request_key IS DISTINCT FROM new.request_key)) OR (((((((((old.amount IS DISTINCT FROM new.amount) OR (old.fee_amount IS DISTINCT FROM new.fee_amount)) OR (old.network IS DISTINCT FROM new.network)) OR (old.destination_id IS DISTINCT FROM new.destination_id)) OR (old.address IS DISTINCT FROM new.address)) OR (old.tag IS DISTINCT FROM new.tag)) OR (old.terms IS DISTINCT FROM new.terms)) OR (old.requested_by IS DISTINCT FROM new.requested_by)) AND ((old.state <> 'requested'::text) OR (new.state <> 'requested'::text) OR (new.terms <> (old.terms + 1)) OR (new.version <> (old.version + 1)))) OR ((old.route IS DISTINCT FROM new.route) AND (old.state <> 'requested'::text)) OR ((old.submitted_at IS DISTINCT FROM new.submitted_at) AND (old.submitted_at IS NOT NULL)))) EXECUTE FUNCTION sverka.refuse_new_terms(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.withdrawal_proof FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sverka.withdrawal_terms FOR EACH STATEMENT EXECUTE FUNCTION sverka.refuse_change(); -- enabled always

-- Functions

CREATE OR REPLACE FUNCTION ledger.mark_verified(accounts bigint[], seqs bigint[], balances numeric[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into ledger.verified (account_id, seq, balance)
    select x.account_id, x.seq, x.balance from unnest(accounts, seqs, balances) x(account_id, seq, balance)
      order by x.account_id
  on conflict (account_id) do update
    set seq = excluded.seq, balance = excluded.balance, checked_at = clock_timestamp()
    where verified.seq < excluded.seq;
$function$
; -- sverka_ledger_owner

CREATE OR REPLACE FUNCTION ledger.open_accounts(books text[], merchants text[], customers text[], kinds text[], refs text[], asset_codes text[])
 RETURNS bigint[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
declare
  wanted constant int := cardinality(books);
  ids bigint[];
  stranger text;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'open_accounts needs read committed, to see accounts opened meanwhile' using errcode = '25001';
  end if;
  if not coalesce(wanted between 1 and 1000 and wanted = all (array[cardinality(merchants), cardinality(customers),
      cardinality(kinds), cardinality(refs), cardinality(asset_codes)]), false) then
    raise exception 'open_accounts: six arrays of one length, 1 to 1000' using errcode = '22023';
  end if;
  select code into stranger from unnest(asset_codes) code where code not in (select a.code from ledger.asset a) limit 1;
  if found then
    raise exception 'open_accounts: asset % is not listed; add it to src/domain/assets.ts and to ledger.asset first',
      stranger using errcode = '22023';
  end if;

  -- Twice at most: what somebody else opened while the insert waited is seen by the next statement only.
  for attempt in 1..2 loop
    select array_agg(a.id order by w.at) into ids
      from unnest(books, merchants, customers, kinds, refs, asset_codes) with ordinality
             w(book, merchant_id, customer_id, kind, ref, asset, at)
      left join lateral (    -- two branches, because an index is of no use to IS NOT DISTINCT FROM
        select v.id from ledger.account v where v.book = w.book and v.merchant_id = w.merchant_id
          and v.customer_id = w.customer_id and v.kind = w.kind and v.ref = w.ref and v.asset = w.asset
        union all
        select v.id from ledger.account v where w.customer_id is null and v.book = w.book
          and v.merchant_id = w.merchant_id and v.customer_id is null and v.kind = w.kind and v.ref = w.ref
          and v.asset = w.asset) a on true;
    exit when attempt = 2 or array_position(ids, null) is null;

    insert into ledger.account (book, merchant_id, customer_id, kind, ref, asset, decimals, floor, cap)
      select w.book, w.merchant_id, w.customer_id, k.kind, w.ref, s.code, s.decimals,
             case when k.kind in ('wallet', 'hold', 'card') then 0
                  when s.decimals <= 11 then -9223372036854775808 end,
             case when k.kind = 'receivable' then 0
                  when s.decimals <= 11 then 9223372036854775807 end
        from unnest(books, merchants, customers, kinds, refs, asset_codes)
               w(book, merchant_id, customer_id, kind, ref, asset)
        join ledger.asset s on s.code = w.asset
        cross join lateral unnest(case when w.kind in ('wallet', 'receivable')
          then array['receivable', 'wallet'] else array[w.kind] end) k(kind)
        group by 1, 2, 3, 4, 5, s.code, s.decimals
        order by 1, 2, 3, 4, 5, s.code    -- in key order, so that two callers cannot wait for each other
      on conflict on constraint account_name do nothing;
  end loop;
  return ids;
end $function$
; -- sverka_ledger_owner

CREATE OR REPLACE FUNCTION ledger.post(keys bytea[], hashes bytea[], kinds text[], line_counts integer[], subject_types text[], subject_ids text[], generations integer[], compensated bytea[], refs text[], accounts bigint[], amounts numeric[], roles text[], trace text DEFAULT NULL::text, OUT outcomes text[], OUT details text[], OUT movement_ids bigint[], OUT moved numeric[])
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  if exists (select from unnest(kinds) k where k like 'withdrawal%') then
    raise exception 'a withdrawal moves through the functions that check its decision, not through ledger.post'
      using errcode = 'insufficient_privilege';
  end if;
  select p.outcomes, p.details, p.movement_ids, p.moved into post.outcomes, post.details, post.movement_ids, post.moved
    from ledger.post_any_kind(keys, hashes, kinds, line_counts, subject_types, subject_ids, generations, compensated,
      refs, accounts, amounts, roles, trace) p;
end $function$
; -- sverka_ledger_owner

CREATE OR REPLACE FUNCTION ledger.post_any_kind(keys bytea[], hashes bytea[], kinds text[], line_counts integer[], subject_types text[], subject_ids text[], generations integer[], compensated bytea[], refs text[], accounts bigint[], amounts numeric[], roles text[], trace text DEFAULT NULL::text, OUT outcomes text[], OUT details text[], OUT movement_ids bigint[], OUT moved numeric[])
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
declare
  movement_count constant int := cardinality(keys);
  line_count constant int := cardinality(accounts);
  too_large constant numeric := 1e38;
  -- Per locked account, one place in each: what it is, and its last entry, carried forward as movements are decided.
  acc_ids bigint[]; acc_books text[]; acc_merchants text[]; acc_assets text[];
  acc_floors numeric[]; acc_caps numeric[]; acc_seqs bigint[]; acc_balances numeric[];
  places int[];    -- line -> its account's place
  key_hashes bytea[];    -- movement -> the body hash that stands under its key
  repeated bigint[];    -- line of a duplicate -> the movement it repeats
  undo_keys bytea[]; undo_owners text[];    -- what may be compensated: keys, and whose they are
  sums numeric[];    -- place of an asset's first account -> sum of its legs
  new_ids bigint[] := '{}'; new_at int[] := '{}'; new_places int[] := '{}';
  written int := 0;    -- entries to write, one place in each
  w_accounts bigint[]; w_seqs bigint[]; w_movements bigint[]; w_amounts numeric[]; w_balances numeric[];
  head int; tail int := 0; p int; first_p int; sum_p int; same int;
  change numeric; asked numeric; unmet numeric;
  reason text; owing bigint; lacking bigint; new_id bigint; inserted int; found_row record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'post needs read committed: under a snapshot it would decide from old balances'
      using errcode = '25001';
  end if;
  if not coalesce(movement_count between 1 and 1000
      and movement_count = all (array[cardinality(hashes), cardinality(kinds), cardinality(line_counts),
        cardinality(subject_types), cardinality(subject_ids), cardinality(generations), cardinality(compensated),
        cardinality(refs)])
      and line_count = all (array[cardinality(amounts), cardinality(roles)])
      and line_count = (select sum(c) from unnest(line_counts) c) and 0 <= all (line_counts)
      and array_position(keys || hashes, null) is null and array_position(kinds || roles, null) is null
      and array_position(subject_types || subject_ids, null) is null
      and array_position(generations, null) is null, false) then
    raise exception 'post: the arrays do not agree in length, or hold a null that they must not'
      using errcode = '22023';
  end if;

  -- Lock every account, guards too, in id order; then read in a statement of its own: waiting for a lock does not
  -- refresh the snapshot of the statement that waits.
  perform from ledger.account a where a.id = any (accounts) order by a.id for no key update;
  select array_agg(x.id), array_agg(x.book), array_agg(x.merchant_id), array_agg(x.asset), array_agg(x.floor),
         array_agg(x.cap), array_agg(x.seq), array_agg(x.balance)
    into acc_ids, acc_books, acc_merchants, acc_assets, acc_floors, acc_caps, acc_seqs, acc_balances
    from (select a.id, a.book, a.merchant_id, a.asset, a.floor, a.cap,
                 coalesce(h.seq, 0) as seq, coalesce(h.balance, 0) as balance
            from ledger.account a
            left join lateral (select e.seq, e.balance from ledger.entry e
                                 where e.account_id = a.id order by e.seq desc limit 1) h on true
            where a.id = any (accounts) order by a.id) x;
  for j in 1..line_count loop places[j] := array_position(acc_ids, accounts[j]); end loop;

  outcomes := array_fill(null::text, array[movement_count]); details := outcomes;
  movement_ids := array_fill(null::bigint, array[movement_count]);
  moved := array_fill(null::numeric, array[line_count]);
  for found_row in select m.id, m.key, m.body_hash from ledger.movement m where m.key = any (keys) loop
    foreach same in array array_positions(keys, found_row.key) loop
      movement_ids[same] := found_row.id; key_hashes[same] := found_row.body_hash;
    end loop;
  end loop;
  if array_remove(compensated, null) <> '{}' then
    select coalesce(array_agg(m.key), '{}'), coalesce(array_agg(m.book || m.merchant_id), '{}')
      into undo_keys, undo_owners from ledger.movement m where m.key = any (compensated);
  end if;

  for i in 1..movement_count loop
    head := tail + 1; tail := tail + line_counts[i]; first_p := places[head];

    -- 1. A known key is answered before anything about the present is looked at.
    if movement_ids[i] is not null then
      outcomes[i] := case when key_hashes[i] = hashes[i] then 'duplicate' else 'conflict' end;
      if outcomes[i] = 'duplicate' then
        for j in head..tail loop repeated[j] := movement_ids[i]; end loop;
      end if;
      continue;
    end if;

    -- 2. Is the instruction sound? No balance is looked at here, so the answer never changes.
    reason := case when line_counts[i] < 2 then 'too_few_legs' when line_counts[i] > 100 then 'too_many_legs' end;
    sums := '{}';
    for j in head..tail loop
      exit when reason is not null;
      p := places[j]; change := amounts[j];
      reason := case
        when p is null then 'unknown_account'
        when acc_books[p] <> acc_books[first_p] then 'mixed_books'
        when acc_merchants[p] <> acc_merchants[first_p] then 'mixed_merchants'
        when j > head and p = any (places[head : j-1]) then 'account_twice'
        when roles[j] = 'leg' then case
          when change is null or change = 0 or change = 'NaN' or change <> trunc(change) or abs(change) >= too_large
            then 'bad_amount' end
        when change is not null then 'bad_amount'
        when roles[j] = 'draw' then case
          when j = head or acc_assets[p] <> acc_assets[places[j-1]]
            or not (roles[j-1] = 'draw' or roles[j-1] = 'leg' and amounts[j-1] < 0) then 'bad_draw' end
        when roles[j] = 'guard' then case when j = head then 'bad_guard' end
        when roles[j] = 'collect' then case
          when line_counts[i] <> 2 or roles[head] <> roles[tail] or acc_assets[p] <> acc_assets[first_p]
            or acc_floors[first_p] is null or j = tail and acc_caps[p] is null then 'bad_collect' end
        else 'bad_role' end;
      if reason is null and change is not null then
        sum_p := array_position(acc_assets, acc_assets[p]); sums[sum_p] := coalesce(sums[sum_p], 0) + change;
      end if;
    end loop;
    reason := coalesce(reason, case
      when 0 <> any (sums) then 'unbalanced'
      when compensated[i] is not null and acc_books[first_p] || acc_merchants[first_p]
        is distinct from undo_owners[array_position(undo_keys, compensated[i])] then 'bad_compensates' end);

    -- 3. What moves, from the balances as they stand now.
    owing := null; lacking := null; unmet := 0;
    for j in head..tail loop
      exit when reason is not null;
      p := places[j];
      if roles[j] = 'guard' then
        change := 0;
        if acc_balances[p] <> 0 then owing := coalesce(owing, acc_ids[p]); end if;
      elsif roles[j] = 'collect' then
        change := case when j = tail then -change else -greatest(0, least(
          acc_balances[p] - acc_floors[p], acc_caps[places[tail]] - acc_balances[places[tail]])) end;
      else
        asked := case when roles[j] = 'draw' then unmet else amounts[j] end;
        change := asked;
        if j < tail and roles[j+1] = 'draw' then    -- somebody stands below: give what is there, down to the floor
          change := greatest(asked, least(0, coalesce(acc_floors[p] - acc_balances[p], asked)));
        end if;
        unmet := asked - change;
      end if;
      moved[j] := change;
      -- Only the direction that makes it worse is refused.
      if change < 0 and acc_balances[p] + change < acc_floors[p] then
        lacking := coalesce(lacking, acc_ids[p]);
      elsif change > 0 and acc_balances[p] + change > acc_caps[p] or abs(acc_balances[p] + change) >= too_large then
        reason := 'out_of_range';
      end if;
    end loop;
    outcomes[i] := case when reason is not null then 'invalid' when owing is not null then 'guarded'
      when lacking is not null then 'insufficient'
      when roles[head] = 'collect' and moved[head] = 0 then 'nothing' else 'posted' end;
    if outcomes[i] <> 'posted' then
      details[i] := coalesce(reason, owing::text, lacking::text);
      for j in head..tail loop moved[j] := null; end loop;
      continue;
    end if;

    -- 4. Decided: carry the balances forward, and answer for the same key further down this batch.
    new_id := nextval('ledger.movement_id_seq');
    new_ids := new_ids || new_id; new_at := new_at || i; new_places := new_places || first_p;
    foreach same in array array_positions(keys, keys[i]) loop
      movement_ids[same] := new_id; key_hashes[same] := hashes[i];
    end loop;
    if undo_keys is not null then
      undo_keys := array_append(undo_keys, keys[i]);
      undo_owners := array_append(undo_owners, acc_books[first_p] || acc_merchants[first_p]);
    end if;
    for j in head..tail loop
      p := places[j]; change := moved[j];
      continue when change = 0;    -- a part of 0 leaves no entry
      acc_seqs[p] := acc_seqs[p] + 1; acc_balances[p] := acc_balances[p] + change; written := written + 1;
      w_accounts[written] := acc_ids[p]; w_seqs[written] := acc_seqs[p]; w_movements[written] := new_id;
      w_amounts[written] := change; w_balances[written] := acc_balances[p];
    end loop;
  end loop;

  if written > 0 then    -- in key order: two batches that share keys cannot wait for each other
    insert into ledger.movement (id, key, body_hash, book, merchant_id, kind, subject_type, subject_id, generation,
                                 compensates, reference, trace_id)
      overriding system value
      select x.id, keys[x.at], hashes[x.at], acc_books[x.place], acc_merchants[x.place], kinds[x.at],
             subject_types[x.at], subject_ids[x.at], generations[x.at], compensated[x.at], refs[x.at], trace
        from unnest(new_ids, new_at, new_places) x(id, at, place) order by keys[x.at]
      on conflict (key) do nothing;
    get diagnostics inserted = row_count;
    if inserted <> cardinality(new_ids) then    -- by a movement that shares no account with ours: no lock held us back
      raise exception 'post: a key was taken meanwhile; roll back and post again' using errcode = '40001';
    end if;
    insert into ledger.entry (account_id, seq, movement_id, amount, balance)
      select * from unnest(w_accounts, w_seqs, w_movements, w_amounts, w_balances);
  end if;

  if repeated is not null then    -- a duplicate is answered with the split of the first time
    select array_agg(case when repeated[j] is null then moved[j] else coalesce((select e.amount
             from ledger.entry e where e.movement_id = repeated[j] and e.account_id = accounts[j]), 0) end order by j)
      into moved from generate_series(1, line_count) j;
  end if;
end $function$
; -- sverka_ledger_owner

CREATE OR REPLACE FUNCTION ledger.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the journal is append-only: % on ledger.% refused; post a new movement that compensates instead',
    tg_op, tg_table_name using errcode = 'insufficient_privilege';
end $function$
; -- sverka_ledger_owner

CREATE OR REPLACE FUNCTION sverka.add_passkey(of_user text, with_credential text, with_key bytea, with_counter bigint, with_transports text[], by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.passkey (credential_id, user_id, public_key, counter, transports)
    values (with_credential, of_user, with_key, with_counter, with_transports);
  select sverka.note_act_on_user(of_user, 'passkey_added', by_whom, trace);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.add_withdrawal_destination(of_book text, of_merchant text, by_user text, with_label text, of_network text, with_address text, with_tag text)
 RETURNS sverka.withdrawal_destination
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare made sverka.withdrawal_destination;
begin
  perform sverka.require_requester(by_user, of_merchant);
  insert into sverka.withdrawal_destination (id, book, merchant_id, label, network, address, tag, added_by, usable_from)
    select sverka.new_id('wdd'), of_book, of_merchant, with_label, of_network, with_address, with_tag, by_user,
      clock_timestamp() + p.cooling_off from sverka.withdrawal_policy p where p.book = of_book
    on conflict (book, merchant_id, network, address, coalesce(tag, '')) where removed_at is null do nothing
    returning * into made;
  if made.id is null then
    select * into made from sverka.withdrawal_destination d where d.book = of_book and d.merchant_id = of_merchant
      and d.network = of_network and d.address = with_address and coalesce(d.tag, '') = coalesce(with_tag, '')
      and d.removed_at is null;
  end if;
  return made;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.add_withdrawal_proof(the_withdrawal text, by_user text, with_hash text, with_name text, with_type text, with_file bytea)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare proof text := sverka.new_id('wdp');
begin
  if not exists (select from sverka."user" u join sverka.decision_right r on r.role = any (u.roles)
      where u.id = by_user and u.disabled_at is null and (r.subject_type, r.choice) = ('withdrawal', 'complete')) then
    raise exception 'this person adds no proof' using errcode = 'SV403';
  end if;
  insert into sverka.withdrawal_proof
    (id, withdrawal_id, transaction_hash, file_name, file_type, file, file_hash, added_by)
    values (proof, the_withdrawal, with_hash, with_name, with_type, with_file, sha256(with_file), by_user);
  return proof;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.amount_json(minor numeric, of_asset text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select jsonb_build_object('amount', round(minor / power(10::numeric, a.decimals::numeric), a.decimals)::text,
      'asset', a.code)
    from ledger.asset a where a.code = of_asset;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.apply_withdrawal_decision(the_withdrawal text, transfer jsonb, trace text)
 RETURNS sverka.withdrawal
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare before sverka.withdrawal; w sverka.withdrawal; d sverka.decision; proof sverka.withdrawal_proof; why text;
  operations text[] := '{}'; detail text;
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  if not found then raise exception 'there is no withdrawal %', the_withdrawal using errcode = 'P0002'; end if;
  select * into d from sverka.decision x where x.subject_type = 'withdrawal' and x.subject_id = before.id
    and not exists (select from sverka.decision_outcome o where o.decision_id = x.id) order by x.created_at, x.id limit 1;
  if not found then return null; end if;
  w := before;
  w.actor := 'user:' || d.user_id; w.trace_id := coalesce(d.trace_id, trace); w.needs_operator := false;
  detail := d.choice;
  why := case
    when d.seen_hash <> sverka.withdrawal_hash(before) then 'what was seen has changed'
    when not exists (select from sverka."user" u join sverka.decision_right r on r.role = any (u.roles)
      where u.id = d.user_id and u.disabled_at is null and (r.subject_type, r.choice) = ('withdrawal', d.choice))
      then 'this person may not decide it any more' end;
  if why is null then
    case d.choice
      when 'approve' then
        why := case
          when before.state <> 'requested' then 'it is not asked for any more'
          when before.expires_at <= clock_timestamp() then 'the request has expired'
          when not exists (select from sverka.withdrawal_offer o where o.book = w.book and o.network = w.network
            and o.asset = w.asset and d.argument = any (o.routes)) then 'it cannot be paid out that way'
          when before.route <> d.argument then 'the first approval is of another way to pay'
          when exists (select from sverka.decision e join sverka.decision_outcome o on o.decision_id = e.id
            join sverka."user" u on u.id = e.user_id join sverka."user" v on v.id = d.user_id
            where e.subject_type = 'withdrawal' and e.subject_id = w.id and e.choice = 'approve'
              and e.seen_hash = d.seen_hash and o.outcome = 'applied' and u.person = v.person)
            then 'this person has approved it already' end;
        w.route := d.argument;
        if why is null and sverka.withdrawal_approvals(w, d.id) = 0 then why := 'this person may not approve it'; end if;
        if why is null and sverka.withdrawal_approvals(w, d.id) >= sverka.withdrawal_approvals_needed(w) then
          w.state := 'approved'; w.reason := null; w.approvals_needed := sverka.withdrawal_approvals_needed(w);
        else
          detail := 'approve: the first of two';
        end if;
      when 'reject' then
        if before.state <> 'requested' then why := 'it is not asked for any more'; end if;
        w.state := 'rejected'; w.reason := d.reason; operations := array['release'];
      when 'cancel' then
        if before.state <> 'approved' then why := 'it is paid out already'; end if;
        w.state := 'cancelled'; w.reason := d.reason; operations := array['release'];
      when 'pay' then
        why := case when before.state <> 'approved' then 'it is not approved, or paid out already'
          when before.route <> 'manual' then 'the custodian pays it' else sverka.approval_missing(before) end;
        w.state := 'submitted'; w.submitted_by := w.actor; w.submitted_at := clock_timestamp(); w.reason := null;
      when 'complete' then
        select * into proof from sverka.withdrawal_proof p where p.id = d.argument and p.withdrawal_id = w.id;
        why := case
          when proof.id is null then 'there is no such proof'
          when not (before.state = 'unknown' or before.state = 'submitted' and before.route = 'manual')
            then 'it does not wait for a proof' else sverka.approval_missing(before) end;
        if why is null then
          w.transaction_hash := proof.transaction_hash; w.proof_id := proof.id;
          if proof.transaction_hash is not null and not sverka.is_that_payout(w, transfer) then
            why := 'the transaction is not this payout';
            w.flag := 'proof_mismatch'; w.needs_operator := true;
          else
            w.state := 'completed'; w.flag := null; w.reason := null; operations := array['settle', 'fee'];
          end if;
        end if;
      when 'fail' then
        why := case
          when not (before.state = 'unknown' or before.state = 'submitted' and before.route = 'manual')
            then 'it does not wait for that'
          when before.flag is not null then 'what was paid has to be cleared up first'
          when before.state = 'unknown' and before.payout_ref is not null then 'the custodian shows its payout' end;
        w.state := 'failed'; w.reason := 'declared_failed'; operations := array['release'];
      else raise exception 'no decision %', d.choice using errcode = '22023';
    end case;
  end if;
  if why is not null then
    if w.flag is distinct from before.flag then
      before.flag := w.flag; before.needs_operator := true;
      perform sverka.raise_alert('withdrawal:' || w.id, 'proof_mismatch', w.book, 'withdrawal', w.id,
        'The proof of a payout is not what was approved: compare the two, and complete it with the right one.', trace);
    end if;
    w := before;
    operations := '{}';
  elsif w.state <> before.state then
    perform sverka.resolve_alert('withdrawal:' || w.id);
  end if;
  w := sverka.move_withdrawal(before, w, operations);
  insert into sverka.decision_outcome (decision_id, outcome, detail, trace_id)
    values (d.id, case when why is null then 'applied' else 'void' end, coalesce(why, detail), trace);
  return w;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.apply_withdrawal_payout(the_withdrawal text, ticket bigint, payout jsonb, transfer jsonb, declined text, needs_person boolean, trace text)
 RETURNS sverka.withdrawal
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare before sverka.withdrawal; w sverka.withdrawal; operations text[] := '{}'; said text := payout->>'status';
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  if ticket <= before.applied_ticket or before.route is distinct from 'custody'
      or before.state not in ('submitted', 'unknown', 'failed') then
    return before;
  end if;
  w := before;
  w.actor := 'worker:custody'; w.trace_id := trace;
  w.applied_ticket := nextval('sverka.read_ticket');
  if payout is not null then
    w.payout_ref := payout->>'id'; w.payout_status := said;
    w.transaction_hash := coalesce(payout->>'tx_hash', w.transaction_hash);
    w.payout_fee_asset := payout->>'fee_asset'; w.payout_fee_amount := (payout->>'fee_amount')::numeric;
  end if;
  if before.state = 'failed' then
    -- Given back, and paid after all: taken back, for ever once.
    if said in ('broadcast', 'completed') then
      w.state := 'found_late'; w.reason := 'paid_after_failure'; w.needs_operator := true;
      operations := array['take_back', 'fee'];
      perform sverka.raise_alert('withdrawal:' || w.id, 'found_late', w.book, 'withdrawal', w.id,
        'A payout turned up after its money was given back; it was taken back. Ask the custodian how that came.', trace);
    elsif payout is null or said = 'failed' then
      return before;
    end if;
  elsif declined is not null then
    if before.state = 'submitted' and before.payout_ref is null then
      w.state := 'failed'; w.reason := declined; operations := array['release'];
    end if;
  elsif said = 'failed' then
    w.state := 'failed'; w.reason := 'payout_failed'; w.needs_operator := false; operations := array['release'];
  elsif said = 'completed' and transfer is not null then
    if sverka.is_that_payout(w, transfer) then
      if sverka.approval_missing(before) is not null then
        raise exception 'withdrawal %: its approvals do not stand any more', w.id using errcode = 'insufficient_privilege';
      end if;
      w.state := 'completed'; w.reason := null; w.flag := null; w.needs_operator := false;
      operations := array['settle', 'fee'];
    else
      w.flag := 'payout_mismatch'; w.needs_operator := true;
      perform sverka.raise_alert('withdrawal:' || w.id, 'payout_mismatch', w.book, 'withdrawal', w.id,
        'What the custodian paid is not what was approved: compare the two with him; its money stays held.', trace);
    end if;
  elsif needs_person and not before.needs_operator then
    w.needs_operator := true;
    perform sverka.raise_alert('withdrawal:' || w.id, 'outcome_unknown', w.book, 'withdrawal', w.id,
      'It is not known whether the custodian paid: look there by this id, then complete it with proof or declare it '
      || 'failed in the console.', trace);
  end if;
  if w.state <> before.state and w.state in ('completed', 'failed') then
    perform sverka.resolve_alert('withdrawal:' || w.id);
  end if;
  return sverka.move_withdrawal(before, w, operations);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.approval_missing(w sverka.withdrawal)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case when w.approvals_needed is null or sverka.withdrawal_approvals(w, null) < w.approvals_needed
    then 'its approvals do not stand any more' end;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.ask_balance_check(of_source integer, why text, within interval)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update sverka.balance_source s set asked = why, next_check_at = least(s.next_check_at, clock_timestamp() + within)
    where s.id = of_source and (s.asked is distinct from 'operator' or why = 'operator');
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.assign_balance_source(of_book text, of_provider text, of_account text, to_merchant text, by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare before sverka.balance_source;
begin
  before := sverka.lock_balance_source(of_book, of_provider, of_account);
  if before.merchant_id is not distinct from to_merchant then return; end if;
  update sverka.balance_source s set merchant_id = to_merchant where s.id = before.id;
  perform sverka.note_act('balance_source', before.key, to_merchant, before.merchant_id,
    coalesce(to_merchant, 'nobody'), 'source_assigned', by_whom, trace, of_book);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.audit_bytes(a sverka.audit)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "TimeZone" TO 'UTC'
AS $function$
  select convert_to(jsonb_build_array(a.id, a.book, a.merchant_id, a.subject_type, a.subject_id, a.from_state,
    a.to_state, a.version, a.actor, a.reason, a.trace_id, a.recorded_at)::text, 'UTF8');
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.audit_move()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare origin text := case when tg_op = 'UPDATE' then old.state end;
begin
  if origin is distinct from new.state then
    insert into sverka.audit
      (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
    values (new.book, new.merchant_id, tg_argv[0], new.id, origin, new.state, new.version,
      new.actor, new.reason, new.trace_id);
  end if;
  return null;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.begin_passkey(with_token bytea, with_challenge bytea, with_seen bytea)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  delete from sverka.passkey_challenge where expires_at < clock_timestamp();
  insert into sverka.passkey_challenge (challenge, session_hash, seen_hash, expires_at)
    values (with_challenge, with_token, with_seen, clock_timestamp() + interval '5 minutes');
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.begin_sign_in(with_state bytea, with_browser bytea, for_audience text, with_nonce text, with_verifier text, with_next text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  delete from sverka.sign_in_attempt where expires_at < clock_timestamp();
  insert into sverka.sign_in_attempt (state_hash, browser_hash, audience, nonce, verifier, next, expires_at)
    values (with_state, with_browser, for_audience, with_nonce, with_verifier, with_next,
      clock_timestamp() + interval '10 minutes');
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.breaker_admit(of_name text, caller text, lease interval, OUT verdict text, OUT wait_ms integer)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare b sverka.breaker; t constant timestamptz := clock_timestamp();
begin
  wait_ms := 0; verdict := 'pass';
  select * into b from sverka.breaker where name = of_name;
  if not found or b.state = 'closed' then return; end if;
  -- Whoever moves the row first has the probe; the others wait for its outcome, or for the end of its lease.
  update sverka.breaker set state = 'half_open', probe = caller, probe_until = t + lease, changed_at = t
    where name = of_name and (state = 'open' and open_until <= t or state = 'half_open' and probe_until <= t);
  if found then verdict := 'probe'; return; end if;
  select * into b from sverka.breaker where name = of_name;
  if b.state = 'closed' then return; end if;
  verdict := 'open';
  wait_ms := greatest(1, ceil(extract(epoch from
    case b.state when 'open' then b.open_until else b.probe_until end - clock_timestamp()) * 1000));
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.breaker_failed(of_name text, caller text, failures_max integer, in_window interval, open_for interval)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare b sverka.breaker; t timestamptz; recent timestamptz[];
begin
  insert into sverka.breaker (name) values (of_name) on conflict do nothing;
  select * into b from sverka.breaker where name = of_name for no key update;
  t := clock_timestamp();
  -- What began before it opened, or whose lease another caller has taken over, says nothing new.
  if b.state = 'open' or b.state = 'half_open' and b.probe is distinct from caller then return false; end if;
  recent := array(select f from unnest(b.failed_at) f where f > t - in_window order by f) || t;
  if b.state = 'half_open' or cardinality(recent) >= failures_max then
    update sverka.breaker set state = 'open', failed_at = '{}', open_until = t + open_for, probe = null,
      probe_until = null, changed_at = t where name = of_name;
    return b.state = 'closed';
  end if;
  update sverka.breaker set failed_at = recent where name = of_name;
  return false;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.breaker_recovered(of_name text, caller text)
 RETURNS boolean
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
  with closed as (
    update sverka.breaker set state = 'closed', failed_at = '{}', open_until = null, probe = null, probe_until = null,
      changed_at = clock_timestamp() where name = of_name and state = 'half_open' and probe = caller returning 1)
  select exists (select from closed);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.bury(letter text, of_inbox text, with_reason text, with_attempts integer, with_trace text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with parked as (
    update sverka.inbox set status = 'parked', reason = with_reason where id = of_inbox returning id, book)
  insert into sverka.dead_letter as l (id, inbox_id, book, reason, attempts, trace_id)
    select letter, p.id, p.book, with_reason, with_attempts, with_trace from parked p
    on conflict (inbox_id) do update set reason = excluded.reason, attempts = l.attempts + excluded.attempts,
      trace_id = excluded.trace_id, closed_at = null, closed_how = null;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.cancel_withdrawal(the_withdrawal text, of_book text, of_merchant text, by_user text, seen_version integer, trace text, OUT answer text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare before sverka.withdrawal; w sverka.withdrawal;
begin
  perform sverka.require_requester(by_user, of_merchant);
  select * into before from sverka.withdrawal x
    where x.id = the_withdrawal and x.book = of_book and x.merchant_id = of_merchant for no key update;
  if not found then answer := 'not_found'; return; end if;
  if before.state <> 'requested' or before.version <> seen_version
      or sverka.withdrawal_is_being_decided(before.id) then
    answer := 'stale';
    return;
  end if;
  w := before;
  w.state := 'cancelled'; w.reason := 'by_merchant'; w.actor := 'user:' || by_user; w.trace_id := trace;
  perform sverka.move_withdrawal(before, w, array['release']);
  answer := 'cancelled';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.change_user(before sverka."user", act text, by_whom text, trace text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare is_now text; was text := sverka.standing_of(before);
begin
  select sverka.standing_of(u) into is_now from sverka."user" u where u.id = before.id;
  if is_now <> was then
    perform sverka.note_act('user', before.id, before.merchant_id, was, is_now, act, by_whom, trace);
  end if;
  return is_now is not null;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.claim_withdrawals(most integer, grace_ms double precision, lease_ms double precision, stranded_ms double precision)
 RETURNS TABLE(id text, book text, merchant_id text)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with due as (
    select w.id from sverka.withdrawal w
      where w.state in ('requested', 'approved', 'submitted', 'unknown')
        and w.created_at < clock_timestamp() - grace_ms * interval '1 millisecond'
        and (w.swept_at is null
          or w.swept_at < clock_timestamp() - stranded_ms * interval '1 millisecond'
          or w.swept_at < clock_timestamp() - lease_ms * interval '1 millisecond' and exists (
            select from sverka.decision d where d.subject_type = 'withdrawal' and d.subject_id = w.id
              and d.created_at < clock_timestamp() - grace_ms * interval '1 millisecond'
              and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)))
      order by w.swept_at nulls first, w.id limit most for no key update skip locked)
  update sverka.withdrawal w set swept_at = clock_timestamp() from due where w.id = due.id
    returning w.id, w.book, w.merchant_id;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.close_applied_dead_letters()
 RETURNS SETOF text
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update sverka.dead_letter l set closed_at = clock_timestamp(), closed_how = 'applied'
    from sverka.inbox i where i.id = l.inbox_id and l.closed_at is null and i.status = 'done' returning l.inbox_id;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.close_decision(of_decision text, with_outcome text, with_detail text, with_trace text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.decision_outcome (decision_id, outcome, detail, trace_id)
    values (of_decision, with_outcome, with_detail, with_trace);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.create_api_key(new_id text, of_merchant text, of_book text, with_access text, with_hash bytea, by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.api_key (id, merchant_id, book, access, hash)
    values (new_id, of_merchant, of_book, with_access, with_hash);
  select sverka.note_act('api_key', new_id, of_merchant, null, with_access, 'key_created', by_whom, trace, of_book);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.create_cardholder(new_id text, of_book text, of_merchant text, initials text[], new_country text, new_reference text, with_key_id text, with_wrapped bytea, members text[], sealed bytea[], request_id text, request_key text, request_method text, request_path text, request_fingerprint bytea, trace text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform pg_advisory_xact_lock(hashtextextended(request_id, 0));
  perform from sverka.request r where r.id = request_id;
  if found then return false; end if;
  if members is distinct from array['first_name', 'last_name', 'birth_date', 'country', 'document'] then
    raise exception 'a new cardholder needs each member of the identity once' using errcode = 'check_violation';
  end if;
  insert into sverka.request
    (id, book, merchant_id, key, method, path, fingerprint, resource_type, resource_id, made, trace_id)
  values (request_id, of_book, of_merchant, request_key, request_method, request_path, request_fingerprint,
    'cardholder', new_id, true, trace);
  insert into sverka.cardholder
    (id, book, merchant_id, first_initial, last_initial, country, reference, state, actor, trace_id)
  values (new_id, of_book, of_merchant, initials[1], initials[2], new_country, new_reference, 'active',
    'merchant:' || of_merchant, trace);
  insert into sverka.cardholder_key (cardholder_id, revision, key_id, wrapped, fingerprint)
  values (new_id, 1, with_key_id, with_wrapped, request_fingerprint);
  insert into sverka.cardholder_member (cardholder_id, revision, member, sealed)
  select new_id, 1, m.member, m.sealed from unnest(members, sealed) as m(member, sealed);
  return true;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.create_login_link(of_login text, with_hash bytea, valid_for interval, by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare person text;
begin
  update sverka.login_link l set used_at = clock_timestamp() from sverka."user" u
    where u.login = of_login and l.user_id = u.id and l.used_at is null;
  select u.id into person from sverka."user" u where u.login = of_login and u.disabled_at is null;
  if person is null then return false; end if;
  insert into sverka.login_link (token_hash, user_id, expires_at)
    values (with_hash, person, clock_timestamp() + valid_for);
  perform sverka.note_act_on_user(person, 'link_made', by_whom, trace);
  return true;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.create_merchant(new_id text, new_name text, by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.merchant (id, name) values (new_id, new_name);
  select sverka.note_act('merchant', new_id, new_id, null, 'active', 'merchant_created', by_whom, trace);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.create_user(new_id text, new_login text, of_merchant text, with_roles text[], by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka."user" (id, login, merchant_id, roles) values (new_id, new_login, of_merchant, with_roles);
  select sverka.note_act('user', u.id, of_merchant, null, sverka.standing_of(u), 'user_created', by_whom, trace)
    from sverka."user" u where u.id = new_id;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.decide_dead_letter(letter text, with_choice text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if num_nulls(letter, with_choice) > 0 then return; end if;
  if not exists (
    select from sverka.decision d
      where (d.subject_type, d.subject_id, d.choice) = ('dead_letter', letter, with_choice)
        and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)) then
    raise exception 'nobody has decided to % this dead letter', with_choice using errcode = 'insufficient_privilege';
  end if;
  if with_choice = 'replay' then
    update sverka.inbox set status = 'pending', attempts = 0, armed = armed + 1, next_attempt_at = clock_timestamp()
      where id = (select inbox_id from sverka.dead_letter where id = letter);
    update sverka.dead_letter set replays = replays + 1 where id = letter;
  else
    update sverka.dead_letter set closed_at = clock_timestamp(), closed_how = 'abandoned'
      where id = letter and closed_at is null;
  end if;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.edit_withdrawal(the_withdrawal text, of_book text, of_merchant text, by_user text, seen_version integer, of_amount numeric, seen_fee numeric, the_destination text, with_reference text, trace text, OUT answer text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare before sverka.withdrawal; w sverka.withdrawal; d sverka.withdrawal_destination; offered sverka.withdrawal_offer;
  refused text;
begin
  perform sverka.require_requester(by_user, of_merchant);
  select * into before from sverka.withdrawal x
    where x.id = the_withdrawal and x.book = of_book and x.merchant_id = of_merchant for no key update;
  if not found then answer := 'not_found'; return; end if;
  if before.state <> 'requested' or before.version <> seen_version or before.expires_at <= clock_timestamp()
      or sverka.withdrawal_is_being_decided(before.id) then
    answer := 'stale';
    return;
  end if;
  answer := sverka.withdrawal_refusal(of_book, of_merchant, before.asset, of_amount, the_destination);
  if answer is not null then return; end if;
  select * into d from sverka.withdrawal_destination x where x.id = the_destination;
  select * into offered from sverka.withdrawal_offer o
    where o.book = of_book and o.network = d.network and o.asset = before.asset;
  if offered.fee_amount is distinct from seen_fee then answer := 'fee_changed'; return; end if;
  begin
    update sverka.withdrawal x set amount = of_amount, fee_amount = offered.fee_amount, network = d.network,
        destination_id = d.id, address = d.address, tag = d.tag, reference = with_reference, terms = x.terms + 1,
        version = x.version + 1, requested_by = by_user, route = null, actor = 'user:' || by_user, trace_id = trace
      where x.id = before.id returning * into w;
    update sverka.withdrawal x set movement_ids = x.movement_ids || array[
        sverka.encode_id('mov', sverka.withdrawal_key(before, 'release')),
        sverka.encode_id('mov', sverka.withdrawal_key(w, 'hold'))]
      where x.id = w.id returning * into w;
    insert into sverka.withdrawal_terms (withdrawal_id, terms, amount, fee_amount, network, address, tag, requested_by)
      values (w.id, w.terms, w.amount, w.fee_amount, w.network, w.address, w.tag, by_user);
    insert into sverka.audit
      (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
      values (w.book, w.merchant_id, 'withdrawal', w.id, w.state, w.state, w.version, w.actor, 'edited', trace);
    before.trace_id := trace;
    refused := sverka.post_withdrawal(array[before, w], array['release', 'hold']);
    if refused is not null then raise exception 'refused' using errcode = 'SV001'; end if;
  exception when sqlstate 'SV001' then
    answer := case refused when 'guarded' then 'receivable_open' when 'insufficient' then 'insufficient_funds'
      else refused end;
    return;
  end;
  answer := 'edited';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.encode_id(prefix text, bytes bytea)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select prefix || '_' || string_agg(
      substr('0123456789abcdefghjkmnpqrstvwxyz', substring(b.bits from 5 * n + 1 for 5)::bit(5)::int + 1, 1), ''
      order by n)
    from (select B'00' || ('x' || encode(substring(bytes from 1 for 16), 'hex'))::bit(128) as bits) b,
      generate_series(0, 25) n
    group by b.bits;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.erase_cardholder(the_id text, of_book text, of_merchant text, trace text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare holder sverka.cardholder;
begin
  select * into holder from sverka.cardholder c
    where c.id = the_id and c.book = of_book and c.merchant_id = of_merchant for no key update;
  if not found then return false; end if;
  if holder.state = 'erased' then return true; end if;
  update sverka.cardholder set state = 'erased', version = version + 1, first_initial = null, last_initial = null,
    actor = 'merchant:' || of_merchant, trace_id = trace
  where id = the_id;
  delete from sverka.cardholder_key where cardholder_id = the_id;
  return true;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.expire_withdrawal(the_withdrawal text, trace text)
 RETURNS sverka.withdrawal
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare before sverka.withdrawal; w sverka.withdrawal;
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  if before.state <> 'requested' or before.expires_at > clock_timestamp()
      or sverka.withdrawal_is_being_decided(before.id) then
    return before;
  end if;
  w := before;
  w.state := 'cancelled'; w.reason := 'expired'; w.actor := 'worker:withdrawal'; w.trace_id := trace;
  perform sverka.resolve_alert('withdrawal:' || w.id);
  return sverka.move_withdrawal(before, w, array['release']);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.finish_ledger_import(of_hash bytea, with_state text, with_problems jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare posted int;
begin
  select count(*) into posted from ledger.movement m
    where m.xid = pg_current_xact_id() and m.subject_type = 'ledger_import' and m.subject_id = encode(of_hash, 'hex');
  if exists (select from sverka.ledger_import i where i.file_hash = of_hash
      and posted <> case with_state when 'posted' then jsonb_array_length(i.lines) else 0 end) then
    raise exception 'a file that posted % movements now cannot be %', posted, with_state
      using errcode = 'insufficient_privilege';
  end if;
  update sverka.ledger_import set state = with_state, problems = with_problems, finished_at = clock_timestamp()
    where file_hash = of_hash and state = 'requested';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_card_again()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if not exists (select from sverka.issuance i where i.card_id = new.id and i.state = 'reserved') then
    raise exception 'card %: nothing issues it again', new.id using errcode = 'check_violation';
  end if;
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_card_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if (old.card_id, old.number, old.book, old.merchant_id, old.kind, old.request_id, old.created_at) is distinct from
     (new.card_id, new.number, new.book, new.merchant_id, new.kind, new.request_id, new.created_at)
     or old.outcome is not null then
    raise exception 'card_change % of %: what was decided, and how it ended, never changes', old.number, old.card_id
      using errcode = 'check_violation';
  end if;
  -- The issuer hears of one at a time, in their order.
  if new.submitted_at is not null and old.submitted_at is null and exists (select from sverka.card_change c
      where c.card_id = new.card_id and c.number < new.number and c.outcome is null) then
    raise exception 'card_change % of %: an older one is not done', new.number, new.card_id
      using errcode = 'check_violation';
  end if;
  new.touched_at := clock_timestamp();
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_cardholder()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if old.state = 'erased' then
    raise exception 'cardholder % is erased', old.id using errcode = 'check_violation';
  end if;
  if new.revision not in (old.revision, old.revision + 1) then
    raise exception 'cardholder %: revision % cannot follow %', old.id, new.revision, old.revision
      using errcode = 'check_violation';
  end if;
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_cardholder_key()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare holder text := (select c.state from sverka.cardholder c
  where c.id = case when tg_op = 'INSERT' then new.cardholder_id else old.cardholder_id end);
begin
  if tg_op = 'INSERT' and holder = 'active' then return new; end if;
  if tg_op = 'DELETE' and holder = 'erased' then return old; end if;
  raise exception 'keys of a cardholder who is %: % refused', holder, tg_op using errcode = 'insufficient_privilege';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_decision()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  -- What is missing is refused by its column.
  if num_nulls(new.user_id, new.subject_type, new.choice) > 0 then return new; end if;
  if not exists (
    select from sverka."user" u join sverka.decision_right r on r.role = any (u.roles)
      where u.id = new.user_id and u.disabled_at is null
        and r.subject_type = new.subject_type and r.choice = new.choice) then
    raise exception 'this person may not decide this on a %', new.subject_type using errcode = 'insufficient_privilege';
  end if;
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_issue_again()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if new.generation > 0 and not exists (
    select from sverka.issuance before
      join sverka.decision d on d.subject_type = 'issuance' and d.subject_id = before.id and d.choice = 'issue_again'
        and new.actor = 'user:' || d.user_id
      where before.card_id = new.card_id and before.generation = new.generation - 1
        and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)) then
    raise exception 'issuance %: a card is issued again only by a person''s decision', new.id
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_move()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare origin text := case when tg_op = 'UPDATE' then old.state end; legal sverka.state_move;
begin
  new.updated_at := clock_timestamp();
  if tg_op = 'UPDATE' then
    if (new.id, new.book, new.merchant_id, new.created_at) is distinct from
       (old.id, old.book, old.merchant_id, old.created_at) then
      raise exception '% %: identity and owner never change', tg_argv[0], old.id using errcode = 'check_violation';
    end if;
    if new.state = old.state then
      if new.version not in (old.version, old.version + 1) then
        raise exception '% %: version % cannot follow %', tg_argv[0], old.id, new.version, old.version
          using errcode = 'check_violation';
      end if;
      return new;
    end if;
  end if;
  select * into legal from sverka.state_move m
    where m.subject_type = tg_argv[0] and m.from_state is not distinct from origin and m.to_state = new.state;
  if not found then
    raise exception '% %: no move from % to %', tg_argv[0], new.id, coalesce(origin, 'birth'), new.state
      using errcode = 'check_violation';
  end if;
  if legal.by_decision and not exists (
    select from sverka.decision d
      join sverka.decision_move m on (m.subject_type, m.choice) = (d.subject_type, d.choice)
        and (m.from_state, m.to_state) = (origin, new.state)
      where d.subject_type = tg_argv[0] and d.subject_id = new.id and new.actor = 'user:' || d.user_id
        and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)) then
    raise exception '% %: from % to % only by a person''s decision to do that', tg_argv[0], new.id, origin, new.state
      using errcode = 'insufficient_privilege';
  end if;
  if new.version <> coalesce(case when tg_op = 'UPDATE' then old.version end, 0) + 1 then
    raise exception '% %: a move needs the next version', tg_argv[0], new.id using errcode = 'check_violation';
  end if;
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_new_load()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if not exists (select from sverka.card c where c.id = new.card_id and c.state = 'active' and c.book = new.book
      and c.merchant_id = new.merchant_id and c.asset = new.asset and c.provider = new.provider
      and c.provider_account = new.provider_account) then
    raise exception 'load %: card % is not active, or is another one''s', new.id, new.card_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.guard_withdrawal_decision()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if exists (select from sverka.withdrawal_terms t join sverka."user" asked on asked.id = t.requested_by
      join sverka."user" decides on decides.id = new.user_id
      where t.withdrawal_id = new.subject_id and asked.person = decides.person) then
    raise exception 'this person asked for the withdrawal' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.hash_parts(parts text[])
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sha256(coalesce(string_agg(int4send(octet_length(p.bytes)) || p.bytes, ''::bytea order by p.place), ''))
    from (select convert_to(part, 'UTF8') as bytes, place from unnest(parts) with ordinality x(part, place)) p;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.inbox_accept(ids text[], providers text[], endpoints text[], books text[], delivery_ids text[], bodies bytea[], hashes bytea[], event_types text[], subject_types text[], subject_refs text[], statuses text[], reasons text[], trace_ids text[], OUT outcomes text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
begin
  -- Unique inserts in key order, so that two batches never wait for each other in a circle.
  insert into sverka.inbox (id, provider, endpoint, book, delivery_id, body, body_hash, event_type,
      subject_type, subject_ref, status, reason, trace_id)
    select distinct on (r.provider, r.endpoint, r.delivery_id) r.id, r.provider, r.endpoint, r.book, r.delivery_id,
        r.body, r.hash, r.event_type, r.subject_type, r.subject_ref, r.status, r.reason, r.trace_id
      from unnest(ids, providers, endpoints, books, delivery_ids, bodies, hashes, event_types, subject_types,
        subject_refs, statuses, reasons, trace_ids) with ordinality as r(id, provider, endpoint, book, delivery_id,
        body, hash, event_type, subject_type, subject_ref, status, reason, trace_id, place)
      order by r.provider, r.endpoint, r.delivery_id, r.place
    on conflict (provider, endpoint, delivery_id) do nothing;

  select array_agg(case when i.id = r.id then 'stored' when i.body_hash = r.hash then 'duplicate' else 'conflict' end
      order by r.place)
    into outcomes
    from unnest(ids, providers, endpoints, delivery_ids, hashes) with ordinality
        as r(id, provider, endpoint, delivery_id, hash, place)
    join sverka.inbox i using (provider, endpoint, delivery_id);

  if 'conflict' = any (outcomes) then
    insert into sverka.inbox_conflict (inbox_id, body, body_hash, trace_id)
      select i.id, bodies[n], hashes[n], trace_ids[n]
        from generate_subscripts(ids, 1) n
        join sverka.inbox i on (i.provider, i.endpoint, i.delivery_id) = (providers[n], endpoints[n], delivery_ids[n])
        where outcomes[n] = 'conflict' order by i.id
      on conflict (inbox_id, body_hash) do nothing;
    insert into sverka.inbox (id, provider, endpoint, book, delivery_id, body, body_hash, event_type,
        subject_type, subject_ref, status, trace_id)
      select ids[n], providers[n], endpoints[n], books[n], 'conflict:' || encode(hashes[n], 'hex'), '', hashes[n],
          event_types[n], subject_types[n], subject_refs[n], 'pending', trace_ids[n]
        from generate_subscripts(ids, 1) n
        where outcomes[n] = 'conflict' and subject_refs[n] is not null order by 5
      on conflict (provider, endpoint, delivery_id) do nothing;
    perform sverka.raise_alert(a.key, 'inbox_conflict', a.book, null, null,
        'A delivery id came again with another body; compare the two and ask the provider.', a.trace_id)
      from (select distinct on (key) c.* from (
              select 'inbox_conflict:' || providers[n] || ':' || endpoints[n] as key, books[n] as book,
                  trace_ids[n] as trace_id
                from generate_subscripts(ids, 1) n where outcomes[n] = 'conflict') c
             order by key) a
      order by a.key;
  end if;

  insert into sverka.dead_letter (id, inbox_id, book, reason, attempts, trace_id)
    select sverka.new_id('dl'), ids[n], books[n],
        coalesce(reasons[n], 'parked'), 0, trace_ids[n]
      from generate_subscripts(ids, 1) n where outcomes[n] = 'stored' and statuses[n] = 'parked' order by ids[n];
  if found then
    perform sverka.raise_alert(a.key, 'parked_notification', a.book, null, null,
        'Signed notifications cannot be read (' || a.reason || '): `sverka deadletters list`; ask the provider.',
        a.trace_id)
      from (select distinct on (key) p.* from (
              select 'parked:' || providers[n] || ':' || endpoints[n] || ':' || coalesce(reasons[n], 'parked') as key,
                  books[n] as book, coalesce(reasons[n], 'parked') as reason, trace_ids[n] as trace_id
                from generate_subscripts(ids, 1) n where outcomes[n] = 'stored' and statuses[n] = 'parked') p
             order by key) a
      order by a.key;
  end if;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.inbox_follower(of_book text, of_provider text, of_account text, of_ref text)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select i.workflow_id from sverka.issuance i
    where i.book = of_book and i.provider = of_provider and i.provider_account = of_account
      and (i.id = of_ref or i.provider_ref = of_ref)
    order by i.id desc limit 1;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.is_that_payout(w sverka.withdrawal, transfer jsonb)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select coalesce((transfer->>'status') = 'completed' and transfer->>'network' = w.network
    and transfer->>'asset' = w.asset and transfer->>'to' = w.address
    and coalesce(transfer->>'tag', '') = coalesce(w.tag, '') and (transfer->>'amount')::numeric = w.amount, false);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.join_persons(one text, other text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update sverka."user" u set person = least(a.person, b.person) from sverka."user" a, sverka."user" b
    where a.id = one and b.id = other and u.person in (a.person, b.person);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.keep_finished_check()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a finished check stays as it is' using errcode = 'insufficient_privilege';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.keep_posted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'this file was imported: its row never changes' using errcode = 'check_violation';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.lines(column_text text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN string_to_array(column_text, '
'::text, ''::text)
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.link_identity(of_user text, with_issuer text, with_subject text, by_whom text, trace text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare linked sverka."user";
begin
  -- Two links of one identity at a time would not see each other, and join nobody.
  perform pg_advisory_xact_lock(hashtextextended(with_issuer || ' ' || with_subject, 58));
  select * into linked from sverka."user" u where u.id = of_user;
  if not found then return false; end if;
  insert into sverka.user_identity (issuer, subject, user_id, audience, linked_by)
    values (with_issuer, with_subject, linked.id,
      case when linked.merchant_id is null then 'console' else 'cabinet' end, by_whom);
  perform sverka.join_persons(linked.id, other.user_id)
    from (select distinct i.user_id from sverka.user_identity i
      where i.issuer = with_issuer and i.subject = with_subject and i.user_id <> linked.id) other;
  perform sverka.note_act_on_user(of_user, 'identity_linked', by_whom, trace);
  return true;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.lock_balance_source(of_book text, of_provider text, of_account text)
 RETURNS sverka.balance_source
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare source sverka.balance_source;
begin
  insert into sverka.balance_source (book, provider, account) values (of_book, of_provider, of_account)
    on conflict (book, provider, account) do nothing;
  select * into source from sverka.balance_source s
    where s.book = of_book and s.provider = of_provider and s.account = of_account for no key update;
  return source;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.lock_dead_letter(letter text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform from sverka.inbox where id = (select inbox_id from sverka.dead_letter where id = letter) for no key update;
  perform from sverka.dead_letter where id = letter for no key update;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.lock_requested_import(OUT file_hash bytea, OUT lines jsonb, OUT trace_id text)
 RETURNS SETOF record
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select i.file_hash, i.lines, i.trace_id from sverka.ledger_import i
    where i.state = 'requested' order by i.created_at limit 1 for update skip locked;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.look_at_cardholder(the_cardholder text, by_user text, trace text)
 RETURNS TABLE(first_initial text, last_initial text, country text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if not exists (select from sverka."user" u
      where u.id = by_user and u.disabled_at is null and u.merchant_id is null) then
    raise exception 'this person looks at no cardholder' using errcode = 'SV403';
  end if;
  insert into sverka.audit
    (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
    select h.book, h.merchant_id, 'cardholder', h.id, h.state, h.state, h.version, 'user:' || by_user, 'read', trace
    from sverka.cardholder h where h.id = the_cardholder;
  return query select h.first_initial, h.last_initial, h.country from sverka.cardholder h where h.id = the_cardholder;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.may_enter(for_audience text, with_roles text[])
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select pg_has_role(session_user, 'sverka_' || for_audience, 'usage')
    and (for_audience = 'cabinet') = ('requester' = any (with_roles));
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.move_balance_base(of_source integer, at_cursor text, is_reset boolean)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare was integer;
begin
  select s.base_number into was from sverka.balance_source s where s.id = of_source;
  update sverka.balance_source s set base_cursor = at_cursor, base_number = was + 1,
    resets = s.resets + is_reset::integer where s.id = of_source;
  update sverka.balance_currency c set base = c.confirmed, moved = 0, seen = 0, differs_since = null
    where c.source_id = of_source;
  if is_reset then return; end if;
  with ahead as (
    update sverka.balance_address a set base_number = was + 1, first_version = null, first_before = null,
        seen_before = case when a.first_version is null then a.seen_before else a.last_after end,
        seen_version = case when a.first_version is null then a.seen_version else a.last_version end
      where a.source_id = of_source and a.base_number = was
        and a.balance <> case when a.first_version is null then a.seen_before else a.last_after end
      returning a.currency, a.balance - a.seen_before as seen)
  update sverka.balance_currency c set seen = x.seen
    from (select ahead.currency, sum(ahead.seen) as seen from ahead group by 1) x
    where c.source_id = of_source and c.currency = x.currency;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.move_balances(of_source integer, from_journal boolean, addresses text, currencies text, lowest text, lowest_balances text, lowest_out text, lowest_in text, highest text, highest_balances text, OUT moved integer, OUT stale integer, OUT conflicts integer, OUT gaps integer)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET enable_memoize TO 'off'
AS $function$
begin
  with told as (
    select t.address, t.currency, t.lowest, t.lowest_balance + t.lowest_out - t.lowest_in as before, t.highest, t.after,
        s.id, s.base_number as base, s.resets
      from (select unnest(sverka.lines(addresses)) as address, unnest(sverka.lines(currencies)) as currency,
              unnest(sverka.lines(move_balances.lowest))::numeric as lowest,
              unnest(sverka.lines(lowest_balances))::numeric as lowest_balance,
              unnest(sverka.lines(lowest_out))::numeric as lowest_out,
              unnest(sverka.lines(lowest_in))::numeric as lowest_in,
              unnest(sverka.lines(move_balances.highest))::numeric as highest,
              unnest(sverka.lines(highest_balances))::numeric as after) t
        join sverka.balance_source s on s.id = of_source),
  kept as (
    merge into sverka.balance_address k using told t
      on k.source_id = of_source and k.address = t.address and k.currency = t.currency
    when not matched then insert (source_id, address, currency, balance, version, resets, read_at, base_number,
        first_version, first_before, last_version, last_after, seen_version, seen_before)
      values (t.id, t.address, t.currency, t.after, t.highest, t.resets, clock_timestamp(), t.base,
        case when from_journal then t.lowest end, case when from_journal then t.before end,
        case when from_journal then t.highest end, case when from_journal then t.after end, t.lowest, t.before)
    -- Of an older base all begins anew, but for what the journal told then: that is in the base, so a journal that tells
    -- it again moves nothing, and what is behind it counts from there (0: nothing can be lower). A webhook that comes
    -- again says nothing of what was missed since a reset.
    when matched and k.base_number <> t.base and (from_journal or t.highest >= k.version) then update set
      balance = case when t.highest >= k.version then t.after else k.balance end,
      version = greatest(t.highest, k.version),
      resets = case when t.highest > k.version or from_journal and t.highest = k.version then t.resets
        else k.resets end,
      read_at = clock_timestamp(), base_number = t.base,
      first_version = case when not from_journal then null when t.lowest <= k.last_version then 0 else t.lowest end,
      first_before = case when not from_journal then null when t.lowest <= k.last_version then k.last_after
        else t.before end,
      last_version = case when from_journal then greatest(k.last_version, t.highest) else k.last_version end,
      last_after = case when from_journal and (k.last_version > t.highest) is not true then t.after
        else k.last_after end,
      seen_version = case when t.lowest <= k.last_version then 0 else t.lowest end,
      seen_before = case when t.lowest <= k.last_version then k.last_after else t.before end
    when matched and from_journal and (t.highest > k.version
        or t.highest = k.version and (t.after <> k.balance or t.resets <> k.resets) or t.lowest < k.seen_version
        or k.first_version is null or t.lowest < k.first_version or t.highest > k.last_version
        or t.highest = k.last_version and t.after <> k.last_after) then update set
      balance = case when t.highest >= k.version then t.after else k.balance end,
      version = greatest(t.highest, k.version),
      resets = case when t.highest >= k.version then t.resets else k.resets end,
      read_at = clock_timestamp(),
      first_version = case when k.first_version is null and t.lowest <= k.last_version then 0
        else least(k.first_version, t.lowest) end,
      first_before = case when k.first_version <= t.lowest then k.first_before
        when k.first_version is null and t.lowest <= k.last_version then k.last_after else t.before end,
      last_version = greatest(k.last_version, t.highest),
      last_after = case when k.last_version > t.highest then k.last_after else t.after end,
      seen_version = least(k.seen_version, t.lowest),
      seen_before = case when k.seen_version <= t.lowest then k.seen_before else t.before end
    -- A webhook of an older version tells nothing, not even where the sum began.
    when matched and not from_journal and (t.highest > k.version or t.highest = k.version
        and (t.after <> k.balance or t.lowest < k.seen_version)) then update set
      balance = t.after, version = t.highest, read_at = clock_timestamp(),
      resets = case when t.highest > k.version then t.resets else k.resets end,
      seen_version = least(k.seen_version, t.lowest),
      seen_before = case when k.seen_version <= t.lowest then k.seen_before else t.before end
    returning t.currency,
      t.highest >= coalesce(old.version, t.highest) as is_news,
      coalesce(t.highest = old.version and t.after <> old.balance, false) as is_conflict,
      coalesce(t.lowest > old.version and t.before <> old.balance, false) as is_gap,
      t.address, old.version, old.balance as known, t.after,
      coalesce(new.last_after - new.first_before, 0)
        - case when old.base_number = t.base then coalesce(old.last_after - old.first_before, 0) else 0 end as moved,
      new.balance - new.seen_before
        - case when old.base_number = t.base then old.balance - old.seen_before else 0 end as seen),
  conflicting as (
    insert into sverka.balance_conflict (source_id, address, currency, version, known, told)
      select of_source, k.address, k.currency, k.version, k.known, k.after from kept k where k.is_conflict),
  booked as (
    insert into sverka.balance_currency as b
        (source_id, currency, confirmed, frozen, held, available, base, moved, seen, last_read_at)
      select of_source, s.currency, 0, 0, 0, 0, 0, s.moved, s.seen, clock_timestamp()
        from (select k.currency, sum(k.moved) as moved, sum(k.seen) as seen from kept k group by k.currency) s
        where s.moved <> 0 or s.seen <> 0 order by s.currency
    on conflict (source_id, currency) do update set moved = b.moved + excluded.moved, seen = b.seen + excluded.seen)
  select count(*), count(*) filter (where not k.is_news), count(*) filter (where k.is_conflict),
      count(*) filter (where k.is_gap) into moved, stale, conflicts, gaps from kept k;
  if moved < cardinality(sverka.lines(addresses)) then
    -- Each is looked for by itself (lateral, offset 0) and by its address (+ 0): of a table that was never counted the
    -- planner believes that a source has a handful, and goes through all of them for each.
    select count(*) into stale
      from (select unnest(sverka.lines(addresses)) as address, unnest(sverka.lines(currencies)) as currency,
              unnest(sverka.lines(move_balances.highest))::numeric as highest) t
        cross join lateral (select x.version from sverka.balance_address x where x.source_id + 0 = of_source
          and x.address = t.address and x.currency = t.currency offset 0) k
      where t.highest < k.version;
  end if;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.move_withdrawal(before sverka.withdrawal, after sverka.withdrawal, operations text[])
 RETURNS sverka.withdrawal
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare moved sverka.withdrawal := after; refused text;
begin
  moved.movement_ids := before.movement_ids || array(
    select sverka.encode_id('mov', sverka.withdrawal_key(after, o)) from unnest(operations) o
      where o <> 'fee' or coalesce(after.payout_fee_amount, 0) > 0);
  update sverka.withdrawal w set
      route = moved.route, approvals_needed = moved.approvals_needed, payout_ref = moved.payout_ref, payout_status = moved.payout_status,
      payout_fee_asset = moved.payout_fee_asset, payout_fee_amount = moved.payout_fee_amount,
      transaction_hash = moved.transaction_hash, proof_id = moved.proof_id, flag = moved.flag,
      needs_operator = moved.needs_operator, applied_ticket = moved.applied_ticket, submitted_by = moved.submitted_by,
      submitted_at = moved.submitted_at,
      settled_at = case when moved.state in ('completed', 'failed', 'rejected', 'cancelled')
        then coalesce(before.settled_at, clock_timestamp()) end,
      movement_ids = moved.movement_ids, state = moved.state, reason = moved.reason, actor = moved.actor,
      trace_id = moved.trace_id,
      version = before.version + case when moved.state = before.state then 0 else 1 end
    where w.id = before.id returning w.* into moved;
  if moved.state <> before.state then perform sverka.tell_withdrawal(moved); end if;
  if cardinality(operations) > 0 then
    refused := sverka.post_withdrawal(array_fill(moved, array[cardinality(operations)]), operations);
    if refused is not null then
      raise exception 'withdrawal %: the journal did not take %: %', moved.id, operations, refused using errcode = 'SV001';
    end if;
  end if;
  return moved;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.new_id(prefix text)
 RETURNS text
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sverka.encode_id(prefix, set_byte(overlay(r.random placing r.milliseconds from 1 for 6), 6,
      get_byte(r.random, 6) & 15 | 112))
    from (select uuid_send(gen_random_uuid()) as random,
        substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) as milliseconds) r;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.note_act(about_type text, about_id text, of_merchant text, was text, is_now text, act text, by_whom text, trace text, of_book text DEFAULT 'both'::text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.audit
    (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
    select of_book, of_merchant, about_type, about_id, was, is_now,
      1 + (select count(*) from sverka.audit a where a.subject_id = about_id),
      -- Whoever calls from a tool of his own is at least the role that he signed in with.
      coalesce(by_whom, 'database:' || session_user), act, trace;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.note_act_on_user(of_user text, act text, by_whom text, trace text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sverka.note_act('user', u.id, u.merchant_id, sverka.standing_of(u), sverka.standing_of(u), act, by_whom, trace)
    from sverka."user" u where u.id = of_user;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.note_balance_rebase(of_decision text, with_trace text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare source sverka.balance_source; person text;
begin
  if of_decision is null then return; end if;
  select d.user_id into person from sverka.decision d
    where d.id = of_decision and (d.subject_type, d.choice) = ('balance_source', 'rebase')
      and not exists (select from sverka.decision_outcome o where o.decision_id = d.id);
  if not found then
    raise exception 'nobody has decided on this rebase' using errcode = 'insufficient_privilege';
  end if;
  select s.* into strict source from sverka.balance_source s join sverka.decision d on d.subject_id = s.key
    where d.id = of_decision;
  perform sverka.note_act('balance_source', source.key, source.merchant_id,
    case when source.differences > 0 then 'differs' else 'equal' end, 'rebased', 'source_rebased', 'user:' || person,
    with_trace, source.book);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.note_refused_decision(the_withdrawal text, by_user text, why text, trace text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.audit
    (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
    select w.book, w.merchant_id, 'withdrawal', w.id, w.state, w.state, w.version, 'user:' || u.id, 'refused: ' || why,
      trace
    from sverka.withdrawal w, sverka."user" u where w.id = the_withdrawal and u.id = by_user;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.offer_terms(o sverka.withdrawal_offer)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select format('%s on %s: fee %s, smallest %s, two approvals from %s, by %s', o.asset, o.network, o.fee_amount, o.smallest_amount,
    o.two_approvals_from, array_to_string(o.routes, ' or ')) where o.book is not null;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.open_identity_session(of_issuer text, of_subject text, with_token bytea, with_csrf bytea, for_audience text)
 RETURNS text
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.session (token_hash, user_id, audience, csrf, idle_until, ends_at)
    select with_token, u.id, for_audience, with_csrf,
        clock_timestamp() + interval '30 minutes', clock_timestamp() + interval '12 hours'
      from sverka.user_identity i join sverka."user" u on u.id = i.user_id
      where i.issuer = of_issuer and i.subject = of_subject and i.audience = for_audience and i.unlinked_at is null
        and u.disabled_at is null and sverka.may_enter(for_audience, u.roles)
    returning user_id;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.open_session(with_link bytea, with_token bytea, with_csrf bytea, for_audience text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare person text;
begin
  if not exists (select from sverka.login_link l join sverka."user" u on u.id = l.user_id
      where l.token_hash = with_link and sverka.may_enter(for_audience, u.roles)) then
    return null;
  end if;
  person := sverka.use_login_link(with_link);
  if person is null then return null; end if;
  insert into sverka.session (token_hash, user_id, audience, csrf, idle_until, ends_at)
    values (with_token, person, for_audience, with_csrf,
      clock_timestamp() + interval '30 minutes', clock_timestamp() + interval '12 hours');
  return person;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.own_person()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  new.person := coalesce(new.person, new.id);
  return new;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.payout_follower(of_book text, of_payout text)
 RETURNS TABLE(id text, merchant_id text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select w.id, w.merchant_id from sverka.withdrawal w
    where w.book = of_book and w.payout_ref = of_payout and w.state in ('submitted', 'unknown')
    order by w.id limit 1;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.plain_hash(hash text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case when hash ~* '^(0x)?[0-9a-f]+$' then lower(regexp_replace(hash, '^0x', '', 'i')) else hash end;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.post_withdrawal(ws sverka.withdrawal[], operations text[])
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  w sverka.withdrawal; at int; fee numeric; fee_asset text; total numeric; collected numeric := 0; posted record;
  ids bigint[]; wallet bigint; receivable bigint; hold bigint; clearing bigint; fees bigint;
  fee_clearing bigint; fee_fees bigint;
  keys bytea[] := '{}'; hashes bytea[] := '{}'; kinds text[] := '{}'; counts int[] := '{}'; gens int[] := '{}';
  accounts bigint[] := '{}'; amounts numeric[] := '{}'; roles text[] := '{}';
  l_accounts bigint[]; l_amounts numeric[]; l_roles text[]; kind text; owed_line int;
begin
  w := ws[1];
  fee_asset := coalesce(w.payout_fee_asset, w.asset);
  ids := ledger.open_accounts(array_fill(w.book, array[7]), array_fill(w.merchant_id, array[7]),
    array_fill(null::text, array[7]), array['wallet', 'receivable', 'hold', 'clearing:payout', 'fees', 'clearing:payout', 'fees'],
    array['', '', w.id, '', '', '', ''], array[w.asset, w.asset, w.asset, w.asset, w.asset, fee_asset, fee_asset]);
  wallet := ids[1]; receivable := ids[2]; hold := ids[3]; clearing := ids[4]; fees := ids[5];
  fee_clearing := ids[6]; fee_fees := ids[7];
  for at in 1..cardinality(operations) loop
    w := ws[at];
    total := w.amount + w.fee_amount;
    fee := coalesce(w.payout_fee_amount, 0);
    case operations[at]
      when 'hold' then
        kind := 'withdrawal_hold';
        l_accounts := array[wallet, hold, receivable]; l_amounts := array[-total, total, null];
        l_roles := array['leg', 'leg', 'guard'];
      when 'release' then
        kind := 'withdrawal_release';
        l_accounts := array[hold, wallet]; l_amounts := array[-total, total]; l_roles := array['leg', 'leg'];
      when 'settle' then
        kind := 'withdrawal_settle';
        l_accounts := array[hold, clearing]; l_amounts := array[-total, w.amount]; l_roles := array['leg', 'leg'];
      when 'take_back' then    -- paid after all, behind a release: never refused, what is not there is owed (R14)
        kind := 'withdrawal_settle';
        l_accounts := array[wallet, receivable, clearing]; l_amounts := array[-total, null, w.amount];
        l_roles := array['leg', 'draw', 'leg'];
        owed_line := cardinality(accounts) + 2;
      when 'fee' then
        if fee = 0 then continue; end if;
        kind := 'withdrawal_fee';
        l_accounts := array[fee_fees, fee_clearing]; l_amounts := array[-fee, fee]; l_roles := array['leg', 'leg'];
    end case;
    if operations[at] in ('settle', 'take_back') and w.fee_amount > 0 then
      l_accounts := l_accounts || fees; l_amounts := l_amounts || w.fee_amount; l_roles := l_roles || 'leg'::text;
    end if;
    keys := keys || sverka.withdrawal_key(w, operations[at]); kinds := kinds || kind;
    hashes := hashes || sverka.hash_parts(kind || array(
      select unnest(array[a::text, coalesce(m::text, ''), r]) from unnest(l_accounts, l_amounts, l_roles) x(a, m, r)));
    counts := counts || cardinality(l_accounts); gens := gens || w.terms;
    accounts := accounts || l_accounts; amounts := amounts || l_amounts; roles := roles || l_roles;
    if operations[at] = 'release' then
      keys := keys || sverka.withdrawal_key(w, 'release:collect'); kinds := kinds || 'collect'::text;
      hashes := hashes || sverka.hash_parts(array['collect', wallet::text, '', 'collect', receivable::text, '', 'collect']);
      owed_line := cardinality(accounts) + 2;
      counts := counts || 2; gens := gens || w.terms; accounts := accounts || wallet || receivable;
      amounts := amounts || null::numeric || null::numeric; roles := roles || 'collect'::text || 'collect'::text;
    end if;
  end loop;
  select p.outcomes, p.moved into posted from ledger.post_any_kind(keys, hashes, kinds, counts,
    array_fill('withdrawal'::text, array[cardinality(keys)]), array_fill(w.id, array[cardinality(keys)]), gens,
    array_fill(null::bytea, array[cardinality(keys)]), array_fill(w.reference, array[cardinality(keys)]),
    accounts, amounts, roles, w.trace_id) p;
  for at in 1..cardinality(keys) loop
    if posted.outcomes[at] <> 'posted' and not (kinds[at] = 'collect' and posted.outcomes[at] = 'nothing') then
      return posted.outcomes[at];
    end if;
  end loop;
  if owed_line is not null then
    perform sverka.tell_receivable(w, receivable, coalesce(posted.moved[owed_line], 0),
      keys[array_position(kinds, case when 'take_back' = any (operations) then 'withdrawal_settle' else 'collect' end)]);
  end if;
  return null;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.raise_alert(alert_key text, alert_kind text, of_book text, of_type text, of_id text, with_detail text, with_trace text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.alert as a (key, kind, book, subject_type, subject_id, detail, trace_id)
    values (alert_key, alert_kind, of_book, of_type, of_id, with_detail, with_trace)
  on conflict (key) do update set
    state = 'open', kind = excluded.kind, times = a.times + 1, detail = excluded.detail, trace_id = excluded.trace_id,
    last_seen_at = clock_timestamp(), resolved_at = null,
    opened_at = case when a.state = 'open' then a.opened_at else clock_timestamp() end;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.read_session(with_token bytea, for_audience text)
 RETURNS TABLE(user_id text, login text, roles text[], merchant_id text, merchant_name text, csrf bytea, opened_at timestamp with time zone, step_up_at timestamp with time zone)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with alive as (
    select s.token_hash, s.last_seen_at, s.csrf, s.created_at, s.step_up_at,
        u.id, u.login, u.roles, u.merchant_id, m.name
      from sverka.session s join sverka."user" u on u.id = s.user_id left join sverka.merchant m on m.id = u.merchant_id
      where s.token_hash = with_token and s.audience = for_audience and s.revoked_at is null
        and least(s.idle_until, s.ends_at) > clock_timestamp()
        and u.disabled_at is null and sverka.may_enter(for_audience, u.roles)),
  touched as (
    update sverka.session s set last_seen_at = clock_timestamp(), idle_until = clock_timestamp() + interval '30 minutes'
      from alive a
      where s.token_hash = a.token_hash and a.last_seen_at < clock_timestamp() - interval '30 seconds')
  select a.id, a.login, a.roles, a.merchant_id, a.name, a.csrf, a.created_at, a.step_up_at from alive a;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.refuse_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% keeps every row: % refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.refuse_new_terms()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% %: whose it is and on what terms never changes', tg_table_name, old.id
    using errcode = 'check_violation';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.relay_health()
 RETURNS double precision
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select extract(epoch from clock_timestamp() - min(received_at)) from sverka.inbox where status = 'pending';
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.relay_heartbeat(relay_name text, rejected_count bigint, failed_count bigint)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.relay_heartbeat as h (relay, seen_at, rejected, failed)
    values (relay_name, clock_timestamp(), rejected_count, failed_count)
  on conflict (relay) do update set
    seen_at = excluded.seen_at, rejected = excluded.rejected, failed = excluded.failed,
    -- A window of five minutes, counted from the total at its beginning; a relay that began anew begins at nothing.
    rejected_before = case
      when excluded.rejected < h.rejected then 0
      when h.window_at < clock_timestamp() - interval '5 minutes' then h.rejected
      else h.rejected_before end,
    window_at = case
      when excluded.rejected < h.rejected or h.window_at < clock_timestamp() - interval '5 minutes'
        then clock_timestamp()
      else h.window_at end;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.remind_of_withdrawal(the_withdrawal text, step text, trace text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sverka.raise_alert('withdrawal:' || w.id, 'withdrawal_waits', w.book, 'withdrawal', w.id,
      case step when 'escalation' then 'A withdrawal has waited so long for its approval that it will soon expire.'
        else 'A withdrawal waits for its approval.' end, trace)
    from sverka.withdrawal w where w.id = the_withdrawal and w.state = 'requested';
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.remove_passkey(of_user text, the_credential text, by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  update sverka.passkey set removed_at = clock_timestamp()
    where credential_id = the_credential and user_id = of_user and removed_at is null;
  if found then perform sverka.note_act_on_user(of_user, 'passkey_removed', by_whom, trace); end if;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.remove_withdrawal_destination(the_destination text, of_book text, of_merchant text, by_user text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform sverka.require_requester(by_user, of_merchant);
  update sverka.withdrawal_destination d set removed_at = clock_timestamp()
    where d.id = the_destination and d.book = of_book and d.merchant_id = of_merchant and d.removed_at is null;
  return found;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.request_card_change(the_card text, of_book text, of_merchant text, change_kind text, seen_version integer, event_data jsonb, request_id text, request_key text, request_method text, request_path text, request_fingerprint bytea, trace text, OUT answer text, OUT change_number integer)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare
  card sverka.card;
  target text := case change_kind when 'freeze' then 'frozen' when 'unfreeze' then 'active' when 'close' then 'closed' end;
  refusal text;
begin
  if target is null then raise exception 'no change %', change_kind using errcode = '22023'; end if;
  perform pg_advisory_xact_lock(hashtextextended(request_id, 0));
  perform from sverka.request r where r.id = request_card_change.request_id;
  if found then answer := 'kept'; return; end if;
  select * into card from sverka.card c
    where c.id = the_card and c.book = of_book and c.merchant_id = of_merchant for no key update;
  if not found then answer := 'not_found'; return; end if;

  refusal := case when card.state in ('pending', 'failed') then 'invalid_state'
    when card.state = 'closed' and target <> 'closed' then 'card_closed' end;
  answer := case when refusal is not null then 'refused' when card.state = target then 'unchanged' end;
  if answer is null then
    if target = 'closed' and exists (select from sverka.card_load l
        where l.card_id = card.id and l.state in ('reserved', 'submitted', 'unknown')) then
      answer := 'outcome_unknown';
      return;
    end if;
    if card.version is distinct from seen_version then answer := 'stale'; return; end if;
  end if;

  insert into sverka.request
    (id, book, merchant_id, key, method, path, fingerprint, resource_type, resource_id, made, refusal, trace_id)
  values (request_id, of_book, of_merchant, request_key, request_method, request_path, request_fingerprint,
    case when refusal is null then 'card' end, case when refusal is null then card.id end,
    case when refusal is null then false end,
    case when refusal is not null then jsonb_build_object('code', refusal, 'detail', 'The card is ' || card.state || '.') end,
    trace);
  if answer is not null then return; end if;

  update sverka.card_change c set outcome = 'superseded', done_at = clock_timestamp()
    where c.card_id = card.id and c.outcome is null and c.submitted_at is null;
  select coalesce(max(c.number), 0) + 1 into change_number from sverka.card_change c where c.card_id = card.id;
  insert into sverka.card_change (card_id, number, book, merchant_id, kind, request_id, trace_id)
  values (card.id, change_number, of_book, of_merchant, change_kind, request_id, trace);
  update sverka.card c set state = target, version = c.version + 1, reason = null, actor = 'merchant:' || of_merchant,
    trace_id = trace
  where c.id = card.id returning * into card;
  insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data, trace_id)
  values (sverka.new_id('evt'), 'card.' || case target when 'active' then 'unfrozen' else target end, of_book,
    of_merchant, 'card', card.id, card.version,
    event_data || jsonb_build_object('object', 'card', 'id', card.id, 'state', card.state, 'version', card.version,
      'reason', null, 'updated_at', to_char(card.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
    trace);
  answer := 'changed';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.request_ledger_import(with_hash bytea, with_lines jsonb, by_actor text, with_trace text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if by_actor <> 'cli' and not exists (
    select from sverka."user" u where by_actor = 'user:' || u.id and u.disabled_at is null) then
    raise exception 'there is no such person' using errcode = 'insufficient_privilege';
  end if;
  insert into sverka.ledger_import as i (file_hash, lines, actor, trace_id)
    values (with_hash, with_lines, by_actor, with_trace)
  on conflict (file_hash) do update set lines = excluded.lines, state = 'requested', problems = '[]',
    actor = excluded.actor, trace_id = excluded.trace_id, finished_at = null
    where i.state = 'refused';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.request_withdrawal(of_book text, of_merchant text, by_user text, with_key text, of_asset text, of_amount numeric, seen_fee numeric, the_destination text, with_reference text, trace text, OUT answer text, OUT withdrawal_id text)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare w sverka.withdrawal; d sverka.withdrawal_destination; offered sverka.withdrawal_offer; refused text;
begin
  perform sverka.require_requester(by_user, of_merchant);
  perform pg_advisory_xact_lock(hashtextextended(of_book || of_merchant || with_key, 0));
  select k.id into withdrawal_id from sverka.withdrawal k
    where k.book = of_book and k.merchant_id = of_merchant and k.request_key = with_key;
  if found then answer := 'kept'; return; end if;
  answer := sverka.withdrawal_refusal(of_book, of_merchant, of_asset, of_amount, the_destination);
  if answer is not null then return; end if;
  select * into d from sverka.withdrawal_destination x where x.id = the_destination;
  select * into offered from sverka.withdrawal_offer o
    where o.book = of_book and o.network = d.network and o.asset = of_asset;
  if offered.fee_amount is distinct from seen_fee then answer := 'fee_changed'; return; end if;
  w.id := sverka.new_id('wd');
  begin
    insert into sverka.withdrawal (id, book, merchant_id, request_key, asset, amount, fee_amount, network, destination_id,
        address, tag, reference, requested_by, expires_at, movement_ids, state, actor, trace_id)
      select w.id, of_book, of_merchant, with_key, of_asset, of_amount, offered.fee_amount, d.network, d.id, d.address,
        d.tag, with_reference, by_user, clock_timestamp() + p.expires_after, array['mov_'], 'requested',
        'user:' || by_user, trace
      from sverka.withdrawal_policy p where p.book = of_book returning * into w;
    update sverka.withdrawal x set movement_ids = array[sverka.encode_id('mov', sverka.withdrawal_key(w, 'hold'))]
      where x.id = w.id returning * into w;
    insert into sverka.withdrawal_terms (withdrawal_id, terms, amount, fee_amount, network, address, tag, requested_by)
      values (w.id, w.terms, w.amount, w.fee_amount, w.network, w.address, w.tag, by_user);
    perform sverka.tell_withdrawal(w);
    refused := sverka.post_withdrawal(array[w], array['hold']);
    if refused is not null then raise exception 'refused' using errcode = 'SV001'; end if;
  exception when sqlstate 'SV001' then
    answer := case refused when 'guarded' then 'receivable_open' when 'insufficient' then 'insufficient_funds'
      else refused end;
    return;
  end;
  answer := 'requested';
  withdrawal_id := w.id;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.require_requester(user_id text, of_merchant text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if not exists (select from sverka."user" u where u.id = user_id and u.merchant_id = of_merchant
      and 'requester' = any (u.roles) and u.disabled_at is null) then
    raise exception 'this person asks for nothing of that merchant' using errcode = 'SV403';
  end if;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.resolve_alert(alert_key text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update sverka.alert set state = 'resolved', resolved_at = clock_timestamp()
    where key = alert_key and state = 'open';
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.revise_cardholder(the_id text, of_book text, of_merchant text, to_revision integer, initials text[], new_country text, reference_given boolean, new_reference text, with_key_id text, with_wrapped bytea, members text[], sealed bytea[], with_fingerprint bytea, trace text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare holder sverka.cardholder;
begin
  select * into holder from sverka.cardholder c
    where c.id = the_id and c.book = of_book and c.merchant_id = of_merchant for no key update;
  if not found then return 'not_found'; end if;
  if holder.state = 'erased' then return 'erased'; end if;
  perform from sverka.cardholder_key k
    where k.cardholder_id = the_id and k.revision = holder.revision and k.fingerprint = with_fingerprint;
  if found then return 'unchanged'; end if;
  if to_revision <> holder.revision + 1 then return 'stale'; end if;
  insert into sverka.cardholder_key (cardholder_id, revision, key_id, wrapped, fingerprint)
  values (the_id, to_revision, with_key_id, with_wrapped, with_fingerprint);
  insert into sverka.cardholder_member (cardholder_id, revision, member, sealed)
  select the_id, to_revision, m.member, m.sealed from unnest(members, sealed) as m(member, sealed);
  update sverka.cardholder set revision = to_revision, version = version + 1,
    first_initial = coalesce(initials[1], first_initial), last_initial = coalesce(initials[2], last_initial),
    country = coalesce(new_country, country),
    reference = case when reference_given then new_reference else reference end,
    actor = 'merchant:' || of_merchant, trace_id = trace
  where id = the_id;
  return 'revised';
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.revoke_api_key(key_id text, by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare revoked sverka.api_key;
begin
  update sverka.api_key k set revoked_at = clock_timestamp() where k.id = key_id and k.revoked_at is null
    returning k.* into revoked;
  if found then
    perform sverka.note_act('api_key', key_id, revoked.merchant_id, revoked.access, 'revoked', 'key_revoked', by_whom,
      trace, revoked.book);
  end if;
  return exists (select from sverka.api_key k where k.id = key_id);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.revoke_session(with_token bytea)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update sverka.session set revoked_at = clock_timestamp() where token_hash = with_token and revoked_at is null;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.revoke_sessions(of_user text, by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare ended integer;
begin
  update sverka.session set revoked_at = clock_timestamp() where user_id = of_user and revoked_at is null;
  get diagnostics ended = row_count;
  perform sverka.note_act_on_user(of_user, 'sessions_revoked', by_whom, trace);
  return ended;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.seal(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  horizon constant pg_snapshot := pg_current_snapshot();
  mark xid8; sealed integer := 0; got integer; place bigint; link bytea; row_ record;
begin
  if not pg_try_advisory_xact_lock(hashtext('sverka.seal')) then return 0; end if;

  -- A row that a statement sees although its transaction is not before the statement's own snapshot was written in
  -- another cluster's life (a restore). Not the horizon's: what was committed since then waits for the next run, or it
  -- would come before what was open at the horizon.
  select sealed_before into mark from sverka.seal_mark where kind = 'movement';
  if mark > pg_snapshot_xmax(horizon) then mark := '0'; end if;
  insert into sverka.movement_seal (position, movement_id)
    select (select coalesce(max(position), 0) from sverka.movement_seal) + row_number() over (order by m.xid, m.id), m.id
      from ledger.movement m
      where m.xid >= mark and (m.xid < pg_snapshot_xmin(horizon) or m.xid >= pg_snapshot_xmax(pg_current_snapshot()))
        and not exists (select from sverka.movement_seal s where s.movement_id = m.id)
      order by m.xid, m.id limit most;
  get diagnostics got = row_count; sealed := sealed + got;
  if got < most then
    update sverka.seal_mark set sealed_before = pg_snapshot_xmin(horizon) where kind = 'movement';
  end if;

  select sealed_before into mark from sverka.seal_mark where kind = 'event';
  if mark > pg_snapshot_xmax(horizon) then mark := '0'; end if;
  insert into sverka.event_seal (position, event_id)
    select (select coalesce(max(position), 0) from sverka.event_seal) + row_number() over (order by e.xid, e.id), e.id
      from sverka.event e
      where e.xid >= mark and (e.xid < pg_snapshot_xmin(horizon) or e.xid >= pg_snapshot_xmax(pg_current_snapshot()))
        and not exists (select from sverka.event_seal s where s.event_id = e.id)
      order by e.xid, e.id limit most;
  get diagnostics got = row_count; sealed := sealed + got;
  if got < most then
    update sverka.seal_mark set sealed_before = pg_snapshot_xmin(horizon) where kind = 'event';
  end if;

  select sealed_before into mark from sverka.seal_mark where kind = 'audit';
  if mark > pg_snapshot_xmax(horizon) then mark := '0'; end if;
  select s.position, s.hash into place, link from sverka.audit_seal s order by s.position desc limit 1;
  got := 0;
  for row_ in
    select a.id, sverka.audit_bytes(a) as bytes from sverka.audit a
      where a.xid >= mark and (a.xid < pg_snapshot_xmin(horizon) or a.xid >= pg_snapshot_xmax(pg_current_snapshot()))
        and not exists (select from sverka.audit_seal s where s.audit_id = a.id)
      order by a.xid, a.id limit most
  loop
    place := coalesce(place, 0) + 1;
    link := sha256(coalesce(link, '') || row_.bytes);
    insert into sverka.audit_seal (position, audit_id, hash) values (place, row_.id, link);
    got := got + 1;
  end loop;
  sealed := sealed + got;
  if got < most then
    update sverka.seal_mark set sealed_before = pg_snapshot_xmin(horizon) where kind = 'audit';
  end if;
  return sealed;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.sessions_of(of_user text)
 RETURNS TABLE(audience text, created_at timestamp with time zone, last_seen_at timestamp with time zone, ends_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select s.audience, s.created_at, s.last_seen_at, least(s.idle_until, s.ends_at) from sverka.session s
    where s.user_id = of_user and s.revoked_at is null and least(s.idle_until, s.ends_at) > clock_timestamp()
    order by s.created_at desc limit 100;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.set_card_fee(of_merchant text, of_product text, of_asset text, new_amount numeric, new_set_by text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare known numeric;
begin
  perform pg_advisory_xact_lock(hashtextextended('sverka.card_fee', 0));
  select f.amount into known from sverka.card_fee f
    where f.merchant_id is not distinct from of_merchant and f.product = of_product and f.asset = of_asset;
  if known = new_amount then return false; end if;
  insert into sverka.card_fee (merchant_id, product, asset, amount, set_by)
  values (of_merchant, of_product, of_asset, new_amount, new_set_by)
  on conflict (merchant_id, product, asset)
    do update set amount = excluded.amount, set_by = excluded.set_by, set_at = clock_timestamp();
  insert into sverka.card_fee_change (merchant_id, product, asset, before, after, set_by)
  values (of_merchant, of_product, of_asset, known, new_amount, new_set_by);
  return true;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.set_user_disabled(of_user text, is_disabled boolean, by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare before sverka."user";
begin
  select * into before from sverka."user" u where u.id = of_user for no key update;
  update sverka."user" set disabled_at = case when is_disabled then coalesce(disabled_at, clock_timestamp()) end
    where id = of_user;
  return sverka.change_user(before, case when is_disabled then 'user_disabled' else 'user_enabled' end, by_whom, trace);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.set_user_roles(of_user text, with_roles text[], by_whom text DEFAULT NULL::text, trace text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare before sverka."user";
begin
  select * into before from sverka."user" u where u.id = of_user for no key update;
  update sverka."user" set roles = with_roles where id = of_user;
  return sverka.change_user(before, 'roles_changed', by_whom, trace);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.set_withdrawal_offer(of_book text, of_network text, of_asset text, with_fee numeric, with_smallest numeric, with_two_from numeric, with_routes text[], by_whom text, trace text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare before sverka.withdrawal_offer; made sverka.withdrawal_offer;
begin
  select * into before from sverka.withdrawal_offer o
    where o.book = of_book and o.network = of_network and o.asset = of_asset for no key update;
  insert into sverka.withdrawal_offer as o
    (book, network, asset, fee_amount, smallest_amount, two_approvals_from, routes, set_by)
    values (of_book, of_network, of_asset, with_fee, with_smallest, with_two_from, with_routes,
      coalesce(by_whom, 'database:' || session_user))
  on conflict (book, network, asset) do update set fee_amount = excluded.fee_amount,
    smallest_amount = excluded.smallest_amount, two_approvals_from = excluded.two_approvals_from,
    routes = excluded.routes, set_by = excluded.set_by, set_at = clock_timestamp()
  returning o.* into made;
  if sverka.offer_terms(before) is not distinct from sverka.offer_terms(made) then return; end if;
  perform sverka.note_act('withdrawal_terms', 'withdrawal_terms:' || of_book, null, sverka.offer_terms(before),
    sverka.offer_terms(made), 'offer_set', by_whom, trace, of_book);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.set_withdrawal_policy(of_book text, with_cooling_off interval, with_expires_after interval, by_whom text, trace text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare was text; is_now text;
begin
  select format('cooling-off %s, expires after %s', p.cooling_off, p.expires_after) into was
    from sverka.withdrawal_policy p where p.book = of_book for no key update;
  update sverka.withdrawal_policy p set cooling_off = with_cooling_off, expires_after = with_expires_after,
    set_by = coalesce(by_whom, 'database:' || session_user), set_at = clock_timestamp() where p.book = of_book
    returning format('cooling-off %s, expires after %s', p.cooling_off, p.expires_after) into is_now;
  if is_now is distinct from was then
    perform sverka.note_act('withdrawal_terms', 'withdrawal_terms:' || of_book, null, was, is_now, 'policy_set', by_whom, trace, of_book);
  end if;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.standing_of(u sverka."user")
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case when u.disabled_at is not null then 'disabled'
    else (select string_agg(r, ',' order by r) from unnest(u.roles) r) end;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.state_balances(of_source integer, currencies text[], balances numeric[], frozen numeric[], held numeric[], available numeric[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.balance_currency as c
      (source_id, currency, confirmed, frozen, held, available, base, last_read_at)
    select of_source, coalesce(x.currency, k.currency), coalesce(x.balance, 0), coalesce(x.frozen, 0),
        coalesce(x.held, 0), coalesce(x.available, 0), 0, clock_timestamp()
      from unnest(currencies, balances, state_balances.frozen, state_balances.held, state_balances.available)
          x(currency, balance, frozen, held, available)
        full join (select y.currency from sverka.balance_currency y where y.source_id = of_source) k
          on k.currency = x.currency
      order by 2
  on conflict (source_id, currency) do update set confirmed = excluded.confirmed, frozen = excluded.frozen,
    held = excluded.held, available = excluded.available, last_read_at = excluded.last_read_at;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.store_transactions(of_source integer, ids text, versions text, statuses text, currencies text, from_addresses text, from_amounts text, from_balances text, to_addresses text, to_amounts text, to_balances text, created text)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET enable_memoize TO 'off'
AS $function$
declare stored integer;
begin
  merge into sverka.balance_transaction t
    using (select unnest(sverka.lines(ids)) as id, unnest(sverka.lines(versions))::numeric as version,
          unnest(sverka.lines(statuses)) as status, unnest(sverka.lines(currencies)) as currency,
          unnest(sverka.lines(from_addresses)) as from_address, unnest(sverka.lines(from_amounts))::numeric as from_amount,
          unnest(sverka.lines(from_balances))::numeric as from_balance, unnest(sverka.lines(to_addresses)) as to_address,
          unnest(sverka.lines(to_amounts))::numeric as to_amount, unnest(sverka.lines(to_balances))::numeric as to_balance,
          unnest(sverka.lines(store_transactions.created)) as created) n
    on t.source_id = of_source and t.id = n.id
    when not matched then insert values (of_source, n.id, n.version, n.status, n.currency, n.from_address,
      n.from_amount, n.from_balance, n.to_address, n.to_amount, n.to_balance, n.created)
    when matched and (n.version > t.version or n.version = t.version
        and (n.status, n.currency, n.from_address, n.from_amount, n.from_balance, n.to_address, n.to_amount,
          n.to_balance) is distinct from (t.status, t.currency, t.from_address, t.from_amount, t.from_balance,
          t.to_address, t.to_amount, t.to_balance))
      then update set version = n.version, status = n.status, currency = n.currency, from_address = n.from_address,
        from_amount = n.from_amount, from_balance = n.from_balance, to_address = n.to_address,
        to_amount = n.to_amount, to_balance = n.to_balance, created = n.created;
  get diagnostics stored = row_count;
  return stored;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.submit_withdrawal(the_withdrawal text, by_run text, after_run text, trace text)
 RETURNS sverka.withdrawal
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare before sverka.withdrawal; w sverka.withdrawal; missing text;
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  w := before;
  w.actor := 'worker:custody'; w.trace_id := trace;
  if before.state = 'submitted' and before.route = 'custody' and before.submitted_by <> by_run then
    if before.submitted_by = after_run then
      w.submitted_by := by_run;
      return sverka.move_withdrawal(before, w, '{}');
    end if;
    w.state := 'unknown'; w.reason := 'payout_unanswered';
    return sverka.move_withdrawal(before, w, '{}');
  end if;
  if before.state is distinct from 'approved' or before.route <> 'custody' then return before; end if;
  missing := sverka.approval_missing(before);
  if missing is not null then
    raise exception 'withdrawal %: %', before.id, missing using errcode = 'insufficient_privilege';
  end if;
  w.state := 'submitted'; w.reason := null; w.submitted_by := by_run; w.submitted_at := clock_timestamp();
  return sverka.move_withdrawal(before, w, '{}');
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.suspect_withdrawal(the_withdrawal text, trace text)
 RETURNS sverka.withdrawal
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare before sverka.withdrawal; w sverka.withdrawal;
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  if before.state <> 'submitted' or before.route <> 'custody' then return before; end if;
  w := before;
  w.state := 'unknown'; w.reason := 'payout_unanswered'; w.actor := 'worker:custody'; w.trace_id := trace;
  return sverka.move_withdrawal(before, w, '{}');
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.take_passkey_challenge(with_token bytea, with_challenge bytea, with_seen bytea)
 RETURNS boolean
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with taken as (
    delete from sverka.passkey_challenge c
      where c.challenge = with_challenge and c.session_hash = with_token
        and c.seen_hash is not distinct from with_seen returning c.expires_at)
  select exists (select from taken where expires_at > clock_timestamp());
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.take_sign_in(with_state bytea, with_browser bytea, for_audience text)
 RETURNS TABLE(nonce text, verifier text, next text)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with taken as (
    delete from sverka.sign_in_attempt a
      where a.state_hash = with_state and a.browser_hash = with_browser and a.audience = for_audience returning a.*)
  select t.nonce, t.verifier, t.next from taken t where t.expires_at > clock_timestamp();
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.tell_events(ids text[], types text[], books text[], merchant_ids text[], subject_types text[], subject_ids text[], versions integer[], bodies jsonb[], trace_ids text[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare untrue text;
begin
  select t.type || ' of ' || t.subject_id into untrue
    from unnest(types, books, merchant_ids, subject_types, subject_ids, versions)
      as t(type, book, merchant_id, subject_type, subject_id, version)
    where exists (select from sverka.state_move m where m.subject_type = t.subject_type)
      and not exists (
        select from sverka.audit a
          where (a.subject_id, a.subject_type, a.book, a.merchant_id)
              = (t.subject_id, t.subject_type, t.book, t.merchant_id)
            and ((a.version = t.version and t.type = a.subject_type || '.' || a.to_state)
              or not exists (select from sverka.state_move m
                where m.subject_type = t.subject_type and t.type = m.subject_type || '.' || m.to_state)))
    limit 1;
  if found then
    raise exception 'no event % without its move', untrue using errcode = 'insufficient_privilege';
  end if;
  insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data, trace_id)
    select * from unnest(ids, types, books, merchant_ids, subject_types, subject_ids, versions, bodies, trace_ids);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.tell_receivable(w sverka.withdrawal, account bigint, change numeric, by_key bytea)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare balance numeric; alert_key text := 'receivable:' || account; movement text := sverka.encode_id('mov', by_key);
begin
  if change = 0 then return; end if;
  select b.balance into balance from ledger.account_balance b where b.account_id = account;
  if (balance - change = 0) = (balance = 0) then return; end if;
  if balance = 0 then
    perform sverka.resolve_alert(alert_key);
  else
    perform sverka.raise_alert(alert_key, 'receivable_open', w.book, 'merchant', w.merchant_id,
      'An owner owes what could not be taken back. Money out is refused until it is settled; ask for it.', w.trace_id);
  end if;
  insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data, trace_id)
    values (sverka.new_id('evt'), case when balance = 0 then 'receivable.settled' else 'receivable.opened' end, w.book,
      w.merchant_id, 'receivable', movement, 1, jsonb_build_object('object', 'receivable',
        'owner', jsonb_build_object('type', 'merchant', 'id', w.merchant_id, 'ref', null),
        'amount', sverka.amount_json(-balance, w.asset), 'movement_id', movement), w.trace_id);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.tell_withdrawal(w sverka.withdrawal)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data, trace_id)
    select sverka.new_id('evt'), 'withdrawal.' || w.state, w.book, w.merchant_id, 'withdrawal', w.id, w.version,
      sverka.withdrawal_json(w), w.trace_id
    where w.state not in ('unknown', 'found_late');
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.unlink_identity(of_user text, with_issuer text, with_subject text, by_whom text, trace text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  update sverka.user_identity i set unlinked_by = by_whom, unlinked_at = clock_timestamp()
    where i.issuer = with_issuer and i.subject = with_subject and i.user_id = of_user and i.unlinked_at is null;
  if not found then return false; end if;
  update sverka.session set revoked_at = clock_timestamp() where user_id = of_user and revoked_at is null;
  perform sverka.note_act_on_user(of_user, 'identity_unlinked', by_whom, trace);
  return true;
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.use_login_link(with_hash bytea)
 RETURNS text
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update sverka.login_link l set used_at = clock_timestamp() from sverka."user" u
    where l.token_hash = with_hash and l.used_at is null and l.expires_at > clock_timestamp()
      and u.id = l.user_id and u.disabled_at is null
    returning l.user_id;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.use_passkey(with_token bytea, the_credential text, with_counter bigint)
 RETURNS boolean
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with used as (
    update sverka.passkey p set counter = with_counter, last_used_at = clock_timestamp()
      from sverka.session s
      where p.credential_id = the_credential and p.removed_at is null
        and s.token_hash = with_token and s.user_id = p.user_id
        and (with_counter > p.counter or with_counter = 0 and p.counter = 0)
      returning 1),
  noted as (
    update sverka.session set step_up_at = clock_timestamp()
      where token_hash = with_token and exists (select from used))
  select exists (select from used);
$function$
; -- sverka_owner

CREATE OR REPLACE PROCEDURE sverka.watch_states(IN subject_table regclass, IN subject_type text)
 LANGUAGE plpgsql
AS $procedure$
begin
  execute format('create trigger guard_move before insert or update on %s
    for each row execute function sverka.guard_move(%L)', subject_table, subject_type);
  execute format('create trigger audit_move after insert or update on %s
    for each row execute function sverka.audit_move(%L)', subject_table, subject_type);
  execute format('create trigger keep_rows before delete or truncate on %s
    for each statement execute function sverka.refuse_delete()', subject_table);
  execute format('alter table %s enable always trigger guard_move', subject_table);
  execute format('alter table %s enable always trigger audit_move', subject_table);
  execute format('alter table %s enable always trigger keep_rows', subject_table);
end $procedure$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.withdrawal_approvals(w sverka.withdrawal, this_decision text)
 RETURNS integer
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select count(distinct u.person)::int from sverka.decision d join sverka."user" u on u.id = d.user_id
    where d.subject_type = 'withdrawal' and d.subject_id = w.id and d.choice = 'approve' and d.argument = w.route
      and d.seen_hash = sverka.withdrawal_approved_hash(w)
      and (d.id = this_decision or exists (
        select from sverka.decision_outcome o where o.decision_id = d.id and o.outcome = 'applied'))
      and not exists (select from sverka.withdrawal_terms t join sverka."user" asked on asked.id = t.requested_by
        where t.withdrawal_id = w.id and asked.person = u.person);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.withdrawal_approvals_needed(w sverka.withdrawal)
 RETURNS integer
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case when w.amount >= o.two_approvals_from then 2 else 1 end from sverka.withdrawal_offer o
    where o.book = w.book and o.network = w.network and o.asset = w.asset;
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.withdrawal_approved_hash(w sverka.withdrawal)
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  w.payout_ref := null; w.flag := null;
  return sverka.withdrawal_hash(w);
end $function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.withdrawal_hash(w sverka.withdrawal)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sverka.hash_parts(array[w.id, w.terms::text, w.amount::text, w.fee_amount::text, w.asset, w.network, w.address,
    coalesce('=' || w.tag, 'null'), coalesce('=' || w.payout_ref, 'null'), coalesce('=' || w.flag, 'null')]);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.withdrawal_is_being_decided(the_withdrawal text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select exists (select from sverka.decision d where d.subject_type = 'withdrawal' and d.subject_id = the_withdrawal
    and not exists (select from sverka.decision_outcome o where o.decision_id = d.id));
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.withdrawal_json(w sverka.withdrawal)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select jsonb_build_object('object', 'withdrawal', 'id', w.id, 'state', w.state, 'version', w.version,
    'reason', w.reason, 'amount', sverka.amount_json(w.amount, w.asset), 'fee', sverka.amount_json(w.fee_amount, w.asset),
    'network', w.network, 'destination', w.address, 'transaction_hash', w.transaction_hash,
    'movement_ids', to_jsonb(w.movement_ids),
    'created_at', to_char(w.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(w.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.withdrawal_key(w sverka.withdrawal, operation text)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sverka.hash_parts(array[w.book, 'sverka', w.merchant_id, 'withdrawal', w.id, w.terms::text, operation]);
$function$
; -- sverka_owner

CREATE OR REPLACE FUNCTION sverka.withdrawal_refusal(of_book text, of_merchant text, of_asset text, of_amount numeric, the_destination text)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case
      when d.id is null or d.removed_at is not null then 'destination_unknown'
      when d.usable_from > clock_timestamp() then 'destination_cooling_off'
      when o.asset is null then 'not_offered'
      when of_amount < o.smallest_amount then 'amount_too_small' end
    from (select 1) one
    left join sverka.withdrawal_destination d
      on d.id = the_destination and d.book = of_book and d.merchant_id = of_merchant
    left join sverka.withdrawal_offer o on o.book = of_book and o.network = d.network and o.asset = of_asset;
$function$
; -- sverka_owner


-- Grants on schemas

grant usage on schema ledger to sverka_cabinet;
grant usage on schema ledger to sverka_console;
grant usage on schema ledger to sverka_gateway;
grant usage on schema ledger to sverka_owner;
grant usage on schema ledger to sverka_worker;
grant usage on schema sverka to sverka_cabinet;
grant usage on schema sverka to sverka_console;
grant usage on schema sverka to sverka_gateway;
grant usage on schema sverka to sverka_relay;
grant usage on schema sverka to sverka_reports;
grant usage on schema sverka to sverka_worker;

-- Grants on tables and views

grant select on ledger.account to sverka_cabinet;
grant select on ledger.account to sverka_console;
grant select on ledger.account to sverka_gateway;
grant select on ledger.account to sverka_worker;
grant select on ledger.account_balance to sverka_cabinet;
grant select on ledger.account_balance to sverka_console;
grant select on ledger.account_balance to sverka_gateway;
grant select on ledger.account_balance to sverka_owner;
grant select on ledger.account_balance to sverka_worker;
grant select on ledger.asset to sverka_console;
grant select on ledger.asset to sverka_gateway;
grant select on ledger.asset to sverka_owner;
grant select on ledger.asset to sverka_worker;
grant select on ledger.entry to sverka_cabinet;
grant select on ledger.entry to sverka_console;
grant select on ledger.entry to sverka_gateway;
grant select on ledger.entry to sverka_worker;
grant select on ledger.movement to sverka_cabinet;
grant select on ledger.movement to sverka_console;
grant select on ledger.movement to sverka_gateway;
grant select on ledger.movement to sverka_owner;
grant select on ledger.movement to sverka_worker;
grant select on ledger.verified to sverka_console;
grant select on ledger.verified to sverka_worker;
grant select on sverka."user" to sverka_console;
grant select on sverka."user" to sverka_worker;
grant select on sverka.alert to sverka_console;
grant select on sverka.alert to sverka_worker;
grant select on sverka.api_key to sverka_console;
grant select on sverka.api_key to sverka_gateway;
grant select on sverka.api_key to sverka_worker;
grant select on sverka.audit to sverka_console;
grant select on sverka.audit to sverka_worker;
grant select on sverka.audit_seal to sverka_console;
grant select on sverka.audit_seal to sverka_worker;
grant select on sverka.balance_address to sverka_console;
grant select on sverka.balance_address to sverka_gateway;
grant select on sverka.balance_address to sverka_worker;
grant select on sverka.balance_bad_item to sverka_console;
grant insert, select, update on sverka.balance_bad_item to sverka_worker;
grant select on sverka.balance_check to sverka_console;
grant select on sverka.balance_check to sverka_gateway;
grant insert, select, update on sverka.balance_check to sverka_worker;
grant select on sverka.balance_conflict to sverka_console;
grant select on sverka.balance_conflict to sverka_worker;
grant select on sverka.balance_currency to sverka_console;
grant select on sverka.balance_currency to sverka_gateway;
grant select on sverka.balance_currency to sverka_worker;
grant select on sverka.balance_source to sverka_console;
grant select on sverka.balance_source to sverka_gateway;
grant select on sverka.balance_source to sverka_worker;
grant select on sverka.balance_transaction to sverka_console;
grant select on sverka.balance_transaction to sverka_worker;
grant select on sverka.breaker to sverka_console;
grant select on sverka.breaker to sverka_gateway;
grant select on sverka.breaker to sverka_worker;
grant select on sverka.card to sverka_cabinet;
grant select on sverka.card to sverka_console;
grant select on sverka.card to sverka_gateway;
grant insert, select, update on sverka.card to sverka_worker;
grant select on sverka.card_change to sverka_cabinet;
grant select on sverka.card_change to sverka_console;
grant select on sverka.card_change to sverka_gateway;
grant select, update on sverka.card_change to sverka_worker;
grant select on sverka.card_fee to sverka_console;
grant select on sverka.card_fee to sverka_gateway;
grant select on sverka.card_fee to sverka_worker;
grant select on sverka.card_fee_change to sverka_console;
grant select on sverka.card_load to sverka_console;
grant select on sverka.card_load to sverka_gateway;
grant insert, select, update on sverka.card_load to sverka_worker;
grant select on sverka.cardholder to sverka_gateway;
grant select on sverka.cardholder to sverka_worker;
grant select on sverka.cardholder_key to sverka_worker;
grant select on sverka.cardholder_member to sverka_worker;
grant select on sverka.check_run to sverka_console;
grant insert, select, update on sverka.check_run to sverka_worker;
grant select on sverka.customer to sverka_cabinet;
grant select on sverka.customer to sverka_console;
grant select on sverka.customer to sverka_gateway;
grant insert, select on sverka.customer to sverka_worker;
grant select on sverka.dead_letter to sverka_console;
grant select on sverka.dead_letter to sverka_worker;
grant insert, select on sverka.decision to sverka_console;
grant select on sverka.decision to sverka_worker;
grant select on sverka.decision_move to sverka_console;
grant select on sverka.decision_move to sverka_worker;
grant select on sverka.decision_outcome to sverka_console;
grant select on sverka.decision_outcome to sverka_worker;
grant select on sverka.decision_right to sverka_console;
grant select on sverka.decision_right to sverka_worker;
grant select on sverka.deposit to sverka_cabinet;
grant select on sverka.deposit to sverka_console;
grant select on sverka.deposit to sverka_gateway;
grant insert, select, update on sverka.deposit to sverka_worker;
grant select on sverka.deposit_address to sverka_cabinet;
grant select on sverka.deposit_address to sverka_console;
grant select on sverka.deposit_address to sverka_gateway;
grant insert, select, update on sverka.deposit_address to sverka_worker;
grant select on sverka.event to sverka_console;
grant select on sverka.event to sverka_worker;
grant select on sverka.event_seal to sverka_console;
grant select on sverka.event_seal to sverka_worker;
grant select on sverka.inbox to sverka_console;
grant insert, select, update on sverka.inbox to sverka_worker;
grant select on sverka.inbox_conflict to sverka_console;
grant select on sverka.inbox_conflict to sverka_worker;
grant select on sverka.issuance to sverka_cabinet;
grant select on sverka.issuance to sverka_console;
grant select on sverka.issuance to sverka_gateway;
grant insert, select, update on sverka.issuance to sverka_worker;
grant select on sverka.ledger_import to sverka_console;
grant select on sverka.ledger_import to sverka_worker;
grant select on sverka.merchant to sverka_console;
grant select on sverka.merchant to sverka_gateway;
grant select on sverka.merchant to sverka_worker;
grant select on sverka.movement_seal to sverka_console;
grant select on sverka.movement_seal to sverka_gateway;
grant select on sverka.movement_seal to sverka_worker;
grant select on sverka.passkey to sverka_console;
grant delete, insert, select, update on sverka.rate_limit to sverka_cabinet;
grant delete, insert, select, update on sverka.rate_limit to sverka_console;
grant delete, insert, select, update on sverka.rate_limit to sverka_gateway;
grant select on sverka.relay_heartbeat to sverka_console;
grant select on sverka.relay_heartbeat to sverka_worker;
grant select on sverka.request to sverka_console;
grant select on sverka.request to sverka_gateway;
grant insert, select on sverka.request to sverka_worker;
grant select on sverka.schema_version to sverka_cabinet;
grant select on sverka.schema_version to sverka_console;
grant select on sverka.schema_version to sverka_gateway;
grant select on sverka.schema_version to sverka_relay;
grant select on sverka.schema_version to sverka_reports;
grant select on sverka.schema_version to sverka_worker;
grant select on sverka.source to sverka_console;
grant insert, select, update on sverka.source to sverka_worker;
grant select on sverka.state_move to sverka_console;
grant select on sverka.state_move to sverka_worker;
grant select on sverka.user_identity to sverka_console;
grant select on sverka.withdrawal to sverka_cabinet;
grant select on sverka.withdrawal to sverka_console;
grant select on sverka.withdrawal to sverka_worker;
grant select on sverka.withdrawal_destination to sverka_cabinet;
grant select on sverka.withdrawal_destination to sverka_console;
grant select on sverka.withdrawal_destination to sverka_worker;
grant select on sverka.withdrawal_offer to sverka_cabinet;
grant select on sverka.withdrawal_offer to sverka_console;
grant select on sverka.withdrawal_offer to sverka_worker;
grant select on sverka.withdrawal_policy to sverka_cabinet;
grant select on sverka.withdrawal_policy to sverka_console;
grant select on sverka.withdrawal_policy to sverka_worker;
grant select on sverka.withdrawal_proof to sverka_console;
grant select on sverka.withdrawal_terms to sverka_cabinet;
grant select on sverka.withdrawal_terms to sverka_console;
grant select on sverka.withdrawal_terms to sverka_worker;

-- Grants on columns

grant update on sverka.balance_currency (differs_since) to sverka_worker;
grant update on sverka.balance_source (asked) to sverka_worker;
grant update on sverka.balance_source (checked_at) to sverka_worker;
grant update on sverka.balance_source (differences) to sverka_worker;
grant update on sverka.balance_source (last_action) to sverka_worker;
grant update on sverka.balance_source (next_check_at) to sverka_worker;
grant update on sverka.balance_source (not_before) to sverka_worker;
grant update on sverka.balance_source (stale_told) to sverka_worker;
grant select on sverka.cardholder (actor) to sverka_console;
grant select on sverka.cardholder (book) to sverka_console;
grant select on sverka.cardholder (created_at) to sverka_console;
grant select on sverka.cardholder (id) to sverka_console;
grant select on sverka.cardholder (merchant_id) to sverka_console;
grant select on sverka.cardholder (reason) to sverka_console;
grant select on sverka.cardholder (reference) to sverka_console;
grant select on sverka.cardholder (revision) to sverka_console;
grant select on sverka.cardholder (state) to sverka_console;
grant select on sverka.cardholder (trace_id) to sverka_console;
grant select on sverka.cardholder (updated_at) to sverka_console;
grant select on sverka.cardholder (version) to sverka_console;
grant select on sverka.withdrawal_proof (added_by) to sverka_worker;
grant select on sverka.withdrawal_proof (created_at) to sverka_worker;
grant select on sverka.withdrawal_proof (file_hash) to sverka_worker;
grant select on sverka.withdrawal_proof (file_name) to sverka_worker;
grant select on sverka.withdrawal_proof (file_type) to sverka_worker;
grant select on sverka.withdrawal_proof (id) to sverka_worker;
grant select on sverka.withdrawal_proof (transaction_hash) to sverka_worker;
grant select on sverka.withdrawal_proof (withdrawal_id) to sverka_worker;

-- Grants on sequences

grant usage on sequence sverka.read_ticket to sverka_worker;

-- Grants on functions

grant execute on ledger.mark_verified(accounts bigint[], seqs bigint[], balances numeric[]) to sverka_worker;
grant execute on ledger.open_accounts(books text[], merchants text[], customers text[], kinds text[], refs text[], asset_codes text[]) to sverka_owner;
grant execute on ledger.open_accounts(books text[], merchants text[], customers text[], kinds text[], refs text[], asset_codes text[]) to sverka_worker;
grant execute on ledger.post(keys bytea[], hashes bytea[], kinds text[], line_counts integer[], subject_types text[], subject_ids text[], generations integer[], compensated bytea[], refs text[], accounts bigint[], amounts numeric[], roles text[], trace text, OUT outcomes text[], OUT details text[], OUT movement_ids bigint[], OUT moved numeric[]) to sverka_worker;
grant execute on ledger.post_any_kind(keys bytea[], hashes bytea[], kinds text[], line_counts integer[], subject_types text[], subject_ids text[], generations integer[], compensated bytea[], refs text[], accounts bigint[], amounts numeric[], roles text[], trace text, OUT outcomes text[], OUT details text[], OUT movement_ids bigint[], OUT moved numeric[]) to sverka_owner;
grant execute on sverka.add_passkey(of_user text, with_credential text, with_key bytea, with_counter bigint, with_transports text[], by_whom text, trace text) to sverka_console;
grant execute on sverka.add_withdrawal_destination(of_book text, of_merchant text, by_user text, with_label text, of_network text, with_address text, with_tag text) to sverka_cabinet;
grant execute on sverka.add_withdrawal_proof(the_withdrawal text, by_user text, with_hash text, with_name text, with_type text, with_file bytea) to sverka_console;
grant execute on sverka.apply_withdrawal_decision(the_withdrawal text, transfer jsonb, trace text) to sverka_worker;
grant execute on sverka.apply_withdrawal_payout(the_withdrawal text, ticket bigint, payout jsonb, transfer jsonb, declined text, needs_person boolean, trace text) to sverka_worker;
grant execute on sverka.ask_balance_check(of_source integer, why text, within interval) to sverka_console;
grant execute on sverka.ask_balance_check(of_source integer, why text, within interval) to sverka_worker;
grant execute on sverka.assign_balance_source(of_book text, of_provider text, of_account text, to_merchant text, by_whom text, trace text) to sverka_console;
grant execute on sverka.audit_bytes(a sverka.audit) to sverka_console;
grant execute on sverka.audit_bytes(a sverka.audit) to sverka_worker;
grant execute on sverka.begin_passkey(with_token bytea, with_challenge bytea, with_seen bytea) to sverka_console;
grant execute on sverka.begin_sign_in(with_state bytea, with_browser bytea, for_audience text, with_nonce text, with_verifier text, with_next text) to sverka_cabinet;
grant execute on sverka.begin_sign_in(with_state bytea, with_browser bytea, for_audience text, with_nonce text, with_verifier text, with_next text) to sverka_console;
grant execute on sverka.breaker_admit(of_name text, caller text, lease interval, OUT verdict text, OUT wait_ms integer) to sverka_worker;
grant execute on sverka.breaker_failed(of_name text, caller text, failures_max integer, in_window interval, open_for interval) to sverka_worker;
grant execute on sverka.breaker_recovered(of_name text, caller text) to sverka_worker;
grant execute on sverka.bury(letter text, of_inbox text, with_reason text, with_attempts integer, with_trace text) to sverka_worker;
grant execute on sverka.cancel_withdrawal(the_withdrawal text, of_book text, of_merchant text, by_user text, seen_version integer, trace text, OUT answer text) to sverka_cabinet;
grant execute on sverka.claim_withdrawals(most integer, grace_ms double precision, lease_ms double precision, stranded_ms double precision) to sverka_worker;
grant execute on sverka.close_applied_dead_letters() to sverka_worker;
grant execute on sverka.close_decision(of_decision text, with_outcome text, with_detail text, with_trace text) to sverka_worker;
grant execute on sverka.create_api_key(new_id text, of_merchant text, of_book text, with_access text, with_hash bytea, by_whom text, trace text) to sverka_console;
grant execute on sverka.create_cardholder(new_id text, of_book text, of_merchant text, initials text[], new_country text, new_reference text, with_key_id text, with_wrapped bytea, members text[], sealed bytea[], request_id text, request_key text, request_method text, request_path text, request_fingerprint bytea, trace text) to sverka_gateway;
grant execute on sverka.create_login_link(of_login text, with_hash bytea, valid_for interval, by_whom text, trace text) to sverka_console;
grant execute on sverka.create_merchant(new_id text, new_name text, by_whom text, trace text) to sverka_console;
grant execute on sverka.create_user(new_id text, new_login text, of_merchant text, with_roles text[], by_whom text, trace text) to sverka_console;
grant execute on sverka.decide_dead_letter(letter text, with_choice text) to sverka_worker;
grant execute on sverka.edit_withdrawal(the_withdrawal text, of_book text, of_merchant text, by_user text, seen_version integer, of_amount numeric, seen_fee numeric, the_destination text, with_reference text, trace text, OUT answer text) to sverka_cabinet;
grant execute on sverka.erase_cardholder(the_id text, of_book text, of_merchant text, trace text) to sverka_gateway;
grant execute on sverka.expire_withdrawal(the_withdrawal text, trace text) to sverka_worker;
grant execute on sverka.finish_ledger_import(of_hash bytea, with_state text, with_problems jsonb) to sverka_worker;
grant execute on sverka.hash_parts(parts text[]) to sverka_console;
grant execute on sverka.inbox_accept(ids text[], providers text[], endpoints text[], books text[], delivery_ids text[], bodies bytea[], hashes bytea[], event_types text[], subject_types text[], subject_refs text[], statuses text[], reasons text[], trace_ids text[], OUT outcomes text[]) to sverka_relay;
grant execute on sverka.inbox_follower(of_book text, of_provider text, of_account text, of_ref text) to sverka_relay;
grant execute on sverka.join_persons(one text, other text) to sverka_console;
grant execute on sverka.link_identity(of_user text, with_issuer text, with_subject text, by_whom text, trace text) to sverka_console;
grant execute on sverka.lock_balance_source(of_book text, of_provider text, of_account text) to sverka_worker;
grant execute on sverka.lock_dead_letter(letter text) to sverka_worker;
grant execute on sverka.lock_requested_import(OUT file_hash bytea, OUT lines jsonb, OUT trace_id text) to sverka_worker;
grant execute on sverka.look_at_cardholder(the_cardholder text, by_user text, trace text) to sverka_console;
grant execute on sverka.move_balance_base(of_source integer, at_cursor text, is_reset boolean) to sverka_worker;
grant execute on sverka.move_balances(of_source integer, from_journal boolean, addresses text, currencies text, lowest text, lowest_balances text, lowest_out text, lowest_in text, highest text, highest_balances text, OUT moved integer, OUT stale integer, OUT conflicts integer, OUT gaps integer) to sverka_worker;
grant execute on sverka.note_balance_rebase(of_decision text, with_trace text) to sverka_worker;
grant execute on sverka.note_refused_decision(the_withdrawal text, by_user text, why text, trace text) to sverka_console;
grant execute on sverka.open_identity_session(of_issuer text, of_subject text, with_token bytea, with_csrf bytea, for_audience text) to sverka_cabinet;
grant execute on sverka.open_identity_session(of_issuer text, of_subject text, with_token bytea, with_csrf bytea, for_audience text) to sverka_console;
grant execute on sverka.open_session(with_link bytea, with_token bytea, with_csrf bytea, for_audience text) to sverka_cabinet;
grant execute on sverka.open_session(with_link bytea, with_token bytea, with_csrf bytea, for_audience text) to sverka_console;
grant execute on sverka.payout_follower(of_book text, of_payout text) to sverka_relay;
grant execute on sverka.payout_follower(of_book text, of_payout text) to sverka_worker;
grant execute on sverka.plain_hash(hash text) to sverka_console;
grant execute on sverka.plain_hash(hash text) to sverka_worker;
grant execute on sverka.raise_alert(alert_key text, alert_kind text, of_book text, of_type text, of_id text, with_detail text, with_trace text) to sverka_worker;
grant execute on sverka.read_session(with_token bytea, for_audience text) to sverka_cabinet;
grant execute on sverka.read_session(with_token bytea, for_audience text) to sverka_console;
grant execute on sverka.relay_health() to sverka_relay;
grant execute on sverka.relay_heartbeat(relay_name text, rejected_count bigint, failed_count bigint) to sverka_relay;
grant execute on sverka.remind_of_withdrawal(the_withdrawal text, step text, trace text) to sverka_worker;
grant execute on sverka.remove_passkey(of_user text, the_credential text, by_whom text, trace text) to sverka_console;
grant execute on sverka.remove_withdrawal_destination(the_destination text, of_book text, of_merchant text, by_user text) to sverka_cabinet;
grant execute on sverka.request_card_change(the_card text, of_book text, of_merchant text, change_kind text, seen_version integer, event_data jsonb, request_id text, request_key text, request_method text, request_path text, request_fingerprint bytea, trace text, OUT answer text, OUT change_number integer) to sverka_gateway;
grant execute on sverka.request_ledger_import(with_hash bytea, with_lines jsonb, by_actor text, with_trace text) to sverka_console;
grant execute on sverka.request_withdrawal(of_book text, of_merchant text, by_user text, with_key text, of_asset text, of_amount numeric, seen_fee numeric, the_destination text, with_reference text, trace text, OUT answer text, OUT withdrawal_id text) to sverka_cabinet;
grant execute on sverka.resolve_alert(alert_key text) to sverka_worker;
grant execute on sverka.revise_cardholder(the_id text, of_book text, of_merchant text, to_revision integer, initials text[], new_country text, reference_given boolean, new_reference text, with_key_id text, with_wrapped bytea, members text[], sealed bytea[], with_fingerprint bytea, trace text) to sverka_gateway;
grant execute on sverka.revoke_api_key(key_id text, by_whom text, trace text) to sverka_console;
grant execute on sverka.revoke_session(with_token bytea) to sverka_cabinet;
grant execute on sverka.revoke_session(with_token bytea) to sverka_console;
grant execute on sverka.revoke_sessions(of_user text, by_whom text, trace text) to sverka_console;
grant execute on sverka.seal(most integer) to sverka_gateway;
grant execute on sverka.seal(most integer) to sverka_worker;
grant execute on sverka.sessions_of(of_user text) to sverka_console;
grant execute on sverka.set_card_fee(of_merchant text, of_product text, of_asset text, new_amount numeric, new_set_by text) to sverka_console;
grant execute on sverka.set_user_disabled(of_user text, is_disabled boolean, by_whom text, trace text) to sverka_console;
grant execute on sverka.set_user_roles(of_user text, with_roles text[], by_whom text, trace text) to sverka_console;
grant execute on sverka.set_withdrawal_offer(of_book text, of_network text, of_asset text, with_fee numeric, with_smallest numeric, with_two_from numeric, with_routes text[], by_whom text, trace text) to sverka_console;
grant execute on sverka.set_withdrawal_policy(of_book text, with_cooling_off interval, with_expires_after interval, by_whom text, trace text) to sverka_console;
grant execute on sverka.state_balances(of_source integer, currencies text[], balances numeric[], frozen numeric[], held numeric[], available numeric[]) to sverka_worker;
grant execute on sverka.store_transactions(of_source integer, ids text, versions text, statuses text, currencies text, from_addresses text, from_amounts text, from_balances text, to_addresses text, to_amounts text, to_balances text, created text) to sverka_worker;
grant execute on sverka.submit_withdrawal(the_withdrawal text, by_run text, after_run text, trace text) to sverka_worker;
grant execute on sverka.suspect_withdrawal(the_withdrawal text, trace text) to sverka_worker;
grant execute on sverka.take_passkey_challenge(with_token bytea, with_challenge bytea, with_seen bytea) to sverka_console;
grant execute on sverka.take_sign_in(with_state bytea, with_browser bytea, for_audience text) to sverka_cabinet;
grant execute on sverka.take_sign_in(with_state bytea, with_browser bytea, for_audience text) to sverka_console;
grant execute on sverka.tell_events(ids text[], types text[], books text[], merchant_ids text[], subject_types text[], subject_ids text[], versions integer[], bodies jsonb[], trace_ids text[]) to sverka_worker;
grant execute on sverka.unlink_identity(of_user text, with_issuer text, with_subject text, by_whom text, trace text) to sverka_console;
grant execute on sverka.use_login_link(with_hash bytea) to sverka_console;
grant execute on sverka.use_passkey(with_token bytea, the_credential text, with_counter bigint) to sverka_console;
grant execute on sverka.withdrawal_approved_hash(w sverka.withdrawal) to sverka_console;
grant execute on sverka.withdrawal_hash(w sverka.withdrawal) to sverka_console;
grant execute on sverka.withdrawal_refusal(of_book text, of_merchant text, of_asset text, of_amount numeric, the_destination text) to sverka_cabinet;
