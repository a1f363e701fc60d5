-- Where users have signed in with their password: networks and browsers, as SHA-256 hashes. An attack that holds
-- sign-ins from elsewhere does not hold these.

create table if not exists familiar_origins (
  user_id text not null references users on delete cascade,
  kind text not null check (kind in ('network', 'device')),
  -- Of `network` and the name of the network with a space between, or of the secret that the browser keeps.
  origin_hash bytea not null check (length(origin_hash) = 32),
  used_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (user_id, origin_hash)
);

create index if not exists familiar_origins_hash on familiar_origins (origin_hash, expires_at);

insert into familiar_origins (user_id, kind, origin_hash, used_at, expires_at)
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

-- An invitation is no account yet: it does not take its address from others, so that who invites learns nothing of
-- accounts in other companies. The account that holds an address is the one that it signs in to.
alter table users
  add column if not exists holds_email boolean not null default true;

update users set holds_email = false where status = 'invited';

drop index if exists users_email;

create unique index users_email on users (email) where holds_email and status <> 'deleted';

create unique index if not exists users_company_email on users (company_id, email) where status <> 'deleted';

create index if not exists users_any_email on users (email) where status <> 'deleted';

-- Whether the address signs in to an account of another company, or its domain is verified as another company's.
create or replace function is_email_held_elsewhere(company text, address text) returns boolean
  language sql stable as $$
  select exists (
    select 1 from users where email = address and holds_email and status <> 'deleted' and company_id <> company
  ) or exists (
    select 1 from sso_domains
    where domain = split_part(address, '@', 2) and company_id <> company and verified_at is not null
  )
$$;
