-- Who may read the journal, and who may execute what writes it. Nobody may INSERT: only the owner's functions do.
set role sverka_ledger_owner;

revoke all on function ledger.open_accounts, ledger.post_any_kind, ledger.post, ledger.mark_verified,
  ledger.refuse_change from public;

grant select on all tables in schema ledger to sverka_worker, sverka_console;
grant select on ledger.asset, ledger.account, ledger.movement, ledger.entry, ledger.account_balance to sverka_gateway;
grant execute on function ledger.open_accounts, ledger.post, ledger.mark_verified to sverka_worker;

reset role;
