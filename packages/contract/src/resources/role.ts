import { type Static, Type } from 'typebox'
import { permissionNames } from '../permissions.ts'
import { bodyOf, count, flag, id, like, listOf, named, nameText, oneOf, times } from './formats.ts'

/** What users may do; each has exactly one role. */
export const Role = named('Role', {
  id: id('Identifier of the role'),
  companyId: id('Company of the role'),
  name: like('editor'),
  builtIn: flag('Made with the company; it cannot be changed'),
  permissions: listOf(oneOf(permissionNames), 'What the role allows'),
  userCount: count('How many users have it'),
  ...times,
})
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

export const RoleCreation = bodyOf('RoleCreation', Role, creation)
export type RoleCreation = Static<typeof RoleCreation>

const update = { name: Type.Optional(name), permissions: Type.Optional(permissions) }

/** Partial: a field that is absent stays as it is. */
export const RoleUpdate = bodyOf('RoleUpdate', Role, update)
export type RoleUpdate = Static<typeof RoleUpdate>
