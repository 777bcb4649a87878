-- What money is counted in. The list is that of src/domain/assets.ts; a test compares the two.
set role sverka_ledger_owner;

create table ledger.asset (
  code text primary key check (code ~ '^[A-Z0-9-]{3,20}$'),
  decimals smallint not null check (decimals between 0 and 18),
  unique (code, decimals)
);

insert into ledger.asset (code, decimals)
  select unnest(string_to_array(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF', ' ')), 0
  union all
  select unnest(string_to_array(
    'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF ' ||
    'CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL ' ||
    'HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP ' ||
    'MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD ' ||
    'SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS ' ||
    'VED VES WST XCD YER ZAR ZMW ZWG', ' ')), 2
  union all
  select unnest(string_to_array(
    'BHD IQD JOD KWD LYD OMR TND', ' ')), 3
  union all
  select unnest(string_to_array(
    'USDT-TRC20 USDC-ETH', ' ')), 6
  union all
  select unnest(string_to_array(
    'BTC', ' ')), 11
  union all
  select unnest(string_to_array(
    'ETH', ' ')), 18;

create function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the journal is append-only: % on ledger.% refused; post a new movement that compensates instead',
    tg_op, tg_table_name using errcode = 'insufficient_privilege';
end $$;

create trigger append_only before update or delete or truncate on ledger.asset
  for each statement execute function ledger.refuse_change();
alter table ledger.asset enable always trigger append_only;

reset role;
