-- For how long one that was given up is asked about, and which settled ones nobody has looked at since.
set role sverka_owner;

alter table sverka.issuance add column failed_at timestamptz;
create index issuance_unread on sverka.issuance (id) where state = 'active' and last_read_at <= settled_at;
create index issuance_given_up on sverka.issuance (id) where state = 'failed' and submitted_at is not null;

reset role;
