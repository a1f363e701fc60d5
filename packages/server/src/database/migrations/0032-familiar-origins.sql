-- Where users have signed in with their password: networks and browsers, as SHA-256 hashes. An attack that holds
-- sign-ins from elsewhere does not hold these.

create table if not exists familiar_origins (
  user_id text not null references users on delete cascade,
  kind text not null check (kind in ('network', 'device')),
  -- Of `network` and the name of the network with a space between, or of the secret that the browser keeps.
  hash bytea not null check (length(hash) = 32),
  used_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (user_id, hash)
);

create index if not exists familiar_origins_hash on familiar_origins (hash, expires_at);

insert into familiar_origins (user_id, kind, hash, used_at, expires_at)
  select distinct on (session.user_id, session.address) session.user_id, 'network',
    sha256(convert_to('network ' || session.address, 'UTF8')), now(), now() + interval '30 days'
  from refresh_tokens as session where session.method = 'password' and session.expires_at > now()
  on conflict do nothing;

alter table saml_requests
  -- SHA-256 of what names the browser in which it began.
  add column if not exists browser_name_hash bytea check (length(browser_name_hash) = 32),
  -- Whether that browser had its name before: a page of another site cannot make it tell the name.
  add column if not exists browser_known boolean not null default false;

create index if not exists saml_requests_browser on saml_requests (browser_name_hash) where used_at is null;
