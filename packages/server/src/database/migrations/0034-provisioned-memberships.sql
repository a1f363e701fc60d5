-- What the identity provider itself has said, apart from what people have done: only that gives a role, and only
-- somebody whom it calls the same is the same person after it deleted one.

-- Whether the identity provider put the person into the team.
alter table team_members add column if not exists provisioned boolean not null default false;

-- Up to now nothing told them apart, and people could not change these teams while they were synchronised.
update team_members as member set provisioned = true
  from teams as team, users as person
  where team.id = member.team_id and team.provisioned
    and person.id = member.user_id and not person.service_account;

-- Under which identifier the identity provider knew somebody whom it deleted. Null is none; of those whom it deleted
-- before, none is known, so that whoever comes with one is somebody new.
alter table users add column if not exists former_external_id text;
