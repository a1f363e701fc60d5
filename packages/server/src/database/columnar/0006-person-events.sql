-- What persons have done lately, for the workflows that run for them: the rows of one person lie together, in small
-- granules, so that one is read in a millisecond whatever others there are. Columns are those of person-columns.ts. Only
-- the times that a workflow may look back upon are kept; a month goes when all of it has passed.

create table if not exists person_events (
  company LowCardinality(String),
  -- The client of the event, else its device: a person is found by its own number and by those of the devices bound to it.
  owner UInt64 CODEC(LZ4),
  -- Whether the owner is the client.
  named UInt8 CODEC(ZSTD(1)),
  time DateTime64(3, 'UTC') CODEC(T64, LZ4),
  seq UInt64 CODEC(T64, ZSTD(1)),
  datasource LowCardinality(String),
  name LowCardinality(String),
  url String CODEC(ZSTD(1)),
  ids Array(String) CODEC(ZSTD(1)),
  value Nullable(Decimal(18, 2)) CODEC(ZSTD(1)),
  labels Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  INDEX by_seq seq TYPE minmax GRANULARITY 8
) engine = MergeTree
partition by toYYYYMM(time)
order by (company, owner, time)
ttl toDateTime(time) + toIntervalDay(91)
settings index_granularity = 512, min_compress_block_size = 16384, ttl_only_drop_parts = 1,
  fsync_after_insert = 1, fsync_part_directory = 1;

-- repeatable: nothing loads while migrations run, so that what an interrupted run has left is all there is.
truncate table person_events;

-- repeatable: into the table that was just emptied.
insert into person_events (company, owner, named, time, seq, datasource, name, url, ids, value, labels)
select
  company, if(client != 0, client, device), toUInt8(client != 0), time, seq, datasource, name, url, ids, value, labels
from events
where time > now() - toIntervalDay(91)
settings max_threads = 2;
