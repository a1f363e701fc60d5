-- Single sign-on through a company's own identity provider (SAML 2.0). Secrets stand here as SHA-256 hashes, the
-- keys that requests are signed with sealed.

create table if not exists sso_configs (
  company_id text primary key references companies on delete cascade,
  -- Another one after each change that a sign-in under way relies on.
  version text not null check (version ~ '^[0-9a-f]{24}$'),
  metadata_xml text not null,
  -- Where the metadata came from, when it was not pasted.
  metadata_url text,
  idp_entity_id text not null,
  idp_sign_in_url text not null,
  -- In PEM, each of a key that responses may be signed with.
  idp_certificates text[] not null check (cardinality(idp_certificates) > 0),
  -- Field of a person -> `nameId` or `attributes.<name>`.
  attribute_mapping jsonb not null,
  provisioning text not null check (provisioning in ('invitation', 'create')),
  -- Null follows the company.
  default_role_id text,
  mandatory boolean not null default false,
  -- When somebody first signed in with the present metadata and domains.
  proven_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint sso_configs_proven check (not mandatory or proven_at is not null),
  foreign key (company_id, default_role_id) references roles (company_id, id) on delete set null (default_role_id)
);

create table if not exists sso_default_teams (
  company_id text not null references sso_configs on delete cascade,
  team_id text not null,
  primary key (company_id, team_id),
  foreign key (company_id, team_id) references teams (company_id, id) on delete cascade
);

create table if not exists sso_domains (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  domain text not null check (domain = lower(domain) and domain ~ '^[a-z0-9.-]+$'),
  -- What the record of the challenge must hold; public like the record.
  challenge text not null,
  verified_at timestamptz,
  created_at timestamptz not null default now(),
  unique (company_id, domain)
);

-- Anybody may claim a domain; it belongs to the one company that has shown it.
create unique index if not exists sso_domains_verified on sso_domains (domain) where verified_at is not null;

create table if not exists sso_certificates (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  certificate text not null,
  sealed_key bytea not null,
  not_after timestamptz not null,
  created_at timestamptz not null default now()
);

create index if not exists sso_certificates_company on sso_certificates (company_id, created_at, id);

-- Who somebody is: the company, its identity provider and that one's name for the person.
create table if not exists sso_identities (
  company_id text not null,
  idp_entity_id text not null,
  name_id text not null,
  user_id text not null,
  created_at timestamptz not null default now(),
  primary key (company_id, idp_entity_id, name_id),
  foreign key (company_id, user_id) references users (company_id, id) on delete cascade
);

-- One person has one name at an identity provider: an address that was given to somebody else opens nothing.
create unique index if not exists sso_identities_user on sso_identities (company_id, idp_entity_id, user_id);

create or replace function forget_sso_identities() returns trigger language plpgsql as $$
begin
  delete from sso_identities where user_id = new.id;
  return null;
end
$$;

create or replace trigger users_forget_sso_identities
  after update of status on users
  for each row when (new.status = 'deleted')
  execute function forget_sso_identities();

-- A sign-in that was sent to the identity provider, bound to one browser; kept for a while after its use, so that
-- a second use is told from an unknown one.
create table if not exists saml_requests (
  id text primary key,
  company_id text not null references companies on delete cascade,
  config_version text not null,
  browser_hash bytea not null check (length(browser_hash) = 32),
  -- Where it began; one network leaves only so many behind.
  network text not null,
  authorization_request jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

create index if not exists saml_requests_expiry on saml_requests (expires_at);

create index if not exists saml_requests_network on saml_requests (network) where used_at is null;

-- What a verified response said, until the same browser comes for it.
create table if not exists saml_results (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  company_id text not null references companies on delete cascade,
  request_id text not null references saml_requests on delete cascade,
  idp_entity_id text not null,
  name_id text not null,
  attributes jsonb not null,
  expires_at timestamptz not null
);

create index if not exists saml_results_expiry on saml_results (expires_at);

-- Assertions that were taken, for as long as each is valid: none is taken twice, by whichever process.
create table if not exists saml_assertions (
  company_id text not null references companies on delete cascade,
  idp_entity_id text not null,
  assertion_id text not null,
  expires_at timestamptz not null,
  primary key (company_id, idp_entity_id, assertion_id)
);

create index if not exists saml_assertions_expiry on saml_assertions (expires_at);

-- Which mails about the end of a certificate were sent.
create table if not exists sso_certificate_notices (
  company_id text not null references companies on delete cascade,
  fingerprint text not null,
  days integer not null,
  sent_at timestamptz not null default now(),
  primary key (company_id, fingerprint, days)
);

-- Whether a person of the company must sign in through it: the exact domain of the address, never one below it.
create or replace function requires_single_sign_on(company text, email text) returns boolean
  language sql stable as $$
    select exists (
      select 1 from sso_configs as config join sso_domains as domain on domain.company_id = config.company_id
      where config.company_id = company and config.mandatory and domain.verified_at is not null
        and domain.domain = lower(split_part(email, '@', 2))
    )
  $$;

-- Whether a person of the company can come in through it at all, by the address.
create or replace function offers_single_sign_on(company text, email text) returns boolean
  language sql stable as $$
    select exists (
      select 1 from sso_configs as config join sso_domains as domain on domain.company_id = config.company_id
      where config.company_id = company and domain.verified_at is not null
        and domain.domain = lower(split_part(email, '@', 2))
    )
  $$;

-- A password opens for those whom single sign-on does not bind; the identity provider opens for those whom it has
-- named before.
create or replace function can_sign_in(company text, person text) returns boolean
  language sql stable as $$
    select exists (
      select 1 from users as owner where owner.company_id = company and owner.id = person and (
        (owner.password_hash is not null
          and (owner.service_account or not requires_single_sign_on(owner.company_id, owner.email)))
        or (offers_single_sign_on(owner.company_id, owner.email) and exists (
          select 1 from sso_identities as identity join sso_configs as config
            on config.company_id = identity.company_id and config.idp_entity_id = identity.idp_entity_id
          where identity.company_id = owner.company_id and identity.user_id = owner.id
        ))
      )
    )
  $$;
