-- Refresh tokens that every use replaces, for clients that were made so (RFC 9700 4.14.2).

alter table oauth_clients
  -- Without it a session has one refresh token from its beginning to its end.
  add column if not exists rotates_refresh_tokens boolean not null default false;

-- The row holds the token that was given last. All tokens of one generation are as good as each other: requests
-- at once are given one each. The first use of any of them begins the next generation.
alter table refresh_tokens
  add column if not exists generation integer not null default 0,
  -- When the present generation began; null before any token was replaced.
  add column if not exists replaced_at timestamptz;

-- Tokens of a session that were given before its last one, and the generation of each. They are known for as long
-- as they could have lived, so that a use of one that was replaced is noticed.
create table if not exists earlier_refresh_tokens (
  token_hash bytea primary key check (length(token_hash) = 32),
  refresh_token_id text not null references refresh_tokens on delete cascade,
  generation integer not null,
  expires_at timestamptz not null
);

create index if not exists earlier_refresh_tokens_session on earlier_refresh_tokens (refresh_token_id);

create index if not exists earlier_refresh_tokens_expiry on earlier_refresh_tokens (expires_at);
