-- How often the issuer was asked about an issuance: a person who decides sees it.
set role sverka_owner;

alter table sverka.issuance add column looks integer not null default 0 check (looks >= 0);

reset role;
