-- What ordinary OAuth clients need: pages of other origins, applications on a device, sessions without a refresh token.

alter table oauth_clients
  -- Origins whose pages may read what the interface answers.
  add column if not exists origins text[] not null default '{}',
  -- An application on a device: it may return to a private-use scheme (RFC 8252 7.1).
  add column if not exists native boolean not null default false;

-- Every process remembers origins for a moment, too.
create or replace trigger oauth_clients_access_changed
  after insert or delete or update of active, origins on oauth_clients
  for each statement execute function notify_access_changed();

alter table refresh_tokens
  -- A client that may not refresh gets no refresh token; its session has none.
  alter column token_hash drop not null,
  -- When the session last got an access token.
  add column if not exists used_at timestamptz not null default now();

update refresh_tokens set used_at = greatest(created_at, expires_at - interval '30 days');
