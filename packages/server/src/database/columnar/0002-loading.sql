-- What loading needs besides the events.

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

-- One batch at a time, as the log has it. Columns of one or two letters are the keys of a row of the log, those that
-- are not stored (EPHEMERAL) are read through the columns computed from them.
create table if not exists staging (
  q UInt64,
  z String,
  k String,
  d String,
  t Int64 EPHEMERAL,
  r Int64 EPHEMERAL,
  e String EPHEMERAL,
  n String,
  u String,
  p String,
  c String,
  i Array(String),
  v String EPHEMERAL,
  x String,
  l Map(String, String),
  dt String,
  os String,
  br String,
  g UInt8,
  m UInt64,
  rule String,
  path String,
  sample String,
  time DateTime64(3, 'UTC') default fromUnixTimestamp64Milli(t, 'UTC'),
  received DateTime64(3, 'UTC') default fromUnixTimestamp64Milli(r, 'UTC'),
  event_uuid UUID default toUUIDOrZero(e),
  event_text String default if(toString(event_uuid) = e, '', e),
  device UInt64 default sipHash64(p),
  client UInt64 default if(c = '', 0, sipHash64(c)),
  value Nullable(Decimal(18, 2)) default toDecimal64OrNull(v, 2),
  hash UInt128 default reinterpretAsUInt128(sipHash128(d, e)),
  -- What the engine would wrap, clamp or drop without a word; empty for a sound row.
  fault String default multiIf(
    q = 0, 'no sequence number',
    length(k) != 24 or length(d) != 24, 'no company or datasource',
    r < 0 or r >= 4102444800000, 'reception time out of range',
    z != 'e', '',
    t < 0 or t >= 4102444800000, 'time out of range',
    e = '', 'no eventId',
    v != '' and isNull(value), 'value out of range',
    '')
) engine = Memory;

-- Keys of the batch that were met before, and sequence numbers of its duplicates.
create table if not exists staging_known (
  key UInt64,
  rest UInt64,
  seq UInt64,
  received DateTime64(3, 'UTC')
) engine = Memory;

create table if not exists staging_skipped (seq UInt64) engine = Memory;
