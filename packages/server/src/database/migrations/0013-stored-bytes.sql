-- What a company stores: the size of rows is kept beside their version, so that a sum reads no table of rows.

alter table datasource_versions add column row_bytes bigint not null default 0;
update datasource_versions
  set row_bytes = coalesce(pg_total_relation_size(to_regclass('datasource_rows.v_' || id)), 0);
alter table datasource_versions alter column row_bytes drop default;

-- Room for what is being stored: it counts until the transaction that names what was stored. Without a reference to the
-- company, whose row others may hold for long: a hold ends by itself.
create table storage_holds (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  bytes bigint not null,
  -- Until when the process that stores is taken to be alive.
  lease_until timestamptz not null
);

create index storage_holds_company on storage_holds (company_id);
