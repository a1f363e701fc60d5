-- Persons of lists that users gave. A list is never changed: another one replaces it, and which of them counts stands
-- with the cohort. `person` is the number of the text, as `device` and `client` of events are.
create table if not exists cohort_persons (
  company LowCardinality(String),
  cohort String,
  list String,
  person_id String CODEC(ZSTD(1)),
  person UInt64 DEFAULT sipHash64(person_id)
) engine = MergeTree
order by (company, cohort, list, person)
settings fsync_after_insert = 1, fsync_part_directory = 1;
