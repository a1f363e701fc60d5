-- OAuth clients and the tokens that people hold through them. Tokens stand here as SHA-256 hashes only.

create table if not exists oauth_clients (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  name text not null check (name <> ''),
  grants text[] not null,
  redirect_uris text[] not null default '{}',
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- A refresh token is a session: its end moves with every access token that is made from it, and what is
-- deleted here takes the session's access tokens along.
create table if not exists refresh_tokens (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  token_hash bytea not null unique check (length(token_hash) = 32),
  user_id text not null references users on delete cascade,
  client_id text not null references oauth_clients on delete cascade,
  -- Where the session was last used from: an IPv4 address or the /64 of an IPv6 one.
  address text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index if not exists refresh_tokens_user on refresh_tokens (user_id, address);

create index if not exists refresh_tokens_expiry on refresh_tokens (expires_at);

create table if not exists access_tokens (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  token_hash bytea not null unique check (length(token_hash) = 32),
  refresh_token_id text not null references refresh_tokens on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index if not exists access_tokens_refresh_token on access_tokens (refresh_token_id);

create index if not exists access_tokens_expiry on access_tokens (expires_at);
