-- What pages read: the cabinet's own rights, and indexes of what is open, which few rows are at any time.
set role sverka_owner;

create index deposit_person on sverka.deposit (created_at, id) where state = 'parked' or flag is not null;
create index issuance_person on sverka.issuance (created_at, id)
  where state = 'unknown' or flag is not null or needs_operator;
create index dead_letter_open on sverka.dead_letter (created_at, id) where closed_at is null;
create index alert_open on sverka.alert (opened_at, id) where state = 'open';
create index deposit_address_waiting on sverka.deposit_address (created_at) where state in ('preparing', 'unknown');
create index card_last4 on sverka.card (last4) where last4 is not null;
-- Lists are in the order of ids; the test book is the smaller one and would be looked for in the other.
create index deposit_of_test on sverka.deposit (id) where book = 'test';
create index issuance_of_test on sverka.issuance (id) where book = 'test';

grant select on sverka.customer, sverka.deposit_address, sverka.deposit, sverka.card, sverka.issuance,
  sverka.card_change to sverka_cabinet;

reset role;
set role sverka_ledger_owner;

grant usage on schema ledger to sverka_cabinet;
grant select on ledger.account, ledger.account_balance, ledger.entry, ledger.movement to sverka_cabinet;

reset role;
