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

-- An entry goes only when its company's retention has passed. The setting cannot be below 30 days (a constraint
-- of companies): whoever may change it can shorten the log to 30 days, and no further. All removed rows are judged
-- at once, so that removing many stays quick; names are looked up in no schema that a session could put in front.
create or replace function refuse_early_audit_removal() returns trigger
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

create or replace trigger audit_entries_kept
  after delete on audit_entries referencing old table as removed
  for each statement execute function refuse_early_audit_removal();

-- Runs with the rights of the tables' owner, the only way that entries leave: at most so many of them, each
-- company's by its own retention. Gives how many went; none while another process removes.
create or replace function remove_old_audit_entries(most integer) returns integer
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
