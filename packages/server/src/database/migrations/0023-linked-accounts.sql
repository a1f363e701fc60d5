-- Links from people to the messaging services that scheduled results are delivered to.

create table if not exists linked_accounts (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  user_id text not null,
  provider text not null check (provider in ('slack', 'teams', 'webhook')),
  name text not null check (name <> ''),
  -- Host of the address, for lists; the address itself is a secret and sealed with what goes along with it.
  host text not null,
  sealed_target bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

create index if not exists linked_accounts_user on linked_accounts (user_id, created_at, id);
