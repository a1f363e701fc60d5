import { type Static, Type } from 'typebox'
import { bodyOf, count, flag, id, like, listOf, longText, named, nameText, object, times } from './formats.ts'

/** A team; in other bodies a team is a resource group. */
export const Team = named('Team', {
  id: id('Identifier of the team: one of `resourceGroupIds` elsewhere'),
  companyId: id('Company of the team'),
  name: like('Marketing'),
  description: Type.String(),
  isDefault: flag('Takes the users who are put into no other team: the company’s `defaultTeamId`'),
  reachesAncestors: flag(
    'Members also use the resources of the teams above, up to but without the first that has this set too',
  ),
  provisioned: flag('Whether the identity provider manages this team'),
  parentIds: listOf(Type.String(), 'Teams right above it'),
  childIds: listOf(Type.String(), 'Teams right below it'),
  memberCount: count('Members of the team itself'),
  totalMemberCount: count('Members of the team and of all teams below it, each counted once'),
  ...times,
})
export type Team = Static<typeof Team>

const name = nameText('Name of the team, unique in the company whatever its case', 100, {
  examples: ['Marketing'],
})
const parentIds = Type.Array(id('A team of the company'), {
  maxItems: 50,
  uniqueItems: true,
  description: 'Teams right above it: the whole list. A team cannot stand below itself',
})
const userIds = (description: string) =>
  Type.Array(id('A user of the company'), { maxItems: 1_000, uniqueItems: true, description })

const settings = {
  description: Type.Optional(longText('What the team is for')),
  reachesAncestors: Type.Optional(Team.properties.reachesAncestors),
  parentIds: Type.Optional(parentIds),
}

const creation = { name, ...settings, memberIds: Type.Optional(userIds('The first members')) }

export const TeamCreation = bodyOf('TeamCreation', Team, creation)
export type TeamCreation = Static<typeof TeamCreation>

const update = {
  name: Type.Optional(name),
  ...settings,
  members: Type.Optional(
    object(
      {
        add: Type.Optional(userIds('Members to add; users who are members already stay')),
        remove: Type.Optional(userIds('Members to remove; each must be in another team')),
      },
      'Changes of the members; no user may be in both lists',
    ),
  ),
}

/** Partial: a field that is absent stays as it is. */
export const TeamUpdate = bodyOf('TeamUpdate', Team, update)
export type TeamUpdate = Static<typeof TeamUpdate>
