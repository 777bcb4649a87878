-- How often a notification was made to wait anew: a reader settles only what waited before its read, and a nudge that
-- our own reader has left again in the same row meanwhile is another one.
set role sverka_owner;

alter table sverka.inbox add column armed integer not null default 1;

reset role;
