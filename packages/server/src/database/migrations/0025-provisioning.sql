-- What a company's identity provider may keep (SCIM), and the tokens that it calls with.

-- When the identity provider deleted somebody. It sees that person no more while the account is disabled.
alter table users add column if not exists unprovisioned_at timestamptz;

create table if not exists scim_configs (
  company_id text primary key references companies on delete cascade,
  enabled boolean not null default false,
  group_sync boolean not null default true,
  -- Null: roles are given by people, the identity provider moves none.
  role_source text check (role_source in ('groups')),
  default_role_id text,
  deprovision_mode text not null default 'soft' check (deprovision_mode in ('soft')),
  last_sync_at timestamptz,
  -- Without its role the configuration has no default of its own.
  foreign key (company_id, default_role_id) references roles (company_id, id)
    on delete set null (default_role_id)
);

-- The first group of the list that somebody is in gives the role; a role that is deleted gives nothing any more.
create table if not exists scim_role_mappings (
  company_id text not null references scim_configs on delete cascade,
  position integer not null,
  group_name text not null check (group_name <> ''),
  role_id text not null,
  primary key (company_id, position),
  foreign key (company_id, role_id) references roles (company_id, id) on delete cascade
);

create index if not exists scim_role_mappings_role on scim_role_mappings (company_id, role_id);

create table if not exists scim_tokens (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references scim_configs on delete cascade,
  label text not null check (label <> ''),
  -- SHA-256 of the secret with its prefix.
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);

create index if not exists scim_tokens_company on scim_tokens (company_id, created_at, id);
