-- Keys that secrets of this database are sealed under, by an id that tells nothing about the key. Every column
-- of sealed secrets is called sealed_... and is of type bytea, so that what is sealed under a key can be found.

create table if not exists encryption_keys (
  key_id text primary key check (key_id ~ '^[0-9a-f]{8}$'),
  first_used_at timestamptz not null default now()
);
