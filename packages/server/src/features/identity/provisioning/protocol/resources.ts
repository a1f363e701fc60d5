import type { Parts } from './schema/attribute-values.ts'
import { enterpriseSchema, groupSchema, userSchema } from './schema/schemas.ts'
import type { UserDocument } from './users/user-document.ts'
import { documentOf, type UserFields } from './users/user-fields.ts'

interface Times {
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A user as the identity provider sees one. */
export interface ScimUser extends UserFields, Times {
  readonly id: string
  readonly email: string
  readonly active: boolean
  /** What was sent about the user. */
  readonly sent: UserDocument
  readonly groups: readonly { readonly id: string; readonly name: string }[]
}

/** A team as the identity provider sees one. */
export interface ScimTeam extends Times {
  readonly id: string
  readonly name: string
  readonly externalId: string | null
  /** Undefined where they were not asked for. */
  readonly members: readonly { readonly id: string; readonly email: string }[] | undefined
}

export type ScimResource = Record<string, unknown>

function meta(resourceType: 'User' | 'Group', location: string, { createdAt, updatedAt }: Times) {
  return {
    resourceType,
    created: createdAt.toISOString(),
    lastModified: updatedAt.toISOString(),
    location,
  }
}

/** Values shown for a user for whom none were sent. */
export function impliedOf({ email }: Pick<ScimUser, 'email'>): UserDocument {
  return { emails: [{ value: email, type: 'work', primary: true }] }
}

/** RFC 7643 4.1 and 4.3: what was sent, with what accounts have. `baseUrl` is the address of the SCIM service. */
export function toUserResource(user: ScimUser, baseUrl: string): ScimResource {
  const { id, email, firstName, lastName, active } = user
  const document = { ...impliedOf(user), ...documentOf(user.sent, user) }
  const { externalId, name, displayName, [enterpriseSchema]: extension, ...rest } = document
  const fullName = [firstName, lastName].filter(Boolean).join(' ')
  const { formatted = fullName, ...parts } = (name ?? {}) as Parts
  return {
    schemas: [userSchema, ...(extension ? [enterpriseSchema] : [])],
    id,
    ...(externalId !== undefined && { externalId }),
    userName: email,
    name: { ...parts, givenName: firstName, familyName: lastName, formatted },
    displayName: displayName ?? (fullName || email),
    ...rest,
    active,
    groups: user.groups.map((group) => ({
      value: group.id,
      display: group.name,
      $ref: `${baseUrl}/Groups/${group.id}`,
      type: 'direct',
    })),
    ...(extension !== undefined && { [enterpriseSchema]: extension }),
    meta: meta('User', `${baseUrl}/Users/${id}`, user),
  }
}

/** RFC 7643 4.2. */
export function toGroupResource(team: ScimTeam, baseUrl: string): ScimResource {
  const { id, name, externalId, members } = team
  return {
    schemas: [groupSchema],
    id,
    ...(externalId !== null && { externalId }),
    displayName: name,
    ...(members && {
      members: members.map((member) => ({
        value: member.id,
        display: member.email,
        $ref: `${baseUrl}/Users/${member.id}`,
        type: 'User',
      })),
    }),
    meta: meta('Group', `${baseUrl}/Groups/${id}`, team),
  }
}
