-- Analysis reports, the ledger of their generations, the results that they rest on, and the settings of automatic ones.

create table reports (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  -- A user, who may be gone, or `platform`.
  created_by text not null,
  requested_type text not null check (requested_type in ('user', 'platform', 'unknown')),
  requested_by text,
  title text,
  question text,
  origin_type text not null check (origin_type in ('free-form', 'dashboard')),
  dashboard_path text,
  dashboard_title text,
  guided_analysis text check (guided_analysis in ('impact', 'revenue', 'engagement', 'retention')),
  timezone text not null,
  locale text not null,
  period_start timestamptz,
  period_end timestamptz,
  comparison_windows json,
  section_count integer not null default 0,
  publication_quality text check (publication_quality in ('answered', 'limited')),
  -- Of all evidence that is stored for it.
  evidence_bytes integer not null default 0,
  -- The last generation, where it has failed.
  failed_generation_id text,
  archived_at timestamptz,
  -- Of automatic reports alone.
  slug text,
  cadence text check (cadence in ('monthly', 'quarterly', 'yearly')),
  period_key text,
  prompt_snapshot json,
  settings_id text,
  supersedes_id text,
  superseded_by_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  check (num_nonnulls(slug, cadence, period_key, prompt_snapshot, settings_id) in (0, 5))
);

create index reports_listed on reports (company_id, created_at desc, id desc) where archived_at is null;
create index reports_company on reports (company_id, created_at desc, id desc);
create index reports_archived on reports (company_id, archived_at) where archived_at is not null;
-- Each period has one report that stands, whichever processes reach its end.
create unique index reports_period on reports (company_id, slug, period_key)
  where slug is not null and superseded_by_id is null;

-- The ledger of generations, and the queue that workers take them from.
create table report_generations (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  report_id text not null,
  kind text not null check (kind in ('initial', 'follow-up')),
  question text not null,
  requested_type text not null check (requested_type in ('user', 'platform', 'unknown')),
  requested_by text,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
  attempts integer not null default 0,
  -- When a queued one may begin.
  due_at timestamptz not null default now(),
  -- Until when the process that runs it is taken to be alive.
  lease_until timestamptz,
  progress real not null default 0,
  started_at timestamptz,
  ended_at timestamptz,
  sections json,
  usage json,
  -- Code, message and a bounded part of the evidence, as the list of reports shows them.
  failure json,
  created_at timestamptz not null default now(),
  foreign key (company_id, report_id) references reports (company_id, id) on delete cascade
);

create index report_generations_ledger on report_generations (report_id, created_at, id);
-- Generations of one report do not overlap.
create unique index report_generations_under_way on report_generations (report_id)
  where state in ('queued', 'running');
create index report_generations_queued on report_generations (due_at) where state = 'queued';
create index report_generations_running on report_generations (company_id, lease_until) where state = 'running';
create index report_generations_user on report_generations (company_id, requested_by, created_at);

-- Queries with their rows, stored as they come: an attempt goes on with what those before it have read.
create table report_evidence (
  generation_id text not null references report_generations on delete cascade,
  id text not null,
  company_id text not null,
  report_id text not null,
  position bigint generated always as identity,
  bytes integer not null,
  -- `json` keeps the order of keys, by which a query may order its rows, and every character.
  content json not null,
  primary key (generation_id, id)
);

create index report_evidence_report on report_evidence (report_id, position);

create table report_settings (
  company_id text not null references companies on delete cascade,
  slug text not null check (slug in ('impact', 'revenue', 'engagement', 'retention')),
  id text not null unique check (id ~ '^[0-9a-f]{24}$'),
  enabled boolean not null default false,
  cadence text not null check (cadence in ('monthly', 'quarterly', 'yearly')),
  recipients json not null default '[]',
  locale text,
  prompt text,
  revision integer not null default 0,
  -- Whose rights the reports have; null when that user is gone.
  owner_id text,
  -- When the next report is made; null while none is.
  next_at timestamptz,
  -- Periods that ended up to here have their reports.
  planned_to timestamptz not null default now(),
  paused_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (company_id, slug),
  foreign key (company_id, owner_id) references users (company_id, id) on delete set null (owner_id)
);

create index report_settings_due on report_settings (next_at) where next_at is not null;
