-- What the first start made; the one row says that there was a first start. The ids are not references:
-- they say what was made, whatever became of it.

create table if not exists installation (
  only_one boolean primary key default true check (only_one),
  company_id text not null,
  client_id text not null,
  datasource_id text not null,
  admin_email text not null,
  created_at timestamptz not null default now()
);
