import { type Static, Type } from 'typebox'
import { dateTime, id, nameText, oneOf, responseOnly, strict } from './formats.ts'

const roleSource = oneOf(['groups'], { description: 'Where the role of a user comes from' })
const deprovisionMode = oneOf(['soft'], {
  description: '`soft`: a removed user is deactivated and can come back',
})

/** docs/interface.md, Provisioning (SCIM) configuration; fields that were never set are absent. */
export const ScimConfig = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Whether the identity provider is answered' }),
    groupSync: Type.Boolean({ description: 'Whether groups become teams' }),
    roleSource: Type.Optional(roleSource),
    roleMapping: Type.Array(Type.Object({ group: Type.String(), roleId: Type.String() }, strict), {
      description: 'The first group that a user is in gives the role',
    }),
    defaultRoleId: Type.Optional(id('Role where no group gives one')),
    deprovisionMode,
    baseUrl: Type.String({ description: 'Address for the identity provider' }),
    lastSyncAt: Type.Optional(dateTime('When the identity provider called with success last')),
  },
  { ...strict, title: 'ScimConfig' },
)
export type ScimConfig = Static<typeof ScimConfig>

const update = {
  enabled: Type.Optional(ScimConfig.properties.enabled),
  groupSync: Type.Optional(ScimConfig.properties.groupSync),
  roleSource: Type.Optional(roleSource),
  roleMapping: Type.Optional(
    Type.Array(
      Type.Object(
        { group: nameText('Name of a group, whatever its case', 256), roleId: id('Role that it gives') },
        strict,
      ),
      { maxItems: 1_000, description: 'The first group that a user is in gives the role' },
    ),
  ),
  defaultRoleId: Type.Optional(id('Role where no group gives one')),
  deprovisionMode: Type.Optional(deprovisionMode),
}

/** Partial: a field that is absent stays as it is. */
export const ScimConfigUpdate = Type.Object(
  { ...update, ...responseOnly(ScimConfig, update) },
  { ...strict, title: 'ScimConfigUpdate' },
)
export type ScimConfigUpdate = Static<typeof ScimConfigUpdate>
