-- Null is not said: what amounts of before are in, nobody has told.
alter table companies add column currency text check (currency ~ '^[A-Z]{3}$');

-- Null follows the company.
alter table users add column timezone text check (length(timezone) between 1 and 64);
-- Addresses of places of the web application, in their order.
alter table users add column favourites text[] not null default '{}' check (cardinality(favourites) <= 50);
