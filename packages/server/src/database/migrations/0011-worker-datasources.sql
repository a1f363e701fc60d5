-- Worker datasources: where their rows come from, their fields and versions, the ledger of imports, and the rows.

alter table datasources drop constraint if exists datasources_kind_check;
alter table datasources add constraint datasources_kind_check
  check (kind in ('tracking', 'workflow_events', 'worker'));

create table worker_datasources (
  datasource_id text primary key,
  company_id text not null,
  type text not null check (type in ('generic', 'product', 'location', 'crm')),
  -- Who made it, and gets a mail when an import fails; null when that user is gone.
  created_by text,
  -- What stands in `source` but headers and content; null until there is one.
  source json,
  -- Headers of the request: they may hold credentials.
  sealed_headers bytea,
  -- The stored file: its name in the directory of contents, and what it is.
  content json,
  -- What the address answered when it was imported last, so that unchanged content is not imported again.
  fetched json,
  update_strategy text not null default 'replace' check (update_strategy in ('replace', 'upsert')),
  max_refused_share real not null default 0.5 check (max_refused_share between 0 and 1),
  schedule json,
  -- The next planned import; null while there is none.
  next_refresh_at timestamptz,
  planned_to timestamptz not null default now(),
  -- The draft.
  fields json not null default '[]',
  fields_updated_at timestamptz not null default now(),
  -- Why the last import failed; the creator has been mailed once since one succeeded.
  failure text,
  foreign key (company_id, datasource_id) references datasources (company_id, id) on delete cascade,
  foreign key (company_id, created_by) references users (company_id, id) on delete set null (created_by)
);

create index worker_datasources_due on worker_datasources (next_refresh_at) where next_refresh_at is not null;
create index worker_datasources_creator on worker_datasources (company_id, created_by);

-- Each version of rows has a table of its own in the schema `datasource_rows`. The live one is named by no other.
create table datasource_versions (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  datasource_id text not null,
  state text not null check (state in ('live', 'retired')),
  fields json not null,
  key_field text,
  row_count bigint not null,
  -- Counts the imports that changed its rows.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Since when no new reader finds it.
  retired_at timestamptz,
  foreign key (company_id, datasource_id) references datasources (company_id, id) on delete cascade
);

create unique index datasource_versions_live on datasource_versions (datasource_id) where state = 'live';
create index datasource_versions_retired on datasource_versions (retired_at) where state = 'retired';
create index datasource_versions_datasource on datasource_versions (company_id, datasource_id);

-- The ledger of imports, and the queue that workers take them from.
create table datasource_imports (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  datasource_id text not null,
  trigger text not null check (trigger in ('upload', 'refresh', 'schedule', 'live')),
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'unchanged', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  -- Until when the process that runs it is taken to be alive.
  lease_until timestamptz,
  rows_read bigint not null default 0,
  rows_stored bigint not null default 0,
  rows_refused bigint not null default 0,
  bytes bigint not null default 0,
  -- Of the content; null while it is unknown.
  bytes_total bigint,
  fault json,
  started_at timestamptz,
  ended_at timestamptz,
  created_at timestamptz not null default now(),
  foreign key (company_id, datasource_id) references datasources (company_id, id) on delete cascade
);

create index datasource_imports_ledger on datasource_imports (datasource_id, created_at desc, id desc);
-- Imports of one datasource do not overlap.
create unique index datasource_imports_under_way on datasource_imports (datasource_id)
  where state in ('queued', 'running');
create index datasource_imports_queued on datasource_imports (due_at) where state = 'queued';
create index datasource_imports_running on datasource_imports (company_id, lease_until) where state = 'running';
create index datasource_imports_ended on datasource_imports (ended_at) where ended_at is not null;

-- What rows of an import met: one line for each rule and field, with a masked sample.
create table datasource_import_log (
  id bigint generated always as identity primary key,
  company_id text not null,
  datasource_id text not null,
  at timestamptz not null default now(),
  kind text not null check (kind in ('dropped', 'changed', 'refused', 'noted')),
  rule text not null,
  path text not null,
  sample text not null,
  count bigint not null,
  foreign key (company_id, datasource_id) references datasources (company_id, id) on delete cascade
);

create index datasource_import_log_read on datasource_import_log (datasource_id, at desc, id desc);
create index datasource_import_log_at on datasource_import_log (at);

-- The service's role may not make tables. It may ask for these things, which name a version and nothing else; who may
-- use the schema may ask for them.
create schema datasource_rows;

create function datasource_rows.make(version text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if version !~ '^[0-9a-f]{24}$' then
    raise exception 'no identifier of a version';
  end if;
  execute format(
    'create table datasource_rows.%I (position bigint not null, key text, row jsonb not null)', 'v_' || version);
  execute format(
    'grant select, insert, update, delete on datasource_rows.%I to %I', 'v_' || version, session_user);
end
$$;

-- Made once the rows are there. A key that comes twice is a violation of it.
create function datasource_rows.finish(version text, keyed boolean) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if version !~ '^[0-9a-f]{24}$' then
    raise exception 'no identifier of a version';
  end if;
  if keyed then
    execute format('create unique index on datasource_rows.%I (key)', 'v_' || version);
  end if;
  execute format('create index on datasource_rows.%I (position)', 'v_' || version);
  execute format('analyze datasource_rows.%I', 'v_' || version);
end
$$;

create function datasource_rows.remove(version text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if version !~ '^[0-9a-f]{24}$' then
    raise exception 'no identifier of a version';
  end if;
  execute format('drop table if exists datasource_rows.%I', 'v_' || version);
end
$$;
