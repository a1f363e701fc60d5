-- Events and what is derived from them. Every insert is on disk when it is answered (fsync_after_insert), because the
-- event log gives its copy away then. Codecs and order are measured: 42 bytes an event, and the rows of one device
-- lie together, so that counting distinct persons is as fast as counting rows.
--
-- The columns that `events` and `purchases` have of an event are those of event-columns.ts.

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
  INDEX by_seq seq TYPE minmax GRANULARITY 1,
  -- The rows of one device lie together, so that few of the granules hold a client.
  INDEX by_client client TYPE bloom_filter(0.01) GRANULARITY 1
) engine = MergeTree
partition by toYYYYMM(time)
order by (company, datasource, toDate(time), device, time)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- Copies of the events purchase and purchase_references, few enough to merge those of one order when one is loaded.
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
  -- The order that the event belongs to: those of one company with one transId are one; without it an event is its own.
  purchase UInt128 CODEC(NONE),
  INDEX by_seq seq TYPE minmax GRANULARITY 1
) engine = MergeTree
order by (company, time)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- Where the events of an order lie in `purchases`, which is sorted by time. `key` is the first half of the order's
-- hash. Sorted and compressed like event_keys: few keys are found by the index, many by reading all of them.
create table if not exists order_events (
  key UInt64 CODEC(NONE),
  company LowCardinality(String),
  time DateTime64(3, 'UTC') CODEC(T64)
) engine = ReplacingMergeTree
order by (key, company, time)
settings index_granularity = 1024, min_compress_block_size = 8192, max_compress_block_size = 8192,
  fsync_after_insert = 1, fsync_part_directory = 1;

-- Purchases as statistics show them: one row for each order at the time of its earliest event; read it with FINAL.
-- `version` is the number of events that were merged, so that the row that knows most of them is the one that counts,
-- however often and in whichever order they are loaded. When an earlier event moves an order, a row that is `gone`
-- takes its former place.
create table if not exists orders (
  company LowCardinality(String),
  time DateTime64(3, 'UTC') CODEC(T64, LZ4),
  purchase UInt128 CODEC(NONE),
  version UInt64 CODEC(T64, ZSTD(1)),
  gone UInt8 CODEC(T64, ZSTD(1)),
  datasource LowCardinality(String),
  trans_id String CODEC(ZSTD(1)),
  -- The earliest event that has a clientId; 0 and empty without one.
  client UInt64 CODEC(LZ4),
  client_id String CODEC(ZSTD(1)),
  -- Devices of the events before that one, which an identify may have bound: the first with its tmpId, then others.
  device UInt64 CODEC(LZ4),
  tmp_id String CODEC(ZSTD(1)),
  later_devices Array(UInt64) CODEC(LZ4),
  ids Array(String) CODEC(LZ4),
  value Nullable(Decimal(18, 2)) CODEC(ZSTD(1)),
  labels Map(LowCardinality(String), String) CODEC(LZ4),
  device_type LowCardinality(String),
  os LowCardinality(String)
) engine = ReplacingMergeTree(version, gone)
order by (company, time, purchase)
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

-- Label keys that the events and the purchases of a company have.
create table if not exists label_keys (
  company LowCardinality(String),
  source LowCardinality(String),
  key String
) engine = ReplacingMergeTree
order by (company, source, key)
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

-- The 128-bit hash of (datasource, eventId) of each stored event, to know it again within 7 days of its reception.
-- Sorted by the first half, uncompressed: a small batch finds its keys by the index, a large one reads all of them.
-- The loader drops partitions by the reception times that it has reached, not by the clock: events may have waited
-- in the log for longer than 7 days.
create table if not exists event_keys (
  key UInt64 CODEC(NONE),
  rest UInt64 CODEC(NONE),
  seq UInt64 CODEC(T64),
  received DateTime64(3, 'UTC') CODEC(T64)
) engine = MergeTree
partition by toMonday(received)
order by key
settings index_granularity = 1024, min_compress_block_size = 8192, max_compress_block_size = 8192,
  fsync_after_insert = 1, fsync_part_directory = 1;

-- Of the batch that is being loaded; the loader makes the tables that hold its rows (event-columns.ts). Keys that were
-- met before, sequence numbers of duplicates, and where the events of its orders lie.
create table if not exists staging_known (
  key UInt64,
  rest UInt64,
  seq UInt64,
  received DateTime64(3, 'UTC')
) engine = Memory;

create table if not exists staging_skipped (seq UInt64) engine = Memory;

create table if not exists staging_places (company LowCardinality(String), time DateTime64(3, 'UTC')) engine = Memory;
