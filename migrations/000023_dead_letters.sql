-- One row per notification, however often it dies: a replay that fails opens it again, with what is known by then.
set role sverka_owner;

alter table sverka.dead_letter add column replays integer not null default 0;
alter table sverka.dead_letter add column book text check (book in ('live', 'test'));
update sverka.dead_letter l set book = i.book from sverka.inbox i where i.id = l.inbox_id;
alter table sverka.dead_letter alter column book set not null;
alter table sverka.dead_letter add column closed_how text check (closed_how in ('abandoned', 'applied'));
alter table sverka.dead_letter add constraint closed_together check ((closed_at is null) = (closed_how is null));
-- Who closed it stands in the decision.
alter table sverka.dead_letter drop column closed_by;

reset role;
