-- What each company's addresses of clicks are signed with (docs/workflows.md, Replies). It is re-encrypted and never
-- replaced, so that an address stays good when the encryption key is rotated.
create table click_keys (
  company_id text primary key references companies (id) on delete cascade,
  sealed_key bytea not null
);
