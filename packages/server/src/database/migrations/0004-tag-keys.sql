-- What workflows, branches and experiments are tagged with.
create table tag_keys (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  -- SHA-256 of the form in which names are compared: of one length, whatever the name.
  name_hash bytea not null check (octet_length(name_hash) = 32),
  description text not null default '',
  assignment_mode text not null default 'custom' check (assignment_mode in ('custom', 'system')),
  cardinality text not null default 'single' check (cardinality in ('single', 'multiple')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  constraint tag_keys_name unique (company_id, name_hash)
);

create table tag_values (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  tag_key_id text not null,
  name text not null check (name <> ''),
  name_hash bytea not null check (octet_length(name_hash) = 32),
  description text not null default '',
  -- Values are shown in the order in which they were added.
  position bigint generated always as identity,
  foreign key (company_id, tag_key_id) references tag_keys (company_id, id) on delete cascade,
  constraint tag_values_name unique (tag_key_id, name_hash)
);

-- Teams that a key is meant for; every team where there is none.
create table tag_key_teams (
  company_id text not null,
  tag_key_id text not null,
  team_id text not null,
  primary key (tag_key_id, team_id),
  foreign key (company_id, tag_key_id) references tag_keys (company_id, id) on delete cascade,
  constraint tag_key_teams_team
    foreign key (company_id, team_id) references teams (company_id, id) on delete cascade
);

create index tag_key_teams_team on tag_key_teams (team_id);
