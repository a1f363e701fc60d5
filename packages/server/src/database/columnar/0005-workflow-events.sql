-- Displays and clicks of workflows as numbers and columns (workflow-columns.ts), so that statistics of them read no other
-- events and no maps of labels. The rows of one device lie together, as those of `events` do. One row for each of these
-- events, under its sequence number; they stand in `events` too.

create table if not exists workflow_events (
  company LowCardinality(String),
  datasource LowCardinality(String),
  time DateTime64(3, 'UTC') CODEC(T64, LZ4),
  seq UInt64 CODEC(T64, ZSTD(1)),
  -- Hash of datasource and eventId.
  identity UInt64 CODEC(NONE),
  tmp_id String CODEC(ZSTD(1)),
  client_id String CODEC(ZSTD(1)),
  device UInt64 CODEC(LZ4),
  client UInt64 CODEC(LZ4),
  device_type LowCardinality(String),
  os LowCardinality(String),
  -- 1 for a click, 0 for a display.
  click UInt8 CODEC(ZSTD(1)),
  workflow_id LowCardinality(String),
  version_id LowCardinality(String),
  branch_id LowCardinality(String),
  entrypoint_id LowCardinality(String),
  integration_id LowCardinality(String),
  zone LowCardinality(String),
  zone_type LowCardinality(String),
  format LowCardinality(String),
  output_type LowCardinality(String),
  message String CODEC(ZSTD(1)),
  language LowCardinality(String),
  individualized UInt8 CODEC(ZSTD(1)),
  generation_us Nullable(UInt64) CODEC(T64, LZ4),
  return_code LowCardinality(String),
  category_id LowCardinality(String),
  tag_value_ids Array(LowCardinality(String)) CODEC(LZ4),
  mail_client LowCardinality(String),
  parameters Map(LowCardinality(String), String) CODEC(LZ4),
  -- Hash of the message, else the page, else the entrypoint: where displays close together are one opening.
  place UInt64 CODEC(LZ4),
  INDEX by_seq seq TYPE minmax GRANULARITY 1,
  INDEX by_client client TYPE bloom_filter(0.01) GRANULARITY 1
) engine = MergeTree
order by (company, toDate(time), device, time)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- repeatable: rows that are there already are left out by their sequence numbers.
insert into workflow_events (
  company, datasource, time, seq, tmp_id, client_id, device, client, device_type, os, identity, click, workflow_id,
  version_id, branch_id, entrypoint_id, integration_id, zone, zone_type, format, output_type, message, language,
  individualized, generation_us, return_code, category_id, tag_value_ids, mail_client, parameters, place
)
select
  company,
  datasource,
  time,
  seq,
  tmp_id,
  client_id,
  device,
  client,
  device_type,
  os,
  cityHash64(datasource, event_uuid, event_text) as identity,
  toUInt8(name = 'workflow_click') as click,
  leftUTF8(labels['workflowId'], 100) as workflow_id,
  leftUTF8(labels['versionId'], 100) as version_id,
  leftUTF8(labels['branchId'], 100) as branch_id,
  leftUTF8(labels['entrypointId'], 100) as entrypoint_id,
  leftUTF8(labels['integrationId'], 100) as integration_id,
  leftUTF8(labels['zone'], 100) as zone,
  leftUTF8(labels['zoneType'], 100) as zone_type,
  leftUTF8(labels['format'], 100) as format,
  leftUTF8(labels['outputType'], 100) as output_type,
  leftUTF8(labels['message'], 500) as message,
  leftUTF8(labels['language'], 100) as language,
  toUInt8(labels['individualized'] = 'true') as individualized,
  if(ifNull(toFloat64OrNull(labels['generationMs']) >= 0 AND toFloat64OrNull(labels['generationMs']) <= 86400000, 0),
      toUInt64(round(toFloat64OrNull(labels['generationMs']) * 1000)), NULL) as generation_us,
  leftUTF8(labels['returnCode'], 100) as return_code,
  leftUTF8(labels['categoryId'], 100) as category_id,
  arrayReverse(arraySlice(arrayDistinct(arrayReverse(
      extractAll(labels['tagValueIds'], '[0-9a-f]{24}'))), 1, 100)) as tag_value_ids,
  leftUTF8(labels['mailClient'], 100) as mail_client,
  CAST(arrayMap(key -> (substring(key, 11), leftUTF8(labels[key], 500)),
      arraySlice(arraySort(arrayFilter(key -> startsWith(key, 'parameter.')
    AND length(key) > 10 AND length(key) <= 110, mapKeys(labels))), 1, 50)), 'Map(String, String)') as parameters,
  multiIf(leftUTF8(labels['message'], 500) != '', sipHash64('message', leftUTF8(labels['message'], 500)), url != '', sipHash64('page', url),
      sipHash64('entrypoint', leftUTF8(labels['workflowId'], 100), leftUTF8(labels['entrypointId'], 100))) as place
from events
where name in ('workflow_click', 'workflow_display') and labels['workflowId'] != '' and labels['preview'] != 'true'
  and seq not in (select seq from workflow_events)
settings max_threads = 2;
