-- Saved queries, cohorts and JSON templates count their saves, as versions of workflows do, so that nobody overwrites
-- unseen what another has saved. Users are no references: they may be gone.
alter table saved_queries
  -- Who saved it first; the owner, whose rights its runs have, can be another one since.
  add column created_by text,
  add column revision integer not null default 1 check (revision > 0),
  add column last_saved_by text;
update saved_queries set created_by = owner_id;

alter table cohorts
  add column revision integer not null default 1 check (revision > 0),
  add column last_saved_by text;

alter table json_templates
  add column revision integer not null default 1 check (revision > 0),
  add column last_saved_by text;

-- What others saved in the statistics is changed by those who administer the company, whatever their role is called.
insert into role_permissions (role_id, resource, action)
  select role_id, 'statistics', 'manage' from role_permissions
  where resource = 'statistics' and action = 'access' and is_administrator_role(role_id)
  on conflict do nothing;
