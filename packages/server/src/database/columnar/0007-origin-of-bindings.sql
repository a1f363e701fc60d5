-- Bindings and label keys by datasource too, so that what one datasource has told can be hidden and removed like its
-- events. A binding or key that several have told has a row of each.

alter table identities
  add column if not exists datasource LowCardinality(String),
  modify order by (company, device, client_id, datasource);

-- repeatable: the table keeps each binding of a datasource once.
insert into identities (company, datasource, device, tmp_id, time, client, client_id)
select company, datasource, device, any(tmp_id), max(events.time), any(client), client_id
from events
where name = 'identify' and client_id != ''
group by company, datasource, device, client_id
settings max_threads = 2;

alter table identities delete where datasource = '' settings mutations_sync = 1;

alter table label_keys
  add column if not exists datasource LowCardinality(String),
  modify order by (company, source, key, datasource);

-- repeatable: the table keeps each key of a datasource once.
insert into label_keys (company, source, key, datasource)
select distinct company, 'events', arrayJoin(mapKeys(labels)) as label, datasource
from events
where (company, 'events', label) in (select company, source, key from label_keys)
settings max_threads = 2;

-- repeatable: the table keeps each key of a datasource once.
insert into label_keys (company, source, key, datasource)
select distinct company, 'purchases', arrayJoin(mapKeys(labels)) as label, datasource
from purchases
where (company, 'purchases', label) in (select company, source, key from label_keys)
settings max_threads = 2;

-- repeatable: the table keeps each key of a datasource once.
insert into label_keys (company, source, key, datasource)
select distinct company, 'workflows', arrayJoin(mapKeys(parameters)) as parameter, datasource
from workflow_events
where (company, 'workflows', parameter) in (select company, source, key from label_keys)
settings max_threads = 2;

alter table label_keys delete where datasource = '' settings mutations_sync = 1;
