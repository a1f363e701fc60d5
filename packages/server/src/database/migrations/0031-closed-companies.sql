-- A company that is closed does nothing, can be opened again for 7 days, and is then removed with everything it has.

alter table companies add column closed_at timestamptz;

-- While a company is closed nothing of it becomes due: the times wait far away, and come back with it, as if the service
-- had not run meanwhile. It is closed now and never in the past, so that nobody removes it before its days are over.
create function note_company_closed() returns trigger language plpgsql as $$
declare
  wait interval := case when new.closed_at is null then '-10000 hours' else '10000 hours' end;
begin
  if old.closed_at is not null and new.closed_at is not null or new.closed_at <> now() then
    raise exception 'company % is closed now or not at all', new.id using errcode = 'check_violation';
  end if;
  update saved_queries set next_run_at = next_run_at + wait where company_id = new.id and next_run_at is not null;
  update report_settings set next_at = next_at + wait where company_id = new.id and next_at is not null;
  update worker_datasources set next_refresh_at = next_refresh_at + wait
    where company_id = new.id and next_refresh_at is not null;
  update saved_query_runs set due_at = due_at + wait where company_id = new.id and state = 'queued';
  update report_generations set due_at = due_at + wait where company_id = new.id and state = 'queued';
  update datasource_imports set due_at = due_at + wait where company_id = new.id and state = 'queued';
  update statistics_exports set due_at = due_at + wait where company_id = new.id and state = 'queued';
  perform pg_notify('millrace_access_changed', '');
  perform pg_notify('millrace_work', '');
  return new;
end
$$;

create trigger companies_closed before update of closed_at on companies
  for each row when (old.closed_at is distinct from new.closed_at) execute function note_company_closed();

-- Of a company that is removed the audit log goes too.
create or replace function refuse_early_audit_removal() returns trigger
  language plpgsql set search_path = public, pg_temp as $$
begin
  if exists (
    select 1 from removed left join companies as company on company.id = removed.company_id
    where removed.at > now() - make_interval(days => greatest(30, coalesce(company.audit_retention_days, 90)))
      and coalesce(company.closed_at > now() - interval '7 days', true)
  ) then
    raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
  end if;
  return null;
end
$$;

-- Runs with the rights of the tables' owner. Rows that others point at without a cascade go after those.
create function remove_closed_company(company text) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform 1 from companies where id = company and closed_at <= now() - interval '7 days' for update;
  if not found then return false; end if;
  update companies set default_role_id = null where id = company;
  delete from experiments where company_id = company;
  delete from dashboard_teams where company_id = company;
  delete from datasource_teams where company_id = company;
  delete from json_template_teams where company_id = company;
  delete from workflow_teams where company_id = company;
  delete from team_parents where company_id = company;
  delete from users where company_id = company;
  delete from audit_entries where company_id = company;
  delete from outgoing_mails where company_id = company;
  delete from datasource_counters where company_id = company;
  -- The next start makes a company where there is none.
  delete from installation where company_id = company;
  delete from companies where id = company;
  return true;
end
$$;
