-- Mails that a user waits for (password resets, invitations) are sent beside the others, which may be many and large.

alter table outgoing_mails add column is_awaited boolean not null default false;

drop index outgoing_mails_due;
create index outgoing_mails_due on outgoing_mails (is_awaited, due_at) where sent_at is null and failed_at is null;
