-- What bounds requests that cost something or guess something: a password asked for a reset, a password changed.

-- A bucket that each request fills and time drains; what is counted is part of the hashed key.
create table if not exists request_budgets (
  key bytea primary key check (length(key) = 32),
  drained_at timestamptz not null
);

create index if not exists request_budgets_drained on request_budgets (drained_at);

-- How many links somebody has asked for lately.
create index if not exists user_links_creator on user_links (created_by, created_at) where created_by is not null;
