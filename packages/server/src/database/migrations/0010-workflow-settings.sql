-- Where workflows are put in, and what they share.

-- An address of the runner for one entrypoint of a workflow.
create table workflow_integrations (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  workflow_id text not null,
  -- Of the draft or a live version; it may be gone from both.
  entrypoint_id text not null,
  -- What the entrypoint was when it was chosen.
  channel text not null,
  format text not null,
  short_id text not null,
  name text,
  enabled boolean not null default true,
  -- Texts by name, in the order of the address.
  parameters json not null default '{}',
  domain text,
  code text,
  selector text,
  include_context boolean,
  include_datalayer_path text[],
  wait_for_events text[],
  filters json,
  emplacement text check (emplacement in ('replace', 'before', 'after')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint workflow_integrations_short_id unique (short_id),
  foreign key (company_id, workflow_id) references workflows (company_id, id) on delete cascade
);

create index workflow_integrations_workflow on workflow_integrations (workflow_id, created_at, id);

create trigger workflow_integrations_changed
  after insert or update or delete on workflow_integrations
  for each row execute function notify_workflow_changed();

-- Parameters that addresses of workflows have.
create table variable_profiles (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  parameters json not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

create index variable_profiles_company on variable_profiles (company_id, created_at, id);
create index workflows_variable_profile on workflows (variable_profile_id) where variable_profile_id is not null;

-- The tree into which branches are sorted.
create table branch_categories (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  parent_id text,
  name text not null check (name <> ''),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  foreign key (company_id, parent_id) references branch_categories (company_id, id),
  check (parent_id <> id)
);

create index branch_categories_company on branch_categories (company_id);
create index branch_categories_parent on branch_categories (parent_id);

create table json_templates (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  -- Texts keep the order of their fields, in which they are answered.
  definition json not null,
  variables json not null,
  redirect_variable text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

create index json_templates_company on json_templates (company_id, created_at, id);

-- A team that sees templates stays until they are given to another.
create table json_template_teams (
  company_id text not null,
  template_id text not null,
  team_id text not null,
  primary key (template_id, team_id),
  foreign key (company_id, template_id) references json_templates (company_id, id) on delete cascade,
  constraint json_template_teams_team foreign key (company_id, team_id) references teams (company_id, id)
);

create index json_template_teams_team on json_template_teams (team_id);
