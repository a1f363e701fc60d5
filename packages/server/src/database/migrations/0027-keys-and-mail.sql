-- Keys that secrets of this database are sealed under, by an id that tells nothing about the key. Every column
-- of sealed secrets is called sealed_... and is of type bytea, so that what is sealed under a key can be found.

create table if not exists encryption_keys (
  key_id text primary key check (key_id ~ '^[0-9a-f]{8}$'),
  first_used_at timestamptz not null default now()
);

-- What was given up is counted for those who watch the service, and taken away after a while like what was sent.
create index if not exists outgoing_mails_failed on outgoing_mails (failed_at) where failed_at is not null;
create index if not exists outgoing_mails_done on outgoing_mails (created_at)
  where sent_at is not null or failed_at is not null;
