-- What a session began with, as its browser names itself: its user tells sessions apart by it.
alter table refresh_tokens add column user_agent text not null default '' check (length(user_agent) <= 512);

-- Users of the service's own web application return to it, at whatever address the service has.
update oauth_clients set redirect_uris = redirect_uris || '/console/'::text, updated_at = now()
where id = (select client_id from installation) and not '/console/' = any (redirect_uris);
