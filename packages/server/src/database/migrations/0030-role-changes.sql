-- Very many people can get another role at once, and whoever of them signs in meanwhile waits for the end of it: what
-- it costs grows with the roles that people had, wherever it can, and not with the people.

-- A row that is changed stays on its page, and then no index is touched, unless a column of an index changes: half of
-- each page is kept for that, and roles are in none. That helps sign-ins, too, each of which changes a row.
drop index if exists users_role;
alter table users set (fillfactor = 50);

create or replace trigger users_access_changed
  after update of status, role_id, company_id on users
  for each statement execute function notify_access_changed();

-- As before, but that people are found by the roles of administrators.
create or replace function require_administrator(company text) returns void language plpgsql as $$
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

-- All rows of a transaction are judged by one statement, the one that commits it, and nothing changes meanwhile: the
-- answer for a role that somebody had is that for everybody who had it.
create or replace function keep_administrator() returns trigger language plpgsql as $$
declare
  moment text := statement_timestamp()::text || ':';
  judged text := coalesce(current_setting('millrace.judged_roles', true), '');
begin
  if not starts_with(judged, moment) then judged := moment; end if;
  if position(old.role_id in judged) = 0 then
    if is_administrator_role(old.role_id) then perform require_administrator(old.company_id); end if;
    perform set_config('millrace.judged_roles', judged || ' ' || old.role_id, true);
  end if;
  return null;
end
$$;
