-- What identity providers send about people beyond what accounts have, and people who get another address.

-- Attributes of a user (RFC 7643 4.1 and 4.3) as they were sent, to be given back. In a table of their own: rows of
-- people are rewritten with every role and every sign-in.
create table if not exists scim_user_attributes (
  user_id text primary key references users on delete cascade,
  attributes jsonb not null check (jsonb_typeof(attributes) = 'object')
);

-- An address in another domain can take away the way in of the last administrator.
drop trigger if exists users_keep_administrator on users;
create constraint trigger users_keep_administrator
  after update of status, role_id, service_account, email or delete on users
  deferrable initially deferred
  for each row when (old.status = 'active')
  execute function keep_administrator();
