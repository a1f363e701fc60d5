-- What an event tells of experiments, as numbers (event-columns.ts). Empty in nearly all rows, and in all that were stored
-- before: no experiment had started then.

alter table events
  add column if not exists exposures Array(UInt64) after country;

alter table purchases
  add column if not exists exposures Array(UInt64) after country;
