-- Workflows with their versions, what was published of them, and what they use.
create table workflows (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  description text not null default '',
  -- Folders from the root.
  hierarchy text[] not null default '{}',
  status text not null default 'draft'
    check (status in ('draft', 'publishing', 'published', 'inactive', 'error')),
  hidden boolean not null default false,
  variable_profile_id text,
  -- The live version. It stays while the workflow is archived, so that it can be restored.
  published_version_id text,
  archived_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  check (status <> 'published' or published_version_id is not null),
  check ((archived_at is not null) = (status = 'inactive'))
);

create index workflows_company on workflows (company_id, updated_at desc, id);

create table workflow_versions (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  workflow_id text not null,
  number integer not null check (number > 0),
  state text not null default 'draft' check (state in ('draft', 'live', 'inactive')),
  -- Grows with each save.
  revision integer not null default 1 check (revision > 0),
  -- Texts keep the order of their fields, which the editor shows.
  definition json not null,
  analysis json not null,
  analysis_overrides json not null,
  metadata json not null default '{}',
  complexity_score double precision not null default 0,
  -- Of definition and analysis as they are stored.
  bytes integer not null default 0,
  change_description text,
  -- A user, who may be gone.
  last_saved_by text,
  published_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workflow_id, number),
  unique (company_id, workflow_id, id),
  foreign key (company_id, workflow_id) references workflows (company_id, id) on delete cascade,
  check ((published_at is null) = (state = 'draft'))
);

create unique index workflow_versions_draft on workflow_versions (workflow_id) where state = 'draft';
create unique index workflow_versions_live on workflow_versions (workflow_id) where state = 'live';

-- What a version took with it when it was published: the definition as it runs, with bindings that follow from names
-- written out, and the templates, whose later changes do not reach it.
create table workflow_publications (
  version_id text primary key references workflow_versions on delete cascade,
  company_id text not null,
  workflow_id text not null,
  definition json not null,
  templates json not null,
  published_by text not null,
  published_at timestamptz not null default now(),
  foreign key (company_id, workflow_id) references workflows (company_id, id) on delete cascade
);

create index workflow_publications_workflow on workflow_publications (workflow_id);

alter table workflows add constraint workflows_published_version
  foreign key (published_version_id) references workflow_publications (version_id) deferrable initially deferred;

-- What draft and live versions name, so that it is found what uses an object. Drafts may name what is gone.
create table workflow_references (
  version_id text not null references workflow_versions on delete cascade,
  company_id text not null,
  workflow_id text not null,
  kind text not null check (kind in (
    'datasource', 'template', 'cohort', 'experiment', 'tag-key', 'tag-value', 'category')),
  resource_id text not null,
  primary key (version_id, kind, resource_id)
);

create index workflow_references_resource on workflow_references (company_id, kind, resource_id);

-- A team that sees workflows stays until they are given to another.
create table workflow_teams (
  company_id text not null,
  workflow_id text not null,
  team_id text not null,
  primary key (workflow_id, team_id),
  foreign key (company_id, workflow_id) references workflows (company_id, id) on delete cascade,
  constraint workflow_teams_team foreign key (company_id, team_id) references teams (company_id, id)
);

create index workflow_teams_team on workflow_teams (team_id);

-- Where a request that was sent twice finds what the first one made.
create table idempotency_keys (
  company_id text not null references companies on delete cascade,
  user_id text not null,
  operation text not null,
  -- SHA-256 of the key of the client, and of the body.
  key_hash bytea not null check (octet_length(key_hash) = 32),
  body_hash bytea not null check (octet_length(body_hash) = 32),
  resource_id text not null,
  created_at timestamptz not null default now(),
  primary key (company_id, user_id, operation, key_hash)
);

create index idempotency_keys_age on idempotency_keys (created_at);

-- Displays and clicks of a company are events of a datasource of its own, which the collector does not take events for.
alter table datasources drop constraint datasources_kind_check;
alter table datasources add constraint datasources_kind_check
  check (kind in ('tracking', 'worker', 'workflow_events'));

create unique index datasources_workflow_events on datasources (company_id) where kind = 'workflow_events';

-- Every process remembers what is published. These triggers say of which workflow that has changed.
create function notify_workflow_changed() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'workflows' then
    perform pg_notify('workflow_changes', coalesce(new.id, old.id));
  else
    perform pg_notify('workflow_changes', coalesce(new.workflow_id, old.workflow_id));
  end if;
  return null;
end
$$;

create trigger workflows_changed
  after update on workflows
  for each row when (
    (old.name, old.status, old.published_version_id) is distinct from
    (new.name, new.status, new.published_version_id))
  execute function notify_workflow_changed();

create trigger workflows_deleted
  after delete on workflows
  for each row execute function notify_workflow_changed();

create trigger workflow_versions_changed
  after update of revision on workflow_versions
  for each row when (new.state = 'live')
  execute function notify_workflow_changed();

create trigger workflow_teams_changed
  after insert or delete on workflow_teams
  for each row execute function notify_workflow_changed();
