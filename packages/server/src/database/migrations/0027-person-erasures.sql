-- Persons whose data are removed. Identifiers stand here sealed until that is done, and as keyed hashes while events with
-- them are refused; what stays of an erasure holds nothing of the person.
alter table companies add column person_salt uuid not null default gen_random_uuid();

create table person_erasures (
  id text primary key check (id ~ '^[0-9a-f]{24}$'),
  company_id text not null references companies on delete cascade,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  sealed_reference bytea,
  -- Whether that is what was found already, rows of which may be gone.
  is_found boolean not null default false,
  refuse_until timestamptz not null,
  finished_at timestamptz,
  -- Rows that were removed, by kind.
  removed json,
  check ((finished_at is null) = (sealed_reference is not null)),
  check ((finished_at is null) = (removed is null))
);

create index person_erasures_company on person_erasures (company_id, requested_at desc, id);
create index person_erasures_open on person_erasures (requested_at, id) where finished_at is null;

create table erased_identifiers (
  company_id text not null references companies on delete cascade,
  digest text not null,
  refuse_until timestamptz not null,
  primary key (company_id, digest)
);

create function notify_person_erasures_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('person_erasures', '');
  return null;
end
$$;

create trigger person_erasures_changed
  after insert or update or delete on person_erasures
  for each statement execute function notify_person_erasures_changed();
