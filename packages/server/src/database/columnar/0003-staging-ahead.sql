-- Whether a row is an event that can be stored, told once for all the statements that ask.
alter table staging add column if not exists sound Bool default z = 'e' and fault = '';

-- A second staging: while one batch is stored from the first, the next one is staged here.
create table if not exists staging_ahead as staging;
