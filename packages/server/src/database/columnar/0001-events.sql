-- Events and what is derived from them. Every insert is on disk when it is answered (fsync_after_insert), because the
-- event log gives its copy away then. Codecs and order are measured: 42 bytes an event, and the rows of one device
-- lie together, so that counting distinct persons is as fast as counting rows.

create table if not exists events (
  company LowCardinality(String),
  datasource LowCardinality(String),
  time DateTime64(3, 'UTC') CODEC(T64, LZ4),
  received DateTime64(3, 'UTC') CODEC(T64, LZ4),
  -- Sequence number in the event log: makes a repeated load add nothing.
  seq UInt64 CODEC(T64, ZSTD(1)),
  -- The event's own id: a UUID in its canonical form takes 16 bytes, any other text stands in event_text.
  event_uuid UUID CODEC(NONE),
  event_text String CODEC(ZSTD(1)),
  event_id String ALIAS if(event_text = '', toString(event_uuid), event_text),
  name LowCardinality(String),
  url String CODEC(ZSTD(1)),
  tmp_id String CODEC(ZSTD(1)),
  -- Empty when absent, as trans_id.
  client_id String CODEC(ZSTD(1)),
  -- sipHash64 of tmp_id and of client_id; client is 0 when absent.
  device UInt64 CODEC(LZ4),
  client UInt64 CODEC(LZ4),
  ids Array(String) CODEC(LZ4),
  value Nullable(Decimal(18, 2)) CODEC(ZSTD(1)),
  trans_id String CODEC(ZSTD(1)),
  labels Map(LowCardinality(String), String) CODEC(LZ4),
  device_type LowCardinality(String),
  os LowCardinality(String),
  browser LowCardinality(String),
  INDEX by_seq seq TYPE minmax GRANULARITY 1
) engine = MergeTree
partition by toYYYYMM(time)
order by (company, datasource, toDate(time), device, time)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- Copies of the events purchase and purchase_references, few enough to merge those of one order at each query.
create table if not exists purchases (
  company LowCardinality(String),
  datasource LowCardinality(String),
  time DateTime64(3, 'UTC') CODEC(T64, LZ4),
  received DateTime64(3, 'UTC') CODEC(T64, LZ4),
  seq UInt64 CODEC(T64, ZSTD(1)),
  event_uuid UUID CODEC(NONE),
  event_text String CODEC(ZSTD(1)),
  event_id String ALIAS if(event_text = '', toString(event_uuid), event_text),
  name LowCardinality(String),
  url String CODEC(ZSTD(1)),
  tmp_id String CODEC(ZSTD(1)),
  client_id String CODEC(ZSTD(1)),
  device UInt64 CODEC(LZ4),
  client UInt64 CODEC(LZ4),
  ids Array(String) CODEC(LZ4),
  value Nullable(Decimal(18, 2)) CODEC(ZSTD(1)),
  trans_id String CODEC(ZSTD(1)),
  labels Map(LowCardinality(String), String) CODEC(LZ4),
  device_type LowCardinality(String),
  os LowCardinality(String),
  browser LowCardinality(String),
  INDEX by_seq seq TYPE minmax GRANULARITY 1
) engine = MergeTree
order by (company, time)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- Bindings of a device (tmp_id) to a person (client_id) by identify events: each binding once, with its latest time.
-- The binding of a device is the one with the greatest (time, client_id).
create table if not exists identities (
  company LowCardinality(String),
  device UInt64,
  tmp_id String,
  time DateTime64(3, 'UTC'),
  client UInt64,
  client_id String
) engine = ReplacingMergeTree(time)
order by (company, device, client_id)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- What the collector's rules did: one row for each rule and path of a request, kept for 30 days.
create table if not exists datasource_log (
  company LowCardinality(String),
  datasource LowCardinality(String),
  received DateTime64(3, 'UTC') CODEC(T64, LZ4),
  seq UInt64 CODEC(T64, ZSTD(1)),
  kind LowCardinality(String),
  rule LowCardinality(String),
  path String CODEC(ZSTD(1)),
  sample String CODEC(ZSTD(1)),
  count UInt64 CODEC(T64, ZSTD(1))
) engine = MergeTree
partition by toMonday(received)
order by (company, datasource, received, seq)
ttl toDateTime(received) + toIntervalDay(30)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- Events that the engine refused one by one, with its reason.
create table if not exists events_quarantine (
  company LowCardinality(String),
  datasource LowCardinality(String),
  seq UInt64,
  quarantined DateTime64(3, 'UTC') default now64(3, 'UTC'),
  error String,
  line String
) engine = MergeTree
order by (company, datasource, seq)
settings fsync_after_insert = 1, fsync_part_directory = 1;
