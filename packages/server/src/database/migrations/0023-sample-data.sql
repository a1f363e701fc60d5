-- The datasource that holds the sample data of a company, and whether all of it was sent: what an ended process has
-- left half sent is sent again, and counts once.
alter table datasources add column sample_data text check (sample_data in ('filling', 'filled'));

create unique index datasources_sample_data on datasources (company_id)
  where sample_data is not null and status <> 'deleted';
