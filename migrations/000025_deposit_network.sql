-- The network and the asset of a deposit are what the custodian says of it: he may correct them until it is credited.
-- (000015 fixed the network at birth, so a corrected record could never be credited as what it is.)
set role sverka_owner;

drop trigger keep_terms on sverka.deposit;
create trigger keep_terms before update of customer_id, deposit_address_id, kind, network, reported_asset, provider,
    provider_account, provider_ref, settlement_mode, settlement_asset on sverka.deposit for each row
  when ((old.customer_id, old.deposit_address_id, old.kind, old.provider, old.provider_account, old.provider_ref,
      old.settlement_mode, old.settlement_asset) is distinct from (new.customer_id, new.deposit_address_id, new.kind,
      new.provider, new.provider_account, new.provider_ref, new.settlement_mode, new.settlement_asset)
    or old.state in ('credited', 'final')
      and (old.network, old.reported_asset) is distinct from (new.network, new.reported_asset))
  execute function sverka.refuse_new_terms();
alter table sverka.deposit enable always trigger keep_terms;

reset role;
