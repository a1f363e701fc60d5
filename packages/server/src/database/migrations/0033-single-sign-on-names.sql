-- Names that change at an identity provider, sign-ins that begin there, and metadata that is read again.

alter table sso_identities
  -- `email` is compared without the case of A to Z, and stored in lower case; null for links that are older than this
  -- column, until their next use.
  add column if not exists name_format text check (name_format in ('email', 'other')),
  -- What the identity provider calls the person whatever their name is, where an attribute is mapped to that.
  add column if not exists external_id text;

-- Collation "C" folds A to Z and nothing else: `lower` makes `k` of the Kelvin sign otherwise.
create index if not exists sso_identities_folded
  on sso_identities (company_id, idp_entity_id, lower(name_id collate "C"));

create unique index if not exists sso_identities_external
  on sso_identities (company_id, idp_entity_id, external_id) where external_id is not null;

alter table saml_results
  add column if not exists name_format text not null default 'other' check (name_format in ('email', 'other'));

-- A name that was taken from a user. It may come to mean another one, but none who may do more than the user who took
-- it: otherwise unlinking oneself would be a way to become an administrator.
create table if not exists sso_unlinked_names (
  company_id text not null,
  idp_entity_id text not null,
  -- Only to know it again: it outlives the person's account.
  name_hash bytea not null check (length(name_hash) = 32),
  user_id text not null,
  -- Of the user who unlinked it, then: each `resource:action`.
  permissions text[] not null,
  unlinked_at timestamptz not null default now(),
  primary key (company_id, idp_entity_id, name_hash),
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

create index if not exists sso_unlinked_names_user on sso_unlinked_names (company_id, user_id);

-- Addresses that people had before, whichever way they were renamed: a sign-in under one makes no second account.
create table if not exists former_addresses (
  company_id text not null,
  email text not null,
  user_id text not null,
  changed_at timestamptz not null default now(),
  primary key (company_id, email, user_id),
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

create or replace function keep_former_address() returns trigger language plpgsql as $$
begin
  if new.status = 'deleted' then
    delete from former_addresses where user_id = new.id;
  else
    insert into former_addresses (company_id, email, user_id) values (old.company_id, old.email, old.id)
      on conflict (company_id, email, user_id) do update set changed_at = now();
  end if;
  return null;
end
$$;

create or replace trigger users_keep_former_address
  after update of email on users
  for each row when (old.email <> new.email and old.company_id = new.company_id)
  execute function keep_former_address();

alter table sso_configs
  -- Whether responses are taken that answer no request of ours, and which application such a sign-in is for.
  add column if not exists allow_idp_initiated boolean not null default false,
  add column if not exists idp_initiated_client_id text references oauth_clients on delete set null,
  add column if not exists idp_initiated_url text,
  -- When the document at `metadata_url` was last read with success; null where the metadata was pasted.
  add column if not exists metadata_read_at timestamptz,
  -- Why the last reading failed; null when it did not.
  add column if not exists metadata_error text,
  -- How many have failed one after the other.
  add column if not exists metadata_failures integer not null default 0,
  -- When it is read next; a process that reads it moves this on first, so that no other one does.
  add column if not exists metadata_next_at timestamptz,
  add column if not exists metadata_notified_at timestamptz;

-- Not all of them at once.
update sso_configs
  set metadata_read_at = updated_at, metadata_next_at = now() + random() * interval '1 day'
  where metadata_url is not null and metadata_next_at is null;

create index if not exists sso_configs_metadata on sso_configs (metadata_next_at) where metadata_url is not null;
