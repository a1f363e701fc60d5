-- Addresses of integrations carry the parameters of their workflow's profile: pages are given others as soon as it changes.

create trigger workflows_profile_changed
  after update on workflows
  for each row when (old.variable_profile_id is distinct from new.variable_profile_id)
  execute function notify_workflow_changed();

create function notify_variable_profile_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('workflow_changes', w.id) from workflows w where w.variable_profile_id = new.id;
  return null;
end
$$;

create trigger variable_profiles_changed
  after update on variable_profiles
  for each row when (old.parameters::text is distinct from new.parameters::text)
  execute function notify_variable_profile_changed();
