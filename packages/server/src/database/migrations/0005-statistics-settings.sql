-- Whether the country of a sender is looked up when an event is collected.
alter table companies add column countries boolean not null default true;

-- Custom events that were renamed: rows stored under the name answer under the alias.
create table event_aliases (
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  alias text not null check (alias <> '' and alias <> name),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (company_id, name)
);
