import { type Static, Type } from 'typebox'
import { permissionNames } from '../permissions.ts'
import { dateTime, id, nameText, oneOf, responseOnly, strict } from './formats.ts'

/** What users may do; each has exactly one role. */
export const Role = Type.Object(
  {
    id: id('Identifier of the role'),
    companyId: id('Company of the role'),
    name: Type.String({ examples: ['editor'] }),
    builtIn: Type.Boolean({ description: 'Made with the company; it cannot be changed' }),
    permissions: Type.Array(oneOf(permissionNames), { description: 'What the role allows' }),
    userCount: Type.Integer({ minimum: 0, description: 'How many users have it' }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
  },
  { ...strict, title: 'Role' },
)
export type Role = Static<typeof Role>

const name = nameText('Name of the role, unique in the company whatever its case', 100, {
  examples: ['Campaign manager'],
})
const permissions = Type.Array(oneOf(permissionNames), {
  maxItems: permissionNames.length,
  uniqueItems: true,
  description: 'What the role allows: the whole list. You can give and take only what you may do yourself',
})

const creation = { name, permissions }

export const RoleCreation = Type.Object(
  { ...creation, ...responseOnly(Role, creation) },
  { ...strict, title: 'RoleCreation' },
)
export type RoleCreation = Static<typeof RoleCreation>

const update = { name: Type.Optional(name), permissions: Type.Optional(permissions) }

/** Partial: a field that is absent stays as it is. */
export const RoleUpdate = Type.Object(
  { ...update, ...responseOnly(Role, update) },
  { ...strict, title: 'RoleUpdate' },
)
export type RoleUpdate = Static<typeof RoleUpdate>
