-- Accounts, definitions and counters. Ids are 24 lower-case hexadecimal characters. Where a row points at another row
-- of the same company, the company is part of the key, so that no row can ever point into another company. Secrets
-- stand here as SHA-256 hashes; those that must be readable again are sealed, in columns called sealed_... of type
-- bytea (sealed-columns.ts).

------------------------------------------------------------------------------------------------------------------------
-- Companies, roles, teams and users

create table companies (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  name text not null check (name <> ''),
  timezone text not null default 'UTC',
  language text not null default 'en' constraint companies_language check (language in ('en', 'fr')),
  exact_counts boolean not null default false,
  attribution_model text not null default 'last-touch'
    check (attribution_model in ('last-touch', 'linear', 'decay')),
  click_window_hours integer not null default 720 check (click_window_hours > 0),
  display_window_hours integer not null default 168 check (display_window_hours > 0),
  audit_retention_days integer not null default 90 check (audit_retention_days between 30 and 3650),
  default_role_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table roles (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  built_in boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

create unique index roles_name on roles (company_id, lower(name));

alter table companies
  add constraint companies_default_role foreign key (id, default_role_id) references roles (company_id, id);

create table role_permissions (
  role_id text not null references roles on delete cascade,
  resource text not null,
  action text not null,
  primary key (role_id, resource, action)
);

create table teams (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  description text not null default '',
  is_default boolean not null default false,
  -- Members also reach the team's ancestors, up to but without the first that has the flag too.
  reaches_ancestors boolean not null default false,
  -- Set for teams that the identity provider keeps (SCIM); its own identifier, opaque.
  provisioned boolean not null default false,
  external_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

create unique index teams_name on teams (company_id, lower(name));

-- One team of a company takes the users who are put into none by name.
create unique index teams_default on teams (company_id) where is_default;

create unique index teams_external_id on teams (company_id, external_id) where external_id is not null;

-- A team may have several parents; whatever writes here keeps the graph free of cycles, holding the company's row.
create table team_parents (
  company_id text not null,
  parent_id text not null,
  child_id text not null,
  primary key (parent_id, child_id),
  check (parent_id <> child_id),
  foreign key (company_id, parent_id) references teams (company_id, id),
  foreign key (company_id, child_id) references teams (company_id, id)
);

create index team_parents_child on team_parents (child_id);

-- Many users can get another role at once, and a sign-in waits for the user's row meanwhile. A changed row stays on its
-- page, and no index is touched, unless an indexed column changes: half of each page is kept free for that, and the
-- role is in no index.
create table users (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  -- ASCII only and lower case: the form in which it is compared is the form in which it is stored.
  email text not null check (email = lower(email) and email ~ '^[!-~]+@[!-~]+$'),
  -- Whether the address signs in to this account. An invitation does not take its address from others, so that the
  -- inviter learns nothing of accounts in other companies.
  holds_email boolean not null default true,
  -- argon2id in the PHC format; null for users who have no password of their own.
  password_hash text,
  -- Whether the password was chosen behind a link that others have seen, too, and no mail has reached the user since.
  password_handed_over boolean not null default false,
  status text not null check (status in ('invited', 'active', 'disabled', 'deleted')),
  role_id text not null,
  -- A program that signs in with a password: provisioning does not see it, single sign-on does not bind it.
  service_account boolean not null default false,
  first_name text not null default '',
  last_name text not null default '',
  job_title text not null default '',
  phone text not null default '',
  -- Null follows the company.
  language text check (language in ('en', 'fr')),
  theme text not null default 'system' check (theme in ('light', 'dark', 'system')),
  -- Set for users whom the identity provider keeps (SCIM); its own identifier, opaque.
  provisioned boolean not null default false,
  external_id text,
  -- When the identity provider deleted the user, which it no longer sees while the account is disabled; and the
  -- identifier that it had then: only under the same one does the user come back.
  unprovisioned_at timestamptz,
  former_external_id text,
  last_sign_in_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id),
  foreign key (company_id, role_id) references roles (company_id, id)
) with (fillfactor = 50);

create unique index users_email on users (email) where holds_email and status <> 'deleted';
create unique index users_company_email on users (company_id, email) where status <> 'deleted';
create index users_any_email on users (email) where status <> 'deleted';
create unique index users_external_id on users (company_id, external_id)
  where external_id is not null and status <> 'deleted';
create index users_company on users (company_id, created_at, id);

create table team_members (
  company_id text not null,
  team_id text not null,
  user_id text not null,
  -- Whether the identity provider itself put the user into the team: only such a membership gives a role.
  provisioned boolean not null default false,
  primary key (team_id, user_id),
  foreign key (company_id, team_id) references teams (company_id, id) on delete cascade,
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

create index team_members_user on team_members (user_id);

-- Addresses that users had before, however they were renamed: a sign-in under one makes no second account.
create table former_addresses (
  company_id text not null,
  email text not null,
  user_id text not null,
  changed_at timestamptz not null default now(),
  primary key (company_id, email, user_id),
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

-- What the first start made; the one row says that there was a first start. The ids are not references:
-- they say what was made, whatever became of it.
create table installation (
  only_one boolean primary key default true check (only_one),
  company_id text not null,
  client_id text not null,
  datasource_id text not null,
  admin_email text not null,
  created_at timestamptz not null default now()
);

------------------------------------------------------------------------------------------------------------------------
-- OAuth clients, sessions and tokens

create table oauth_clients (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  name text not null check (name <> ''),
  grants text[] not null,
  redirect_uris text[] not null default '{}',
  -- Origins whose pages may read what the interface answers.
  origins text[] not null default '{}',
  -- An application on a device: it may return to a private-use scheme (RFC 8252 7.1).
  native boolean not null default false,
  -- Users are not asked for consent to a client of the operator's own.
  first_party boolean not null default true,
  -- Refresh tokens that every use replaces (RFC 9700 4.14.2); otherwise a session has one from beginning to end.
  rotates_refresh_tokens boolean not null default false,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- A session: its end moves with every access token that is made from it, and its access tokens are deleted with it.
-- The row holds the refresh token that was given last; a client that may not refresh has none. All tokens of one
-- generation are as good as each other: simultaneous requests are given one each. The first use of any of them begins
-- the next generation.
create table refresh_tokens (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  token_hash bytea unique check (length(token_hash) = 32),
  generation integer not null default 0,
  -- When the present generation began; null before any token was replaced.
  replaced_at timestamptz,
  user_id text not null references users on delete cascade,
  client_id text not null references oauth_clients on delete cascade,
  -- How the user has signed in.
  method text not null default 'password' check (method in ('password', 'sso')),
  -- Where the session was last used from: an IPv4 address or the /64 of an IPv6 one.
  address text not null,
  created_at timestamptz not null default now(),
  -- When the session last got an access token.
  used_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index refresh_tokens_user on refresh_tokens (user_id, address);
create index refresh_tokens_expiry on refresh_tokens (expires_at);

-- Tokens of a session that were given before its last one, and the generation of each. They are known for as long
-- as they could have lived, so that a use of one that was replaced is noticed.
create table earlier_refresh_tokens (
  token_hash bytea primary key check (length(token_hash) = 32),
  refresh_token_id text not null references refresh_tokens on delete cascade,
  generation integer not null,
  expires_at timestamptz not null
);

create index earlier_refresh_tokens_session on earlier_refresh_tokens (refresh_token_id);
create index earlier_refresh_tokens_expiry on earlier_refresh_tokens (expires_at);

create table access_tokens (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  token_hash bytea not null unique check (length(token_hash) = 32),
  refresh_token_id text not null references refresh_tokens on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index access_tokens_refresh_token on access_tokens (refresh_token_id);
create index access_tokens_expiry on access_tokens (expires_at);

-- Applications of others that users have consented to.
create table client_consents (
  user_id text not null references users on delete cascade,
  client_id text not null references oauth_clients on delete cascade,
  granted_at timestamptz not null default now(),
  primary key (user_id, client_id)
);

------------------------------------------------------------------------------------------------------------------------
-- Signing in

-- A code of RFC 6749 4.1; kept for a while after its use, so that a second use is noticed and ends what the
-- first one gave.
create table authorization_codes (
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

create index authorization_codes_user on authorization_codes (user_id);
create index authorization_codes_expiry on authorization_codes (expires_at);
create index authorization_codes_refresh_token on authorization_codes (refresh_token_id);

-- A user between the first step of a sign-in and its end (one-time code, consent), bound to one browser.
create table pending_sign_ins (
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

create index pending_sign_ins_user on pending_sign_ins (user_id);
create index pending_sign_ins_expiry on pending_sign_ins (expires_at);

-- The authenticator of a user who turned one-time codes on (RFC 6238).
create table user_authenticators (
  user_id text primary key references users on delete cascade,
  sealed_secret bytea not null,
  -- Null until a first code has shown that the secret arrived.
  confirmed_at timestamptz,
  -- The step of the last code that was taken: no code is taken twice.
  last_step bigint not null default 0,
  created_at timestamptz not null default now()
);

create table recovery_codes (
  user_id text not null references users on delete cascade,
  code_hash bytea not null check (length(code_hash) = 32),
  primary key (user_id, code_hash)
);

-- Links that are mailed or handed over: to set a password after a reset, or for the first time.
create table user_links (
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

create index user_links_user on user_links (user_id, created_at);
create index user_links_expiry on user_links (expires_at);
-- How many links a user has asked for lately.
create index user_links_creator on user_links (created_by, created_at) where created_by is not null;

-- Failed sign-ins and bounded requests are counted in one table of leaky buckets. What is counted (an account from
-- an address, an account, a mail to an address) is part of the hashed key: what people type into the field for the
-- user name, sometimes a password, is not kept.
create table leaky_buckets (
  key bytea primary key check (length(key) = 32),
  -- When the bucket is empty again; whatever is counted moves it by the time that it takes to drain.
  drained_at timestamptz not null,
  filled_at timestamptz not null
);

create index leaky_buckets_drained on leaky_buckets (drained_at);

-- Where users have signed in with their password: networks and browsers. An attack that holds sign-ins from elsewhere
-- does not hold these.
create table familiar_origins (
  user_id text not null references users on delete cascade,
  kind text not null check (kind in ('network', 'device')),
  -- Of `network` and the name of the network with a space between, or of the secret that the browser keeps.
  origin_hash bytea not null check (length(origin_hash) = 32),
  used_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (user_id, origin_hash)
);

create index familiar_origins_hash on familiar_origins (origin_hash, expires_at);

------------------------------------------------------------------------------------------------------------------------
-- Single sign-on through a company's own identity provider (SAML 2.0)

create table sso_configs (
  company_id text primary key references companies on delete cascade,
  -- Another one after each change that a sign-in under way relies on.
  version text not null check (version ~ '^[0-9a-f]{24}$'),
  metadata_xml text not null,
  -- Where the metadata came from, when it was not pasted.
  metadata_url text,
  -- When the document at `metadata_url` was last read with success; null where the metadata was pasted.
  metadata_read_at timestamptz,
  -- Why the last reading failed; null when it did not.
  metadata_error text,
  -- How many have failed one after the other.
  metadata_failures integer not null default 0,
  -- When it is read next; a process that reads it moves this on first, so that no other one does.
  metadata_next_at timestamptz,
  metadata_notified_at timestamptz,
  idp_entity_id text not null,
  idp_sign_in_url text not null,
  -- In PEM, each of a key that responses may be signed with.
  idp_certificates text[] not null check (cardinality(idp_certificates) > 0),
  -- Field of a user -> `nameId` or `attributes.<name>`.
  attribute_mapping jsonb not null,
  provisioning text not null check (provisioning in ('invitation', 'create')),
  -- Null follows the company.
  default_role_id text,
  mandatory boolean not null default false,
  -- When a user first signed in with the present metadata and domains.
  proven_at timestamptz,
  -- Whether responses are taken that answer no request of ours, and which application such a sign-in is for.
  allow_idp_initiated boolean not null default false,
  idp_initiated_client_id text references oauth_clients on delete set null,
  idp_initiated_url text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint sso_configs_proven check (not mandatory or proven_at is not null),
  foreign key (company_id, default_role_id) references roles (company_id, id) on delete set null (default_role_id)
);

create index sso_configs_metadata on sso_configs (metadata_next_at) where metadata_url is not null;

create table sso_default_teams (
  company_id text not null references sso_configs on delete cascade,
  team_id text not null,
  primary key (company_id, team_id),
  foreign key (company_id, team_id) references teams (company_id, id) on delete cascade
);

create table sso_domains (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  domain text not null check (domain = lower(domain) and domain ~ '^[a-z0-9.-]+$'),
  -- What the record of the challenge must hold; public like the record.
  challenge text not null,
  verified_at timestamptz,
  created_at timestamptz not null default now(),
  unique (company_id, domain)
);

-- Any company may claim a domain; it belongs to the one that has verified it.
create unique index sso_domains_verified on sso_domains (domain) where verified_at is not null;

-- Keys that requests are signed with.
create table sso_certificates (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  certificate text not null,
  sealed_key bytea not null,
  not_after timestamptz not null,
  created_at timestamptz not null default now()
);

create index sso_certificates_company on sso_certificates (company_id, created_at, id);

-- Which mails about the end of a certificate were sent.
create table sso_certificate_notices (
  company_id text not null references companies on delete cascade,
  fingerprint text not null,
  days integer not null,
  sent_at timestamptz not null default now(),
  primary key (company_id, fingerprint, days)
);

-- Who a user is to the identity provider: the company, the provider and its name for the user.
create table sso_identities (
  company_id text not null,
  idp_entity_id text not null,
  name_id text not null,
  -- `email` is compared without the case of A to Z, and stored in lower case; null until the first use.
  name_format text check (name_format in ('email', 'other')),
  -- What the identity provider calls the user whatever the name is, where an attribute is mapped to that.
  external_id text,
  user_id text not null,
  created_at timestamptz not null default now(),
  primary key (company_id, idp_entity_id, name_id),
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

-- A user has one name at an identity provider: an address that was given to another one opens nothing.
create unique index sso_identities_user on sso_identities (company_id, idp_entity_id, user_id);

-- Collation "C" folds A to Z and nothing else: `lower` makes `k` of the Kelvin sign otherwise.
create index sso_identities_folded on sso_identities (company_id, idp_entity_id, lower(name_id collate "C"));

create unique index sso_identities_external on sso_identities (company_id, idp_entity_id, external_id)
  where external_id is not null;

-- A name that was taken from a user. It may come to mean another one, but none who may do more than the user who took
-- it: otherwise unlinking oneself would be a way to become an administrator.
create table sso_unlinked_names (
  company_id text not null,
  idp_entity_id text not null,
  -- Only to know it again: it outlives the user's account.
  name_hash bytea not null check (length(name_hash) = 32),
  user_id text not null,
  -- Of the user who unlinked it, then: each `resource:action`.
  permissions text[] not null,
  unlinked_at timestamptz not null default now(),
  primary key (company_id, idp_entity_id, name_hash),
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

create index sso_unlinked_names_user on sso_unlinked_names (company_id, user_id);

-- A sign-in that was sent to the identity provider, bound to one browser; kept for a while after its use, so that
-- a second use is distinguished from an unknown one.
create table saml_requests (
  id text primary key,
  company_id text not null references companies on delete cascade,
  config_version text not null,
  browser_hash bytea not null check (length(browser_hash) = 32),
  -- What names the browser in which it began, and whether that browser had its name before: a page of another site
  -- cannot make it tell the name.
  browser_name_hash bytea check (length(browser_name_hash) = 32),
  browser_known boolean not null default false,
  -- Where it began; one network leaves only so many behind.
  network text not null,
  authorization_request jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

create index saml_requests_expiry on saml_requests (expires_at);
create index saml_requests_network on saml_requests (network) where used_at is null;
create index saml_requests_browser on saml_requests (browser_name_hash) where used_at is null;

-- What a verified response asserted, until the same browser comes for it.
create table saml_results (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  company_id text not null references companies on delete cascade,
  request_id text not null references saml_requests on delete cascade,
  idp_entity_id text not null,
  name_id text not null,
  name_format text not null default 'other' check (name_format in ('email', 'other')),
  attributes jsonb not null,
  expires_at timestamptz not null
);

create index saml_results_expiry on saml_results (expires_at);

-- Assertions that were taken, for as long as each is valid: no process takes one twice.
create table saml_assertions (
  company_id text not null references companies on delete cascade,
  idp_entity_id text not null,
  assertion_id text not null,
  expires_at timestamptz not null,
  primary key (company_id, idp_entity_id, assertion_id)
);

create index saml_assertions_expiry on saml_assertions (expires_at);

------------------------------------------------------------------------------------------------------------------------
-- Provisioning (SCIM): what a company's identity provider may keep, and the tokens that it calls with

create table scim_configs (
  company_id text primary key references companies on delete cascade,
  enabled boolean not null default false,
  group_sync boolean not null default true,
  -- Null: the identity provider changes no roles.
  role_source text check (role_source in ('groups')),
  default_role_id text,
  deprovision_mode text not null default 'soft' check (deprovision_mode in ('soft')),
  last_sync_at timestamptz,
  -- Without its role the configuration has no default of its own.
  foreign key (company_id, default_role_id) references roles (company_id, id)
    on delete set null (default_role_id)
);

-- The first group of the list that a user is in gives the role; a role that is deleted gives nothing any more.
create table scim_role_mappings (
  company_id text not null references scim_configs on delete cascade,
  position integer not null,
  group_name text not null check (group_name <> ''),
  role_id text not null,
  primary key (company_id, position),
  foreign key (company_id, role_id) references roles (company_id, id) on delete cascade
);

create index scim_role_mappings_role on scim_role_mappings (company_id, role_id);

create table scim_tokens (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references scim_configs on delete cascade,
  label text not null check (label <> ''),
  -- Of the secret with its prefix.
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);

create index scim_tokens_company on scim_tokens (company_id, created_at, id);

-- Attributes of a user (RFC 7643 4.1 and 4.3) as they were sent, to be given back. In a table of their own: rows of
-- users are rewritten with every role and every sign-in.
create table scim_user_attributes (
  user_id text primary key references users on delete cascade,
  attributes jsonb not null check (jsonb_typeof(attributes) = 'object')
);

------------------------------------------------------------------------------------------------------------------------
-- Datasources and loading

create table datasources (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  name text not null check (name <> ''),
  kind text not null default 'tracking' check (kind in ('tracking')),
  -- Only an active datasource takes events. A deleted one keeps its row, because its events keep its id.
  status text not null default 'active' check (status in ('active', 'paused', 'deleted')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (company_id, id)
);

create index datasources_company on datasources (company_id, created_at, id);

-- A team that sees datasources stays until they are given to another.
create table datasource_teams (
  company_id text not null,
  datasource_id text not null,
  team_id text not null,
  primary key (datasource_id, team_id),
  foreign key (company_id, datasource_id) references datasources (company_id, id) on delete cascade,
  foreign key (company_id, team_id) references teams (company_id, id)
);

create index datasource_teams_team on datasource_teams (team_id);

-- How far the event log is loaded, and what was counted on the way: both move in one transaction.
create table loader_checkpoints (
  log text primary key,
  segment bigint not null check (segment >= 0),
  byte_offset bigint not null check (byte_offset >= 0),
  -- The greatest reception time loaded: keys of events received long before it are not needed any more.
  received_at timestamptz,
  updated_at timestamptz not null default now()
);

-- Not references: events that are on their way are counted, whatever became of their datasource meanwhile.
create table datasource_counters (
  company_id text not null,
  datasource_id text not null,
  accepted bigint not null default 0 check (accepted >= 0),
  changed bigint not null default 0 check (changed >= 0),
  dropped bigint not null default 0 check (dropped >= 0),
  bot bigint not null default 0 check (bot >= 0),
  duplicate bigint not null default 0 check (duplicate >= 0),
  updated_at timestamptz not null default now(),
  primary key (company_id, datasource_id)
);

------------------------------------------------------------------------------------------------------------------------
-- Mails, linked accounts, encryption keys

-- Mails on their way; the content may hold a link, and is emptied once a mail is sent.
create table outgoing_mails (
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

create index outgoing_mails_due on outgoing_mails (due_at) where sent_at is null and failed_at is null;
-- Failed mails are counted for monitoring, and removed after a while like those that were sent.
create index outgoing_mails_failed on outgoing_mails (failed_at) where failed_at is not null;
create index outgoing_mails_done on outgoing_mails (created_at)
  where sent_at is not null or failed_at is not null;

-- Links from users to the messaging services that scheduled results are delivered to.
create table linked_accounts (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null,
  user_id text not null,
  provider text not null check (provider in ('slack', 'teams', 'webhook')),
  name text not null check (name <> ''),
  -- Host of the address, for lists; the address itself is a secret.
  host text not null,
  sealed_target bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

create index linked_accounts_user on linked_accounts (user_id, created_at, id);

-- Keys that secrets of this database are sealed under, by an id that tells nothing about the key.
create table encryption_keys (
  key_id text primary key check (key_id ~ '^[0-9a-f]{8}$'),
  first_used_at timestamptz not null default now()
);

------------------------------------------------------------------------------------------------------------------------
-- The audit log. The service may add entries and read them; only the retention removes any.

create table audit_entries (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  -- Null for attempts that belong to no company, such as a sign-in under an unknown address.
  company_id text references companies,
  at timestamptz not null default now(),
  category text not null,
  action text not null,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  target_kind text,
  target_id text,
  target_name text,
  outcome text not null check (outcome in ('success', 'failure')),
  -- Name in the error table, for a failure.
  error text,
  details jsonb not null default '{}',
  address text
);

create index audit_entries_company on audit_entries (company_id, at desc, id desc);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;

create trigger audit_entries_unchanged
  before update on audit_entries for each row execute function refuse_audit_change();

create trigger audit_entries_not_truncated
  before truncate on audit_entries for each statement execute function refuse_audit_change();

-- An entry goes only when its company's retention has passed. The setting cannot be below 30 days (a constraint
-- of companies): a user who may change it can shorten the log to 30 days, and no further. All removed rows are checked
-- at once, so that removing many stays quick; names are looked up in no schema that a session could put in front.
create function refuse_early_audit_removal() returns trigger
  language plpgsql set search_path = public, pg_temp as $$
begin
  if exists (
    select 1 from removed left join companies as company on company.id = removed.company_id
    where removed.at > now() - make_interval(days => greatest(30, coalesce(company.audit_retention_days, 90)))
  ) then
    raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
  end if;
  return null;
end
$$;

create trigger audit_entries_kept
  after delete on audit_entries referencing old table as removed
  for each statement execute function refuse_early_audit_removal();

-- Runs with the rights of the tables' owner, the only way to remove entries: at most so many of them, each
-- company's by its own retention. Returns how many were removed; none while another process removes.
create function remove_old_audit_entries(most integer) returns integer
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  removed integer;
begin
  -- The number is arbitrary.
  if not pg_try_advisory_xact_lock(7311022) then return 0; end if;
  delete from audit_entries where id in (
    (select entry.id from companies as company cross join lateral (
      select id from audit_entries
      where company_id = company.id and at <= now() - make_interval(days => company.audit_retention_days)
      order by at limit most
    ) as entry limit most)
    union all
    (select id from audit_entries where company_id is null and at <= now() - interval '90 days'
      order by at limit most)
    limit most
  );
  get diagnostics removed = row_count;
  return removed;
end
$$;

do $$
declare
  application text := current_setting('millrace.application_role', true);
begin
  if application <> '' then
    execute format('revoke update, delete, truncate on audit_entries from %I', application);
  end if;
end
$$;

------------------------------------------------------------------------------------------------------------------------
-- What users may do, and how they may sign in

-- Teams whose resources a user may use: the user's own, all below them, and from a team that reaches its ancestors
-- those above it, up to but without the first that does so too.
create function reachable_teams(member text) returns setof text language sql stable as $$
  with recursive own as (
    select team_id from team_members where user_id = member
  ), below as (
    select team_id from own
    union
    select relation.child_id from below join team_parents as relation on relation.parent_id = below.team_id
  ), above as (
    select relation.parent_id as team_id
      from own join teams as team on team.id = own.team_id and team.reaches_ancestors
        join team_parents as relation on relation.child_id = own.team_id
        join teams as parent on parent.id = relation.parent_id and not parent.reaches_ancestors
    union
    select relation.parent_id
      from above join team_parents as relation on relation.child_id = above.team_id
        join teams as parent on parent.id = relation.parent_id and not parent.reaches_ancestors
  )
  select team_id from below union select team_id from above
$$;

-- Whether a user is active and allowed everything that the role allows: a link that this user has seen must not
-- give more than the user may give.
create function holds_role(giver text, role text) returns boolean language sql stable as $$
  select exists (
    select 1 from users as person where person.id = giver and person.status = 'active' and not exists (
      select resource, action from role_permissions where role_id = role
      except select resource, action from role_permissions where role_id = person.role_id
    )
  )
$$;

-- Whether a user of the company must sign in through single sign-on: the exact domain of the address, never one
-- below it.
create function requires_single_sign_on(company text, email text) returns boolean
  language sql stable as $$
    select exists (
      select 1 from sso_configs as config join sso_domains as domain on domain.company_id = config.company_id
      where config.company_id = company and config.mandatory and domain.verified_at is not null
        and domain.domain = lower(split_part(email, '@', 2))
    )
  $$;

-- Whether a user of the company can sign in through it at all, by the address.
create function offers_single_sign_on(company text, email text) returns boolean
  language sql stable as $$
    select exists (
      select 1 from sso_configs as config join sso_domains as domain on domain.company_id = config.company_id
      where config.company_id = company and domain.verified_at is not null
        and domain.domain = lower(split_part(email, '@', 2))
    )
  $$;

-- Whether the address signs in to an account of another company, or its domain is verified as another company's.
create function is_email_held_elsewhere(company text, address text) returns boolean
  language sql stable as $$
  select exists (
    select 1 from users where email = address and holds_email and status <> 'deleted' and company_id <> company
  ) or exists (
    select 1 from sso_domains
    where domain = split_part(address, '@', 2) and company_id <> company and verified_at is not null
  )
$$;

-- Whether a user can sign in. A password works for users whom single sign-on does not bind, and not where the address
-- signs in to an account of another company; the identity provider works for users whom it has named before.
create function can_sign_in(company text, person text) returns boolean
  language sql stable as $$
    select exists (
      select 1 from users as owner where owner.company_id = company and owner.id = person and (
        (owner.password_hash is not null and owner.holds_email
          and (owner.service_account or not requires_single_sign_on(owner.company_id, owner.email)))
        or (offers_single_sign_on(owner.company_id, owner.email) and exists (
          select 1 from sso_identities as identity join sso_configs as config
            on config.company_id = identity.company_id and config.idp_entity_id = identity.idp_entity_id
          where identity.company_id = owner.company_id and identity.user_id = owner.id
        ))
      )
    )
  $$;

------------------------------------------------------------------------------------------------------------------------
-- A company keeps an administrator who can sign in, however a change comes in: checked when a transaction commits.

-- The role of an administrator may change users, roles and the company.
create function is_administrator_role(role text) returns boolean language sql stable as $$
  select count(*) = 3 from role_permissions
  where role_id = role and (resource, action) in (('user', 'update'), ('role', 'update'), ('company', 'update'))
$$;

-- Raises unless the company has an administrator who can sign in. Whatever else takes a way to sign in from users asks
-- it inside its own transaction: `select require_administrator(company)`.
create function require_administrator(company text) returns void language plpgsql as $$
begin
  -- Locked, so that two administrators cannot remove each other at once.
  perform 1 from companies where id = company for no key update;
  if found and not exists (
    select 1 from users where company_id = company and status = 'active' and not service_account
      and role_id in (select id from roles where company_id = company and is_administrator_role(id))
      and can_sign_in(company, id)
  ) then
    raise exception 'company % would have no administrator', company
      using errcode = 'check_violation', constraint = 'companies_keep_administrator';
  end if;
end
$$;

-- Very many users can get another role at once. All rows of a transaction are checked by one statement, the one that
-- commits it, and nothing changes meanwhile: the answer for a role that one user had is that for all who had it.
create function keep_administrator() returns trigger language plpgsql as $$
declare
  moment text := statement_timestamp()::text || ':';
  checked text := coalesce(current_setting('millrace.checked_roles', true), '');
begin
  if not starts_with(checked, moment) then checked := moment; end if;
  if position(old.role_id in checked) = 0 then
    if is_administrator_role(old.role_id) then perform require_administrator(old.company_id); end if;
    perform set_config('millrace.checked_roles', checked || ' ' || old.role_id, true);
  end if;
  return null;
end
$$;

-- An address in another domain can take away the way in of the last administrator.
create constraint trigger users_keep_administrator
  after update of status, role_id, service_account, email or delete on users
  deferrable initially deferred
  for each row when (old.status = 'active')
  execute function keep_administrator();

create function keep_administrator_role() returns trigger language plpgsql as $$
begin
  perform require_administrator(company_id) from roles where id = old.role_id;
  return null;
end
$$;

create constraint trigger role_permissions_keep_administrator
  after update or delete on role_permissions
  deferrable initially deferred
  for each row when (old.resource in ('user', 'role', 'company') and old.action = 'update')
  execute function keep_administrator_role();

------------------------------------------------------------------------------------------------------------------------
-- What follows from a change of a user

create function forget_sso_identities() returns trigger language plpgsql as $$
begin
  delete from sso_identities where user_id = new.id;
  return null;
end
$$;

create trigger users_forget_sso_identities
  after update of status on users
  for each row when (new.status = 'deleted')
  execute function forget_sso_identities();

create function keep_former_address() returns trigger language plpgsql as $$
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

create trigger users_keep_former_address
  after update of email on users
  for each row when (old.email <> new.email and old.company_id = new.company_id)
  execute function keep_former_address();

------------------------------------------------------------------------------------------------------------------------
-- Every process remembers for a moment what a token may do, and which origins there are. These triggers tell all of
-- them when that has changed, whatever changed it; equal notices of one transaction are one notice.

create function notify_access_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('millrace_access_changed', '');
  return null;
end
$$;

create trigger users_access_changed
  after update of status, role_id, company_id on users
  for each statement execute function notify_access_changed();

create trigger role_permissions_access_changed
  after insert or update or delete on role_permissions
  for each statement execute function notify_access_changed();

create trigger teams_access_changed
  after update of reaches_ancestors on teams
  for each row when (old.reaches_ancestors is distinct from new.reaches_ancestors)
  execute function notify_access_changed();

create trigger team_members_access_changed
  after insert or update or delete on team_members
  for each statement execute function notify_access_changed();

create trigger team_parents_access_changed
  after insert or update or delete on team_parents
  for each statement execute function notify_access_changed();

create trigger oauth_clients_access_changed
  after insert or delete or update of active, origins on oauth_clients
  for each statement execute function notify_access_changed();

-- Tokens that expire by themselves are swept without a notice.
create trigger access_tokens_access_changed
  after delete on access_tokens
  for each row when (old.expires_at > now())
  execute function notify_access_changed();
