-- Funnels, retentions and paths under a name.

create table saved_explorations (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  exploration text not null check (exploration in ('funnel', 'retention', 'paths')),
  -- `json` keeps every character.
  definition json not null,
  owner_id text,
  revision integer not null default 1 check (revision > 0),
  last_saved_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (company_id, owner_id) references users (company_id, id) on delete set null (owner_id)
);

create index saved_explorations_company on saved_explorations (company_id, created_at desc, id);
create index saved_explorations_owner on saved_explorations (owner_id);
