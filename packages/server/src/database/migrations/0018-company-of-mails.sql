-- Mails that wait for a user who is deleted are not sent: those of that company alone, since an address can be that of
-- users of several companies. Null for mails to nobody's user, and for those that were queued before.
alter table outgoing_mails add column company_id text;

create index outgoing_mails_recipient on outgoing_mails (recipient);
