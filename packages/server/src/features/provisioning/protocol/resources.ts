import { groupSchema, userSchema } from './schemas.ts'
import type { UserFields } from './user-attributes.ts'

interface Times {
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A person as the identity provider sees one. */
export interface ScimPerson extends UserFields, Times {
  readonly id: string
  readonly email: string
  readonly active: boolean
  readonly groups: readonly { readonly id: string; readonly name: string }[]
}

/** A team as the identity provider sees one. */
export interface ScimTeam extends Times {
  readonly id: string
  readonly name: string
  readonly externalId: string | null
  /** Undefined where nobody asked for them. */
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

/** RFC 7643 4.1, of what accounts have. `baseUrl` is the address of the SCIM service. */
export function toUserResource(person: ScimPerson, baseUrl: string): ScimResource {
  const { id, externalId, email, firstName, lastName, jobTitle, phone, language, active } = person
  const formatted = [firstName, lastName].filter(Boolean).join(' ')
  return {
    schemas: [userSchema],
    id,
    ...(externalId !== null && { externalId }),
    userName: email,
    name: { givenName: firstName, familyName: lastName, formatted },
    displayName: formatted || email,
    ...(jobTitle && { title: jobTitle }),
    ...(language && { preferredLanguage: language }),
    active,
    emails: [{ value: email, type: 'work', primary: true }],
    ...(phone && { phoneNumbers: [{ value: phone, type: 'work', primary: true }] }),
    groups: person.groups.map((group) => ({
      value: group.id,
      display: group.name,
      $ref: `${baseUrl}/Groups/${group.id}`,
      type: 'direct',
    })),
    meta: meta('User', `${baseUrl}/Users/${id}`, person),
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
