-- Whether events of a datasource must say that the person has consented.
alter table datasources add column consent text not null default 'ignore' check (consent in ('ignore', 'require'));
