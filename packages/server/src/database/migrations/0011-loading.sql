-- How far the event log is loaded, and what was counted on the way: both move in one transaction.

create table if not exists loader_checkpoints (
  log text primary key,
  segment bigint not null check (segment >= 0),
  byte_offset bigint not null check (byte_offset >= 0),
  -- The greatest reception time loaded: keys of events received long before it are not needed any more.
  received_at timestamptz,
  updated_at timestamptz not null default now()
);

-- Not references: events that are on their way are counted, whatever became of their datasource meanwhile.
create table if not exists datasource_counters (
  company_id text not null,
  datasource_id text not null,
  accepted bigint not null default 0 check (accepted >= 0),
  changed bigint not null default 0 check (changed >= 0),
  dropped bigint not null default 0 check (dropped >= 0),
  bot bigint not null default 0 check (bot >= 0),
  duplicate bigint not null default 0 check (duplicate >= 0),
  updated_at timestamptz not null default now(),
  primary key (company_id, datasource_id)
);
