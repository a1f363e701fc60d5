-- Every process remembers for a moment what a token may do. These triggers tell all of them when that has
-- changed, whoever changed it; equal notices of one transaction are one notice.

create or replace function notify_access_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('millrace_access_changed', '');
  return null;
end
$$;

create or replace trigger users_access_changed
  after update of status, role_id, company_id on users
  for each row when (
    (old.status, old.role_id, old.company_id) is distinct from (new.status, new.role_id, new.company_id)
  )
  execute function notify_access_changed();

create or replace trigger role_permissions_access_changed
  after insert or update or delete on role_permissions
  for each statement execute function notify_access_changed();

create or replace trigger team_members_access_changed
  after insert or update or delete on team_members
  for each statement execute function notify_access_changed();

create or replace trigger oauth_clients_access_changed
  after update of active on oauth_clients
  for each row when (old.active is distinct from new.active)
  execute function notify_access_changed();

-- Tokens that end by themselves are swept without a word.
create or replace trigger access_tokens_access_changed
  after delete on access_tokens
  for each row when (old.expires_at > now())
  execute function notify_access_changed();
