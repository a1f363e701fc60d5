-- What the identity provider itself has stated, apart from what people have done: only that gives a role, and only
-- under the same identifier does a user whom it deleted come back.

-- Whether the identity provider put the person into the team.
alter table team_members add column if not exists provisioned boolean not null default false;

-- Up to now nothing told them apart, and people could not change these teams while they were synchronised.
update team_members as member set provisioned = true
  from teams as team, users as person
  where team.id = member.team_id and team.provisioned
    and person.id = member.user_id and not person.service_account;

-- Under which identifier the identity provider knew a user whom it deleted. Null is none. Of users deleted before this
-- column none is known: one who comes with an identifier is a new user.
alter table users add column if not exists former_external_id text;
