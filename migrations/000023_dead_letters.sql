-- A dead letter may come again after a replay, so it is one row per (inbox row, generation of attempts).
set role sverka_owner;

alter table sverka.dead_letter add column replays integer not null default 0;
alter table sverka.dead_letter add column book text not null default 'live' check (book in ('live', 'test'));
alter table sverka.dead_letter alter column book drop default;
alter table sverka.dead_letter add column closed_how text check (closed_how in ('abandoned', 'applied'));
alter table sverka.dead_letter add constraint closed_together check ((closed_at is null) = (closed_how is null));
alter table sverka.dead_letter drop column closed_by;

reset role;
