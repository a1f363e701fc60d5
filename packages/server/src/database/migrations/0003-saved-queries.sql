-- Saved queries, the ledger of their runs, and results until they are fetched.

create table saved_queries (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  -- Whose rights its runs have; null when that user is gone.
  owner_id text,
  name text not null check (name <> ''),
  -- `json` keeps the order of keys, by which a query may order its rows, and every character.
  queries json not null,
  schedule json not null default '{}',
  -- The next planned time; null without a schedule that runs.
  next_run_at timestamptz,
  -- Planned times up to here have their entries. The next one is looked for from here, since the rules of a zone change.
  planned_to timestamptz not null default now(),
  -- Why the service has paused the schedule.
  paused_reason text,
  -- Scheduled runs that have failed since one succeeded.
  failures integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  foreign key (company_id, owner_id) references users (company_id, id) on delete set null (owner_id)
);

create index saved_queries_company on saved_queries (company_id, created_at desc, id desc);
create index saved_queries_owner on saved_queries (owner_id);
create index saved_queries_due on saved_queries (next_run_at) where next_run_at is not null;

-- The ledger of runs, and the queue that workers take them from.
create table saved_query_runs (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  saved_query_id text not null,
  trigger text not null check (trigger in ('schedule', 'manual')),
  -- Who asked for a manual run; a scheduled one has the rights of the owner.
  asked_by text,
  planned_for timestamptz not null,
  state text not null check (state in ('queued', 'running', 'delivered', 'failed', 'missed')),
  attempts integer not null default 0,
  -- When a queued run may begin.
  due_at timestamptz not null default now(),
  -- Until when the process that runs it is taken to be alive.
  lease_until timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  recipients json not null default '[]',
  results json not null default '[]',
  results_until timestamptz,
  reason text,
  created_at timestamptz not null default now(),
  foreign key (company_id, saved_query_id) references saved_queries (company_id, id) on delete cascade
);

-- Each planned time has one entry, whichever processes reach it.
create unique index saved_query_runs_planned on saved_query_runs (saved_query_id, planned_for)
  where trigger = 'schedule';
create index saved_query_runs_ledger on saved_query_runs (saved_query_id, planned_for desc, id desc);
-- Runs of one saved query do not overlap.
create unique index saved_query_runs_under_way on saved_query_runs (saved_query_id)
  where state in ('queued', 'running');
create index saved_query_runs_queued on saved_query_runs (due_at) where state = 'queued';
create index saved_query_runs_running on saved_query_runs (company_id, lease_until) where state = 'running';
create index saved_query_runs_results on saved_query_runs (results_until) where results_until is not null;
create index saved_query_runs_age on saved_query_runs (created_at);

-- Results as CSV in pieces. Each attempt writes its own; those of the one that was delivered stay.
create table saved_query_results (
  run_id text not null references saved_query_runs on delete cascade,
  attempt integer not null,
  query_index integer not null,
  piece integer not null,
  content bytea not null,
  primary key (run_id, attempt, query_index, piece)
);

-- Messages about runs to linked accounts.
create table saved_query_messages (
  run_id text not null references saved_query_runs on delete cascade,
  linked_account_id text not null,
  state text not null check (state in ('queued', 'sent', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  reason text,
  primary key (run_id, linked_account_id)
);

create index saved_query_messages_due on saved_query_messages (due_at) where state = 'queued';
