-- Exports of events and orders: what is asked for, and the queue that workers take them from.
create table statistics_exports (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  -- Whose rights it has; a user, who may be gone.
  requested_by text not null,
  table_name text not null check (table_name in ('events', 'orders')),
  format text not null check (format in ('parquet', 'ndjson', 'csv')),
  from_day date not null,
  -- Null: the last day that is over at each run.
  until_day date,
  datasources json,
  every_hours integer check (every_hours between 1 and 168),
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_until timestamptz,
  started_at timestamptz,
  -- When the files were up to date last.
  finished_at timestamptz,
  reason text,
  created_at timestamptz not null default now()
);

create index statistics_exports_company on statistics_exports (company_id, created_at desc, id);
create index statistics_exports_queued on statistics_exports (due_at) where state = 'queued';
create index statistics_exports_running on statistics_exports (company_id, lease_until) where state = 'running';

create table statistics_export_files (
  export_id text not null references statistics_exports on delete cascade,
  day date not null,
  rows bigint not null,
  bytes bigint not null,
  sha256 text not null,
  -- Of the rows it was written of: another one says that the day has changed since.
  fingerprint text not null,
  written_at timestamptz not null default now(),
  primary key (export_id, day)
);

create trigger statistics_exports_work after insert on statistics_exports
  for each statement execute function notify_work();
