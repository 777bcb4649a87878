-- Rights as the routes and checks of this build need them, and no more.
set role sverka_owner;

-- The nightly check holds the audit's chain against the audit.
grant execute on function sverka.audit_bytes to sverka_worker;

-- No route of the gateway shows events.
revoke select on sverka.event, sverka.event_seal from sverka_gateway;

reset role;
