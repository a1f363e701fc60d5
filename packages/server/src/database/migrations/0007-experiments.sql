-- Experiments: what they compare, in which state they are, and the values of a system tag key that stand for their
-- variants.
create table experiments (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  hypothesis text not null default '',
  created_by text not null,
  type text not null check (type in ('ab', 'holdout')),
  unit text not null check (unit in ('user', 'device')),
  status text not null default 'draft'
    check (status in ('draft', 'scheduled', 'running', 'ended', 'decided', 'archived')),
  baseline_variant_id text not null,
  -- The first is the success metric. Texts keep the order of their fields, so that equal ones compare equal.
  metrics json not null check (json_array_length(metrics) > 0),
  conversion_window_hours integer not null check (conversion_window_hours > 0),
  planned_sample integer check (planned_sample > 0),
  outlier_cap double precision check (outlier_cap > 0 and outlier_cap < 1),
  cuped_days integer check (cuped_days > 0),
  salt text not null check (salt <> ''),
  attachments json not null default '[]',
  -- Null once an experiment that never ran is archived.
  tag_key_id text,
  scheduled_at timestamptz,
  started_at timestamptz,
  read_at timestamptz,
  ended_at timestamptz,
  decided_at timestamptz,
  archived_at timestamptz,
  outcome json,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  check (status <> 'scheduled' or scheduled_at is not null),
  check (status in ('draft', 'scheduled', 'archived') or started_at is not null),
  check ((ended_at is null) = (status in ('draft', 'scheduled', 'running') or started_at is null)),
  check ((outcome is null) = (decided_at is null)),
  check ((archived_at is not null) = (status = 'archived')),
  foreign key (company_id, created_by) references users (company_id, id),
  foreign key (company_id, tag_key_id) references tag_keys (company_id, id)
);

create index experiments_company on experiments (company_id, created_at desc, id desc);
create index experiments_scheduled on experiments (scheduled_at) where status = 'scheduled';
create index experiments_tag_key on experiments (tag_key_id);

create table experiment_variants (
  company_id text not null,
  experiment_id text not null,
  id text not null check (id <> ''),
  -- Assignment cumulates allocations in this order.
  position smallint not null,
  name text not null check (name <> ''),
  allocation double precision not null check (allocation > 0 and allocation <= 1),
  tag_value_id text references tag_values (id),
  primary key (experiment_id, id),
  unique (experiment_id, position),
  foreign key (company_id, experiment_id) references experiments (company_id, id) on delete cascade
);

create index experiment_variants_tag_value on experiment_variants (tag_value_id);

-- Teams that an experiment is meant for; every team where there is none.
create table experiment_teams (
  company_id text not null,
  experiment_id text not null,
  team_id text not null,
  primary key (experiment_id, team_id),
  foreign key (company_id, experiment_id) references experiments (company_id, id) on delete cascade,
  constraint experiment_teams_team
    foreign key (company_id, team_id) references teams (company_id, id) on delete cascade
);

create index experiment_teams_team on experiment_teams (team_id);
