-- A hash of hex digits is the same in capitals and with 0x in front: one output is credited once, however it is written
-- (R10). The row keeps it as the custodian wrote it; src/domain/deposit.ts has the same rule.
set role sverka_owner;

create function sverka.plain_hash(hash text) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp as $$
  select case when hash ~* '^(0x)?[0-9a-f]+$' then lower(regexp_replace(hash, '^0x', '', 'i')) else hash end;
$$;
revoke all on function sverka.plain_hash from public;
grant execute on function sverka.plain_hash to sverka_worker, sverka_console;

drop index sverka.deposit_output;
create unique index deposit_output
  on sverka.deposit (book, provider, provider_account, network, sverka.plain_hash(tx_hash), output_index)
  where state in ('credited', 'final');
-- Whatever was booked of an output before, also what was taken back.
create index deposit_booked_output on sverka.deposit (book, provider, provider_account, sverka.plain_hash(tx_hash))
  where movement_ids <> '{}';

reset role;
