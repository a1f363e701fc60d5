-- Purchases as statistics show them: the events of one order are merged when they are loaded, so that a query reads
-- the rows of its range and nothing else.

-- The order of an event: those of one company with one transId are one; without it an event is its own.
alter table purchases add column if not exists purchase UInt128 default reinterpretAsUInt128(if(trans_id = '',
  sipHash128('event', toString(datasource), event_uuid, event_text),
  sipHash128('order', toString(company), trans_id))) CODEC(NONE);

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

-- Those of the orders of one batch.
create table if not exists staging_places (company LowCardinality(String), time DateTime64(3, 'UTC')) engine = Memory;

-- One row for each order at the time of its earliest event; read it with FINAL. `version` is the number of events
-- that were merged, so that the row that knows most of them is the one that counts, however often and in whichever
-- order they are loaded. When an earlier event moves an order, a row that is `gone` takes its former place.
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

insert into order_events (key, company, time)
-- repeatable: a place that is stored twice is one
select distinct toUInt64(purchase), company, time from purchases
settings optimize_on_insert = 0, max_insert_threads = 1;

-- What `purchases` holds already, an eighth of the orders at a time.
create view if not exists merged_purchases as
select company, first_time, purchase, version, datasource, trans_id, client, client_id, devices[1] as device,
  before[1].3 as tmp_id, arraySlice(devices, 2) as later_devices, ids, value, labels, device_type, os
from (
  select piece.company as company, piece.purchase as purchase, min(piece.time) as first_time, count() as version,
    argMin(piece.datasource, piece.rank) as datasource, any(piece.trans_id) as trans_id,
    argMinIf(piece.client, piece.rank, piece.client != 0) as client,
    argMinIf(piece.client_id, piece.rank, piece.client != 0) as client_id,
    countIf(piece.client != 0) as known, minIf(piece.rank, piece.client != 0) as known_rank,
    arrayFilter(each -> known = 0 or each.1 < known_rank,
      groupArraySortedIf(100)((piece.rank, piece.device, piece.tmp_id), piece.client = 0)) as before,
    arrayDistinct(arrayMap(each -> each.2, before)) as devices,
    argMin(piece.ids, bitOr(
      bitShiftLeft(toUInt128(2 * empty(piece.ids) + (piece.name = 'purchase')), 120), piece.rank)) as ids,
    argMinIf(piece.value, piece.rank, piece.name = 'purchase' and piece.value is not null) as value,
    arrayFold((all, each) -> mapUpdate(all, each.2),
      arrayReverse(groupArraySortedIf(16)((piece.rank, piece.labels), notEmpty(piece.labels))),
      CAST(map(), 'Map(String, String)')) as labels,
    argMin(piece.device_type, piece.rank) as device_type, argMin(piece.os, piece.rank) as os
  from (
    select *, bitOr(bitShiftLeft(toUInt128(toUnixTimestamp64Milli(time)), 64),
        sipHash64(datasource, event_uuid, event_text)) as rank
    from purchases
  ) as piece
  group by piece.company, piece.purchase
);

insert into orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os)
-- repeatable: the same events give the same row of the same version
select company, first_time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os
from merged_purchases where purchase % 8 = 0
settings optimize_on_insert = 0, max_insert_threads = 1, max_bytes_before_external_group_by = 268435456;

insert into orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os)
-- repeatable: the same events give the same row of the same version
select company, first_time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os
from merged_purchases where purchase % 8 = 1
settings optimize_on_insert = 0, max_insert_threads = 1, max_bytes_before_external_group_by = 268435456;

insert into orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os)
-- repeatable: the same events give the same row of the same version
select company, first_time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os
from merged_purchases where purchase % 8 = 2
settings optimize_on_insert = 0, max_insert_threads = 1, max_bytes_before_external_group_by = 268435456;

insert into orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os)
-- repeatable: the same events give the same row of the same version
select company, first_time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os
from merged_purchases where purchase % 8 = 3
settings optimize_on_insert = 0, max_insert_threads = 1, max_bytes_before_external_group_by = 268435456;

insert into orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os)
-- repeatable: the same events give the same row of the same version
select company, first_time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os
from merged_purchases where purchase % 8 = 4
settings optimize_on_insert = 0, max_insert_threads = 1, max_bytes_before_external_group_by = 268435456;

insert into orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os)
-- repeatable: the same events give the same row of the same version
select company, first_time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os
from merged_purchases where purchase % 8 = 5
settings optimize_on_insert = 0, max_insert_threads = 1, max_bytes_before_external_group_by = 268435456;

insert into orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os)
-- repeatable: the same events give the same row of the same version
select company, first_time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os
from merged_purchases where purchase % 8 = 6
settings optimize_on_insert = 0, max_insert_threads = 1, max_bytes_before_external_group_by = 268435456;

insert into orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os)
-- repeatable: the same events give the same row of the same version
select company, first_time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
  later_devices, ids, value, labels, device_type, os
from merged_purchases where purchase % 8 = 7
settings optimize_on_insert = 0, max_insert_threads = 1, max_bytes_before_external_group_by = 268435456;

drop view if exists merged_purchases;
