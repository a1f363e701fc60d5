import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { idParams, lineText, pagination, strict } from '../resources/formats.ts'
import { Team, TeamCreation, TeamUpdate } from '../resources/team.ts'

const url = '/v2/entities/teams'
const teamId = idParams('Identifier of the team')

export const listTeams = {
  id: 'listTeams',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: { resource: 'team', action: 'read' },
  tag: 'Accounts',
  summary: 'List teams',
  description: 'The teams of your company by name, page by page. Their relations are lists of identifiers.',
  errors: [],
  replies: { 200: { description: 'One page of teams' } },
  schema: {
    querystring: Type.Object(
      { ...pagination, search: Type.Optional(lineText('Only teams with this text in their name')) },
      strict,
    ),
    response: { 200: paginatedEnvelope(Team) },
  },
} as const satisfies Operation

export const readTeam = {
  id: 'readTeam',
  extension: true,
  method: 'GET',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: { resource: 'team', action: 'read' },
  tag: 'Accounts',
  summary: 'Read a team',
  errors: ['teamNotFound'],
  replies: { 200: { description: 'The team' } },
  schema: { params: teamId, response: { 200: successEnvelope(Team) } },
} as const satisfies Operation

export const createTeam = {
  id: 'createTeam',
  extension: true,
  method: 'POST',
  url,
  scope: 'authenticated',
  permission: { resource: 'team', action: 'create' },
  access: 'Team: create; for `parentIds` and `memberIds` Team: update too',
  tag: 'Accounts',
  summary: 'Create a team',
  audit: { action: 'team-create', target: 'team', named: 'name' },
  errors: ['unknownTeam', 'unknownUser', 'teamNameTaken'],
  examples: {
    flat: { summary: 'On its own', value: { name: 'Marketing' } },
    below: {
      summary: 'Below another',
      value: { name: 'Marketing France', parentIds: ['65f0c0ffee5ca1ab1e0ddba1'] },
    },
  },
  replies: { 200: { description: 'The team' } },
  schema: { body: TeamCreation, response: { 200: successEnvelope(Team) } },
} as const satisfies Operation

export const updateTeam = {
  id: 'updateTeam',
  extension: true,
  method: 'PATCH',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: { resource: 'team', action: 'update' },
  tag: 'Accounts',
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
    parents: { summary: 'Detach it', value: { parentIds: [] } },
    members: {
      summary: 'Add one member, remove another',
      value: {
        members: { add: ['65f0c0ffee5ca1ab1e0ddba1'], remove: ['65f0c0ffee5ca1ab1e0ddba2'] },
      },
    },
  },
  replies: { 200: { description: 'The team as it is now' } },
  schema: { params: teamId, body: TeamUpdate, response: { 200: successEnvelope(Team) } },
} as const satisfies Operation

export const deleteTeam = {
  id: 'deleteTeam',
  extension: true,
  method: 'DELETE',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: { resource: 'team', action: 'delete' },
  tag: 'Accounts',
  summary: 'Delete a team',
  description:
    'Only a team without teams below it and without resources, whose members are all in another team too, and not the default team of the company.',
  audit: { action: 'team-delete', target: 'team' },
  errors: ['provisionedTeam', 'teamNotFound', 'defaultTeam', 'teamInUse', 'memberWithoutTeam'],
  replies: { 200: { description: 'The team is deleted' } },
  schema: { params: teamId, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation
