-- A waiting deposit that the custodian no longer shows would wait for ever: a person may end it.
set role sverka_owner;

insert into sverka.state_move (subject_type, from_state, to_state, by_decision) values ('deposit', 'noticed', 'dropped', true);
insert into sverka.decision_move (subject_type, choice, from_state, to_state) values
  ('deposit', 'drop', 'noticed', 'dropped'),
  ('deposit', 'drop', 'confirming', 'dropped');
insert into sverka.decision_right (subject_type, choice, role) values
  ('deposit', 'drop', 'operator'),
  ('deposit', 'drop', 'admin');

reset role;
