-- Companies, their roles and teams, and the people who work in them.
-- Ids are 24 lower-case hexadecimal characters. Where a row points at another row of the same company, the
-- company is part of the key, so that no row can ever point into another company.

create table if not exists companies (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  name text not null check (name <> ''),
  timezone text not null default 'UTC',
  language text not null default 'en',
  exact_counts boolean not null default false,
  attribution_model text not null default 'last-touch'
    check (attribution_model in ('last-touch', 'linear', 'decay')),
  click_window_hours integer not null default 720 check (click_window_hours > 0),
  display_window_hours integer not null default 168 check (display_window_hours > 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table if not exists roles (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  built_in boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

create unique index if not exists roles_name on roles (company_id, lower(name));

create table if not exists role_permissions (
  role_id text not null references roles on delete cascade,
  resource text not null,
  action text not null,
  primary key (role_id, resource, action)
);

create table if not exists teams (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

create unique index if not exists teams_name on teams (company_id, lower(name));

-- One team of a company takes the people who are put into none by name.
create unique index if not exists teams_default on teams (company_id) where is_default;

create table if not exists users (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  -- ASCII only and lower case: the form in which it is compared is the form in which it is stored.
  email text not null check (email = lower(email) and email ~ '^[!-~]+@[!-~]+$'),
  -- argon2id in the PHC format; null for people who have no password of their own.
  password_hash text,
  status text not null check (status in ('invited', 'active', 'disabled', 'deleted')),
  role_id text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  foreign key (company_id, role_id) references roles (company_id, id)
);

-- An address belongs to one person of the whole service; that of a deleted person is free again.
create unique index if not exists users_email on users (email) where status <> 'deleted';

create index if not exists users_role on users (company_id, role_id);

create table if not exists team_members (
  company_id text not null,
  team_id text not null,
  user_id text not null,
  primary key (team_id, user_id),
  foreign key (company_id, team_id) references teams (company_id, id) on delete cascade,
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

create index if not exists team_members_user on team_members (user_id);
