-- Failed sign-ins, as buckets that each failure fills and time drains. What is counted (an account from an
-- address, an account, an address, the whole service) is part of the hashed key: what people type into the
-- field for the user name, sometimes a password, is not kept.

create table if not exists login_failures (
  key bytea primary key check (length(key) = 32),
  -- When the bucket is empty again; every failure moves it by the time that one failure takes to drain.
  drained_at timestamptz not null,
  failed_at timestamptz not null
);

create index if not exists login_failures_drained on login_failures (drained_at);
