-- Exports of sessions, and of the rows of a query, which have no days.
alter table statistics_exports
  drop constraint statistics_exports_table_name_check,
  add constraint statistics_exports_table_name_check check (table_name in ('events', 'orders', 'sessions', 'query')),
  add column query json,
  alter column from_day drop not null,
  add check ((query is not null) = (table_name = 'query')),
  add check ((from_day is null) = (table_name = 'query'));

-- A day, or `query` for the one file that an export of a query has.
alter table statistics_export_files alter column day type text using day::text;
alter table statistics_export_files rename column day to part;
