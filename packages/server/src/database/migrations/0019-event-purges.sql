-- Datasources whose events leave the statistics. A row stays when it is done: events that arrive later are never stored.
-- No reference: the datasource, and its company, may be gone before the events are.
create table event_purges (
  datasource_id text primary key check (datasource_id ~ '^[0-9a-f]{24}$'),
  company_id text not null check (company_id ~ '^[0-9a-f]{24}$'),
  requested_at timestamptz not null default now(),
  -- When nothing of them was left on disk.
  finished_at timestamptz
);

create index event_purges_open on event_purges (requested_at) where finished_at is null;

create function notify_event_purges_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('event_purges', '');
  return null;
end
$$;

create trigger event_purges_changed
  after insert or update or delete on event_purges
  for each statement execute function notify_event_purges_changed();

-- Those that were deleted while their events stayed.
insert into event_purges (datasource_id, company_id)
select id, company_id from datasources where status = 'deleted';
