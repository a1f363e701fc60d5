-- Label keys of the events and of the purchases of a company, for those who ask which there are.
create table if not exists label_keys (
  company LowCardinality(String),
  source LowCardinality(String),
  key String
) engine = ReplacingMergeTree
order by (company, source, key)
settings fsync_after_insert = 1, fsync_part_directory = 1;

insert into label_keys (company, source, key)
-- repeatable: a key that is stored twice is one
select distinct company, 'events', arrayJoin(labels.keys) as key from events
order by company, key limit 2000 by company;

insert into label_keys (company, source, key)
-- repeatable: a key that is stored twice is one
select distinct company, 'purchases', arrayJoin(labels.keys) as key from purchases
order by company, key limit 2000 by company;

-- The rows of one device lie together, so that few of a table's granules hold a client. What is stored already gets
-- its index in the background.
alter table events add index if not exists by_client client type bloom_filter(0.01) granularity 1;

alter table events materialize index by_client;
