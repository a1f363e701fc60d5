-- Datasources: where events come in, and the teams that see each.

create table if not exists datasources (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  kind text not null default 'tracking' check (kind in ('tracking')),
  -- Only an active datasource takes events. A deleted one keeps its row, because its events keep its id.
  status text not null default 'active' check (status in ('active', 'paused', 'deleted')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

create index if not exists datasources_company on datasources (company_id, created_at, id);

-- A team that sees datasources stays until they are given to another.
create table if not exists datasource_teams (
  company_id text not null,
  datasource_id text not null,
  team_id text not null,
  primary key (datasource_id, team_id),
  foreign key (company_id, datasource_id) references datasources (company_id, id) on delete cascade,
  foreign key (company_id, team_id) references teams (company_id, id)
);

create index if not exists datasource_teams_team on datasource_teams (team_id);
