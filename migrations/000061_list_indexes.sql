-- Lists by a state that few rows are in read those rows alone; one way to write an id.
set role sverka_owner;

create index deposit_uncommon on sverka.deposit (state, id)
  where state in ('noticed', 'confirming', 'rejected', 'parked', 'dropped', 'orphaned');
create index issuance_uncommon on sverka.issuance (state, id)
  where state in ('reserved', 'submitted', 'pending', 'unknown', 'failed', 'found_late');
create index withdrawal_uncommon on sverka.withdrawal (state, id)
  where state in ('requested', 'approved', 'submitted', 'unknown', 'failed', 'found_late', 'rejected', 'cancelled');

-- Version 7 in the place of 4; the variant is the same. In order of the millisecond.
create or replace function sverka.new_id(prefix text) returns text
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select sverka.encode_id(prefix, set_byte(overlay(r.random placing r.milliseconds from 1 for 6), 6,
      get_byte(r.random, 6) & 15 | 112))
    from (select uuid_send(gen_random_uuid()) as random,
        substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) as milliseconds) r;
$$;

-- As `hashParts` of db/new-id.ts, also of no parts at all.
create or replace function sverka.hash_parts(parts text[]) returns bytea
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select sha256(coalesce(string_agg(int4send(octet_length(p.bytes)) || p.bytes, ''::bytea order by p.place), ''))
    from (select convert_to(part, 'UTF8') as bytes, place from unnest(parts) with ordinality x(part, place)) p;
$$;

reset role;
