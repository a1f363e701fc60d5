-- Who did what, when. The service may add entries and read them; only the retention takes any away.

create table if not exists audit_entries (
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

create index if not exists audit_entries_company on audit_entries (company_id, at desc, id desc);

create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;

create or replace trigger audit_entries_unchanged
  before update on audit_entries for each row execute function refuse_audit_change();

create or replace trigger audit_entries_not_truncated
  before truncate on audit_entries for each statement execute function refuse_audit_change();

-- An entry goes only when its company's retention has passed; the bounds of the setting are a constraint.
create or replace function refuse_early_audit_removal() returns trigger language plpgsql as $$
begin
  if old.at > now() - make_interval(days => coalesce(
    (select audit_retention_days from companies where id = old.company_id), 90))
  then
    raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
  end if;
  return old;
end
$$;

create or replace trigger audit_entries_kept
  before delete on audit_entries for each row execute function refuse_early_audit_removal();

-- Runs with the rights of the tables' owner, the only way that entries leave.
create or replace function remove_old_audit_entries(most integer) returns integer
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  removed integer;
begin
  delete from audit_entries where id in (
    select entry.id from audit_entries as entry left join companies as company on company.id = entry.company_id
    where entry.at <= now() - make_interval(days => coalesce(company.audit_retention_days, 90))
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
