import { type Static, Type } from 'typebox'
import { bodyOf, dateTime, flag, id, listOf, named, nameText, object, oneOf, text } from './formats.ts'

const roleSource = oneOf(['groups'], 'Where the role of a user comes from')
const deprovisionMode = oneOf(['soft'], '`soft`: a removed user is deactivated and can come back')

/** docs/interface.md, Provisioning (SCIM) configuration; fields that were never set are absent. */
export const ScimConfig = named('ScimConfig', {
  enabled: flag('Whether the identity provider is answered'),
  groupSync: flag('Whether groups become teams'),
  roleSource: Type.Optional(roleSource),
  roleMapping: listOf(
    object({ group: Type.String(), roleId: Type.String() }),
    'The first group that a user is in gives the role',
  ),
  defaultRoleId: Type.Optional(id('Role where no group gives one')),
  deprovisionMode,
  baseUrl: text('Address for the identity provider'),
  lastSyncAt: Type.Optional(dateTime('When the identity provider called with success last')),
})
export type ScimConfig = Static<typeof ScimConfig>

const update = {
  enabled: Type.Optional(ScimConfig.properties.enabled),
  groupSync: Type.Optional(ScimConfig.properties.groupSync),
  roleSource: Type.Optional(roleSource),
  roleMapping: Type.Optional(
    Type.Array(
      object({
        group: nameText('Name of a group, whatever its case', 256),
        roleId: id('Role that it gives'),
      }),
      { maxItems: 1_000, description: 'The first group that a user is in gives the role' },
    ),
  ),
  defaultRoleId: Type.Optional(id('Role where no group gives one')),
  deprovisionMode: Type.Optional(deprovisionMode),
}

/** Partial: a field that is absent stays as it is. */
export const ScimConfigUpdate = bodyOf('ScimConfigUpdate', ScimConfig, update)
export type ScimConfigUpdate = Static<typeof ScimConfigUpdate>
