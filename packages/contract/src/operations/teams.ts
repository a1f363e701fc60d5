import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { idParams, lineText } from '../resources/formats.ts'
import { Team, TeamCreation, TeamUpdate } from '../resources/team.ts'

const operation = operationsOf('Accounts')

const url = '/v2/entities/teams'
const teamId = idParams('Identifier of the team')

export const listTeams = {
  ...operation('listTeams', 'GET', url, 'team:read'),
  summary: 'List teams',
  description: 'The teams of your company by name, page by page. Their relations are lists of identifiers.',
  ...lists('One page of teams', Team, {
    search: Type.Optional(lineText('Only teams with this text in their name')),
  }),
} as const satisfies Operation

export const readTeam = {
  ...operation('readTeam', 'GET', `${url}/:id`, 'team:read'),
  summary: 'Read a team',
  errors: ['teamNotFound'],
  ...answers('The team', Team, { params: teamId }),
} as const satisfies Operation

export const createTeam = {
  ...operation('createTeam', 'POST', url, 'team:create'),
  access: 'Team: create; for `parentIds` and `memberIds` Team: update too',
  summary: 'Create a team',
  audit: { action: 'team-create', target: 'team', named: 'name' },
  errors: ['unknownTeam', 'unknownUser', 'teamNameTaken'],
  examples: {
    flat: example('On its own', { name: 'Marketing' }),
    below: example('Below another', { name: 'Marketing France', parentIds: ['65f0c0ffee5ca1ab1e0ddba1'] }),
  },
  ...answers('The team', Team, { body: TeamCreation }),
} as const satisfies Operation

export const updateTeam = {
  ...operation('updateTeam', 'PATCH', `${url}/:id`, 'team:update'),
  summary: 'Change a team',
  description:
    'A partial update. `parentIds` is the whole list of the teams right above; `members` lists the users to add and to remove.',
  audit: { action: 'team-update', target: 'team' },
  errors: [
    'provisionedTeam',
    'teamNotFound',
    'unknownTeam',
    'unknownUser',
    'teamNameTaken',
    'teamCycle',
    'memberWithoutTeam',
  ],
  examples: {
    parents: example('Detach it', { parentIds: [] }),
    members: example('Add one member, remove another', {
      members: { add: ['65f0c0ffee5ca1ab1e0ddba1'], remove: ['65f0c0ffee5ca1ab1e0ddba2'] },
    }),
  },
  ...answers('The team as it is now', Team, { params: teamId, body: TeamUpdate }),
} as const satisfies Operation

export const deleteTeam = {
  ...operation('deleteTeam', 'DELETE', `${url}/:id`, 'team:delete'),
  summary: 'Delete a team',
  description:
    'Only a team without teams below it and without resources, whose members are all in another team too, and not the default team of the company.',
  audit: { action: 'team-delete', target: 'team' },
  errors: ['provisionedTeam', 'teamNotFound', 'defaultTeam', 'teamInUse', 'memberWithoutTeam'],
  ...succeeds('The team is deleted', { params: teamId }),
} as const satisfies Operation
