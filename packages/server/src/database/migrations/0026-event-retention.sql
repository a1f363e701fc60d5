-- How long events are kept: of all datasources of a company, and of one. Null is for ever, and the company's.
-- `event_retention_since` is when that was said last: nothing is removed before there was time to undo it.
alter table companies
  add column event_retention_days integer check (event_retention_days between 7 and 36500),
  add column event_retention_since timestamptz not null default now();

alter table datasources
  add column event_retention_days integer check (event_retention_days between 7 and 36500),
  add column event_retention_since timestamptz not null default now();

create function note_event_retention() returns trigger language plpgsql as $$
begin
  new.event_retention_since := now();
  return new;
end
$$;

create trigger company_event_retention
  before update on companies for each row
  when (old.event_retention_days is distinct from new.event_retention_days) execute function note_event_retention();

create trigger datasource_event_retention
  before update on datasources for each row
  when (old.event_retention_days is distinct from new.event_retention_days) execute function note_event_retention();
