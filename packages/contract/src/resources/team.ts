import { type Static, Type } from 'typebox'
import { dateTime, id, longText, nameText, responseOnly, strict } from './formats.ts'

/** A team; in other bodies a team is a resource group. */
export const Team = Type.Object(
  {
    id: id('Identifier of the team: one of `resourceGroupIds` elsewhere'),
    companyId: id('Company of the team'),
    name: Type.String({ examples: ['Marketing'] }),
    description: Type.String(),
    isDefault: Type.Boolean({
      description: 'Takes the users who are put into no other team: the company’s `defaultTeamId`',
    }),
    reachesAncestors: Type.Boolean({
      description:
        'Members also use the resources of the teams above, up to but without the first that has this set too',
    }),
    provisioned: Type.Boolean({ description: 'Whether the identity provider manages this team' }),
    parentIds: Type.Array(Type.String(), { description: 'Teams right above it' }),
    childIds: Type.Array(Type.String(), { description: 'Teams right below it' }),
    memberCount: Type.Integer({ minimum: 0, description: 'Members of the team itself' }),
    totalMemberCount: Type.Integer({
      minimum: 0,
      description: 'Members of the team and of all teams below it, each counted once',
    }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
  },
  { ...strict, title: 'Team' },
)
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

export const TeamCreation = Type.Object(
  { ...creation, ...responseOnly(Team, creation) },
  { ...strict, title: 'TeamCreation' },
)
export type TeamCreation = Static<typeof TeamCreation>

const update = {
  name: Type.Optional(name),
  ...settings,
  members: Type.Optional(
    Type.Object(
      {
        add: Type.Optional(userIds('Members to add; users who are members already stay')),
        remove: Type.Optional(userIds('Members to remove; each must be in another team')),
      },
      { ...strict, description: 'Changes of the members; no user may be in both lists' },
    ),
  ),
}

/** Partial: a field that is absent stays as it is. */
export const TeamUpdate = Type.Object(
  { ...update, ...responseOnly(Team, update) },
  { ...strict, title: 'TeamUpdate' },
)
export type TeamUpdate = Static<typeof TeamUpdate>
