-- Roles belong to the cluster, not to the database: another database's migrator may have made them, or be making them
-- now. Each role is made with its settings in one block, so that whoever loses the race finds all of it done.
-- The owners cannot log in: only a superuser becomes one of them. A password is set by whoever deploys.
do $$
declare
  owner_name text;
  login_name text;
begin
  foreach owner_name in array array['sverka_owner', 'sverka_ledger_owner'] loop
    begin
      execute format('create role %I nologin', owner_name);
    exception when duplicate_object or unique_violation then null;
    end;
    -- A migrator that is no superuser has to be a member to create what the owner will own.
    if not pg_has_role(current_user, owner_name, 'member') then
      execute format('grant %I to current_user', owner_name);
    end if;
  end loop;

  foreach login_name in array array['sverka_worker', 'sverka_gateway', 'sverka_relay', 'sverka_console',
                                    'sverka_cabinet', 'sverka_reports', 'sverka_simulators'] loop
    begin
      execute format('create role %I login', login_name);
      execute format('alter role %I set statement_timeout = ''5s''', login_name);
      execute format('alter role %I set lock_timeout = ''2s''', login_name);
      execute format('alter role %I set idle_in_transaction_session_timeout = ''10s''', login_name);
      if login_name = 'sverka_simulators' then    -- pg_stat_activity in full, to see a transaction held open
        execute format('grant pg_read_all_stats to %I', login_name);
      end if;
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
end $$;
