-- Where an event comes from: the host of its referrer, and the country of the sender's address; empty when absent, as
-- in all rows that were stored before. Both are of event-columns.ts.

alter table events
  add column if not exists referrer_host LowCardinality(String) after browser,
  add column if not exists country LowCardinality(String) after referrer_host;

alter table purchases
  add column if not exists referrer_host LowCardinality(String) after browser,
  add column if not exists country LowCardinality(String) after referrer_host;
