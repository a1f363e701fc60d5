-- Dashboards. Their tiles are one document, which is saved as a whole.

create table dashboards (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  description text not null,
  owner_id text,
  -- `json` keeps the order of keys, by which a query may order its rows, and every character.
  tiles json not null,
  filters json not null,
  range json,
  comparison text not null check (comparison in ('none', 'previous', 'year')),
  revision integer not null default 1 check (revision > 0),
  last_saved_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  foreign key (company_id, owner_id) references users (company_id, id) on delete set null (owner_id)
);

create index dashboards_company on dashboards (company_id, updated_at desc, id);
create index dashboards_owner on dashboards (owner_id);

-- The teams that see a dashboard; without any, every user of the company does. A team stays while one names it.
create table dashboard_teams (
  company_id text not null,
  dashboard_id text not null,
  team_id text not null,
  primary key (dashboard_id, team_id),
  foreign key (company_id, dashboard_id) references dashboards (company_id, id) on delete cascade,
  constraint dashboard_teams_team foreign key (company_id, team_id) references teams (company_id, id)
);

create index dashboard_teams_team on dashboard_teams (team_id);
