-- Signing in with a browser: codes, second steps, links in mails, consent. Secrets stand here as SHA-256 hashes.

alter table refresh_tokens
  -- How the person has shown who they are.
  add column if not exists method text not null default 'password' check (method in ('password', 'sso'));

alter table oauth_clients
  -- People are not asked whether they let a client of the operator's own in.
  add column if not exists first_party boolean not null default true;

update oauth_clients set grants = grants || '{authorization_code}'
  where grants @> '{password,refresh_token}' and not grants @> '{authorization_code}';

-- Replaced where single sign-on has its tables; without them nobody must use it.
create or replace function requires_single_sign_on(company text, email text) returns boolean
  language sql stable as $$ select false $$;

-- Whether an address may come in through single sign-on; replaced with it.
create or replace function offers_single_sign_on(company text, email text) returns boolean
  language sql stable as $$ select false $$;

-- Whether somebody is there and allowed everything that the role allows: a link that this person has seen must not
-- open more than the person may give.
create or replace function holds_role(giver text, role text) returns boolean language sql stable as $$
  select exists (
    select 1 from users as person where person.id = giver and person.status = 'active' and not exists (
      select resource, action from role_permissions where role_id = role
      except select resource, action from role_permissions where role_id = person.role_id
    )
  )
$$;

-- A code of RFC 6749 4.1; kept for a while after its use, so that a second use is noticed and ends what the
-- first one gave.
create table if not exists authorization_codes (
  code_hash bytea primary key check (length(code_hash) = 32),
  user_id text not null references users on delete cascade,
  client_id text not null references oauth_clients on delete cascade,
  redirect_uri text not null,
  code_challenge text not null,
  method text not null check (method in ('password', 'sso')),
  -- What was verified; a password changed since makes the code void. Null for single sign-on.
  password_hash text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  refresh_token_id text references refresh_tokens on delete set null
);

create index if not exists authorization_codes_user on authorization_codes (user_id);
create index if not exists authorization_codes_expiry on authorization_codes (expires_at);
create index if not exists authorization_codes_refresh_token on authorization_codes (refresh_token_id);

-- Somebody between the first step of a sign-in and its end (one-time code, consent), bound to one browser.
create table if not exists pending_sign_ins (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  browser_hash bytea not null check (length(browser_hash) = 32),
  user_id text not null references users on delete cascade,
  client_id text not null references oauth_clients on delete cascade,
  method text not null check (method in ('password', 'sso')),
  password_hash text,
  -- Whether a one-time code was given or none is needed.
  complete boolean not null,
  -- One-time codes that were tried; after a few the password has to be given again.
  tries integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index if not exists pending_sign_ins_user on pending_sign_ins (user_id);
create index if not exists pending_sign_ins_expiry on pending_sign_ins (expires_at);

-- The authenticator of somebody who turned one-time codes on (RFC 6238); the secret is sealed.
create table if not exists user_authenticators (
  user_id text primary key references users on delete cascade,
  sealed_secret bytea not null,
  -- Null until a first code has shown that the secret arrived.
  confirmed_at timestamptz,
  -- The step of the last code that was taken: no code is taken twice.
  last_step bigint not null default 0,
  created_at timestamptz not null default now()
);

create table if not exists recovery_codes (
  user_id text not null references users on delete cascade,
  code_hash bytea not null check (length(code_hash) = 32),
  primary key (user_id, code_hash)
);

-- Links that are mailed or handed over: to set a password after a reset, or for the first time.
create table if not exists user_links (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  kind text not null check (kind in ('password-reset', 'invitation')),
  secret_hash bytea not null unique check (length(secret_hash) = 32),
  user_id text not null references users on delete cascade,
  created_by text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Used, or made void by a newer link or another way in.
  ended_at timestamptz
);

create index if not exists user_links_user on user_links (user_id, created_at);
create index if not exists user_links_expiry on user_links (expires_at);

-- Which applications of others somebody has let in.
create table if not exists client_consents (
  user_id text not null references users on delete cascade,
  client_id text not null references oauth_clients on delete cascade,
  granted_at timestamptz not null default now(),
  primary key (user_id, client_id)
);

-- Mails on their way; their text is sealed, because it may hold a link, and emptied once they are sent.
create table if not exists outgoing_mails (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  recipient text not null,
  sealed_content bytea,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  sent_at timestamptz,
  -- Given up after the last attempt.
  failed_at timestamptz,
  last_error text
);

create index if not exists outgoing_mails_due on outgoing_mails (due_at) where sent_at is null and failed_at is null;
