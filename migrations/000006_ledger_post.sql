-- The journal's door. Arrays in, outcomes out, one `post` per transaction and as late as possible.
--
-- Per movement: keys, hashes, kinds, line_counts, subject_types, subject_ids, generations, compensated, refs.
-- Per line, movement after movement: accounts, amounts, roles.
--
--   role     amount         means
--   leg      signed, not 0  moves exactly this
--   draw     null           below a debit leg or another draw of its asset: takes what the lines above could not; each
--                           goes down to its floor, the last takes the rest
--   guard    null           after the legs: this account must stand at zero
--   collect  null           a pair (from, to) that is the whole movement: as much as `from` has above its floor and
--                           `to` can take below its cap
--
-- Outcomes: posted | duplicate | conflict | guarded | insufficient | nothing | invalid. Only `posted` moved money; the
-- last four leave the key free. `details` says why invalid, or which account owes or lacks. `moved` is the split per
-- line; for a duplicate, the first one. Nothing about one movement raises, and none spoils the others.
set role sverka_ledger_owner;

create function ledger.post_any_kind(
  keys bytea[], hashes bytea[], kinds text[], line_counts int[],
  subject_types text[], subject_ids text[], generations int[], compensated bytea[], refs text[],
  accounts bigint[], amounts numeric[], roles text[],
  trace text default null,
  out outcomes text[], out details text[], out movement_ids bigint[],
  out moved numeric[])
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
-- A plan made while `movement` was small would go on scanning it; and planning anew each time costs half as much again.
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
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
end $$;

-- What is granted: all kinds but those of a withdrawal, which move only behind a person's decision, through functions
-- of their own (DESIGN 4). So a worker's database credential alone cannot send money out.
create function ledger.post(
  keys bytea[], hashes bytea[], kinds text[], line_counts int[],
  subject_types text[], subject_ids text[], generations int[], compensated bytea[], refs text[],
  accounts bigint[], amounts numeric[], roles text[],
  trace text default null,
  out outcomes text[], out details text[], out movement_ids bigint[],
  out moved numeric[])
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  if exists (select from unnest(kinds) k where k like 'withdrawal%') then
    raise exception 'a withdrawal moves through the functions that check its decision, not through ledger.post'
      using errcode = 'insufficient_privilege';
  end if;
  select p.outcomes, p.details, p.movement_ids, p.moved into post.outcomes, post.details, post.movement_ids, post.moved
    from ledger.post_any_kind(keys, hashes, kinds, line_counts, subject_types, subject_ids, generations, compensated,
      refs, accounts, amounts, roles, trace) p;
end $$;

reset role;
