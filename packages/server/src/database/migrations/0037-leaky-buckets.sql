-- Failed sign-ins and bounded requests are counted in one table of leaky buckets. What is counted (an account from
-- an address, an account, a mail to an address) is part of the hashed key: what people type into the field for the
-- user name, sometimes a password, is not kept.

drop table request_budgets;
drop table login_failures;

create table leaky_buckets (
  key bytea primary key check (length(key) = 32),
  -- When the bucket is empty again; whatever is counted moves it by the time that it takes to drain.
  drained_at timestamptz not null,
  filled_at timestamptz not null
);

create index leaky_buckets_drained on leaky_buckets (drained_at);
