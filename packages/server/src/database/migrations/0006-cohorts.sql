-- Saved groups of persons. One with a rule has no list; the persons of a list stand in the columnar store, under the
-- identifier that the list got when it was stored.
create table cohorts (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  description text not null default '',
  rule jsonb,
  list_id text check (list_id ~ '^[0-9a-f]{24}$'),
  -- How many identifiers the list has.
  listed integer check (listed >= 0),
  owner_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(rule, list_id) = 1 and (list_id is null) = (listed is null)),
  foreign key (company_id, owner_id) references users (company_id, id) on delete set null (owner_id)
);

create unique index cohorts_name on cohorts (company_id, lower(btrim(name)));
