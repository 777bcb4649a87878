-- Which workflow follows the card that a notification names: asked by the relay after it has answered, to nudge it.
set role sverka_owner;

alter table sverka.issuance add column workflow_id text not null;

create function sverka.inbox_follower(of_book text, of_provider text, of_account text, of_ref text) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select i.workflow_id from sverka.issuance i
    where i.book = of_book and i.provider = of_provider and i.provider_account = of_account
      and (i.id = of_ref or i.provider_ref = of_ref)
    order by i.id desc limit 1;
$$;
revoke all on function sverka.inbox_follower from public;
grant execute on function sverka.inbox_follower to sverka_relay;

reset role;
