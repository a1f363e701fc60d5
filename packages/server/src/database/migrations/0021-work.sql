-- Nothing waits in the queue of pg-boss: ledgers are queues of their own, and what is done at regular times is kept here.
drop schema jobs cascade;

create table periodic_work (
  name text primary key,
  -- When it is done next; while a process does it, until when that process is taken to be alive.
  due_at timestamptz not null,
  -- Counts how often it was begun: what another process has begun again is no longer this one's.
  turn integer not null default 1
);

-- Tells the processes that wait for work that there is some; equal notices of one transaction are one notice.
create function notify_work() returns trigger language plpgsql as $$
begin
  perform pg_notify('millrace_work', '');
  return null;
end
$$;

create trigger outgoing_mails_work after insert on outgoing_mails for each statement execute function notify_work();
create trigger saved_query_runs_work after insert on saved_query_runs for each statement execute function notify_work();
create trigger saved_query_messages_work after insert on saved_query_messages
  for each statement execute function notify_work();
create trigger report_generations_work after insert on report_generations
  for each statement execute function notify_work();
create trigger datasource_imports_work after insert on datasource_imports
  for each statement execute function notify_work();
