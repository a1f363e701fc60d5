-- Whether statistics name the workflows of teams that a user is not in (docs/statistics.md, Workflows of other teams).
alter table companies add column shows_other_teams boolean not null default false;
