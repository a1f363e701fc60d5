-- What an account is beyond signing in: profiles, the hierarchy of teams, and the rule that a company always
-- keeps an administrator.

alter table companies
  add column if not exists audit_retention_days integer not null default 90
    check (audit_retention_days between 30 and 3650),
  add column if not exists default_role_id text,
  add constraint companies_language check (language in ('en', 'fr')),
  add constraint companies_default_role foreign key (id, default_role_id) references roles (company_id, id);

alter table users
  add column if not exists first_name text not null default '',
  add column if not exists last_name text not null default '',
  add column if not exists job_title text not null default '',
  add column if not exists phone text not null default '',
  -- Null follows the company.
  add column if not exists language text check (language in ('en', 'fr')),
  add column if not exists theme text not null default 'system' check (theme in ('light', 'dark', 'system')),
  -- A program that signs in with a password: provisioning does not see it, single sign-on does not bind it.
  add column if not exists service_account boolean not null default false,
  add column if not exists last_sign_in_at timestamptz,
  -- Set for people whom the identity provider keeps (SCIM); its own identifier, opaque.
  add column if not exists provisioned boolean not null default false,
  add column if not exists external_id text;

create unique index if not exists users_external_id on users (company_id, external_id)
  where external_id is not null and status <> 'deleted';

create index if not exists users_company on users (company_id, created_at, id);

alter table teams
  add column if not exists description text not null default '',
  -- Members also reach the team's ancestors, up to but without the first that has the flag too.
  add column if not exists reaches_ancestors boolean not null default false,
  add column if not exists provisioned boolean not null default false,
  add column if not exists external_id text;

create unique index if not exists teams_external_id on teams (company_id, external_id)
  where external_id is not null;

-- A team may have several parents; whoever writes here keeps the graph free of cycles, holding the company's row.
create table if not exists team_parents (
  company_id text not null,
  parent_id text not null,
  child_id text not null,
  primary key (parent_id, child_id),
  check (parent_id <> child_id),
  foreign key (company_id, parent_id) references teams (company_id, id),
  foreign key (company_id, child_id) references teams (company_id, id)
);

create index if not exists team_parents_child on team_parents (child_id);

create or replace trigger team_parents_access_changed
  after insert or update or delete on team_parents
  for each statement execute function notify_access_changed();

create or replace trigger teams_access_changed
  after update of reaches_ancestors on teams
  for each row when (old.reaches_ancestors is distinct from new.reaches_ancestors)
  execute function notify_access_changed();

-- Teams whose resources somebody may use: their own, all below them, and from a team that reaches its ancestors
-- those above it, up to but without the first that does so too.
create or replace function reachable_teams(member text) returns setof text language sql stable as $$
  with recursive own as (
    select team_id from team_members where user_id = member
  ), below as (
    select team_id from own
    union
    select relation.child_id from below join team_parents as relation on relation.parent_id = below.team_id
  ), above as (
    select relation.parent_id as team_id
      from own join teams as team on team.id = own.team_id and team.reaches_ancestors
        join team_parents as relation on relation.child_id = own.team_id
        join teams as parent on parent.id = relation.parent_id and not parent.reaches_ancestors
    union
    select relation.parent_id
      from above join team_parents as relation on relation.child_id = above.team_id
        join teams as parent on parent.id = relation.parent_id and not parent.reaches_ancestors
  )
  select team_id from below union select team_id from above
$$;

-- The role of an administrator may change users, roles and the company.
create or replace function is_administrator_role(role text) returns boolean language sql stable as $$
  select count(*) = 3 from role_permissions
  where role_id = role and (resource, action) in (('user', 'update'), ('role', 'update'), ('company', 'update'))
$$;

-- Whether somebody has a way in of their own. Replaced where single sign-on has its tables; without them it is a
-- password alone.
create or replace function can_sign_in(company text, person text) returns boolean language sql stable as $$
  select exists (select 1 from users where company_id = company and id = person and password_hash is not null)
$$;

-- Raises unless the company has an administrator who can come in. Whatever else takes a way in from people asks it
-- inside its own transaction: `select require_administrator(company)`.
create or replace function require_administrator(company text) returns void language plpgsql as $$
begin
  -- Locked, so that two administrators cannot remove each other at once.
  perform 1 from companies where id = company for no key update;
  if found and not exists (
    select 1 from users where company_id = company and status = 'active' and not service_account
      and is_administrator_role(role_id) and can_sign_in(company, id)
  ) then
    raise exception 'company % would have no administrator', company
      using errcode = 'check_violation', constraint = 'companies_keep_administrator';
  end if;
end
$$;

-- A company keeps an administrator, whichever way a change comes in: checked when a transaction commits.
create or replace function keep_administrator() returns trigger language plpgsql as $$
begin
  if is_administrator_role(old.role_id) then perform require_administrator(old.company_id); end if;
  return null;
end
$$;

drop trigger if exists users_keep_administrator on users;
create constraint trigger users_keep_administrator
  after update of status, role_id, service_account or delete on users
  deferrable initially deferred
  for each row when (old.status = 'active')
  execute function keep_administrator();

create or replace function keep_administrator_role() returns trigger language plpgsql as $$
begin
  perform require_administrator(company_id) from roles where id = old.role_id;
  return null;
end
$$;

drop trigger if exists role_permissions_keep_administrator on role_permissions;
create constraint trigger role_permissions_keep_administrator
  after update or delete on role_permissions
  deferrable initially deferred
  for each row when (old.resource in ('user', 'role', 'company') and old.action = 'update')
  execute function keep_administrator_role();
