import { mostResults } from './listing.ts'
import type { ScimResource } from './resources.ts'
import { groupSchema, userSchema } from './schemas.ts'

const schemaSchema = 'urn:ietf:params:scim:schemas:core:2.0:Schema'
const resourceTypeSchema = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType'
const configSchema = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'

type Mutability = 'readOnly' | 'readWrite' | 'immutable'

interface Options {
  readonly type?: 'boolean' | 'complex' | 'reference'
  readonly multiValued?: true
  readonly required?: true
  readonly caseExact?: true
  readonly mutability?: Mutability
  readonly returned?: 'always'
  readonly uniqueness?: 'server'
  readonly referenceTypes?: readonly string[]
  readonly subAttributes?: readonly ScimResource[]
}

/** RFC 7643 7, with what most attributes have as defaults. */
function attribute(name: string, description: string, options: Options = {}): ScimResource {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...options,
  }
}

const opaque = { caseExact: true } as const
const readOnly = { mutability: 'readOnly' } as const

const id = attribute('id', 'Identifier of the resource', {
  ...opaque,
  ...readOnly,
  returned: 'always',
  uniqueness: 'server',
})
const externalId = attribute('externalId', 'Identifier of the identity provider, opaque', {
  ...opaque,
  uniqueness: 'server',
})

const userAttributes = [
  id,
  externalId,
  attribute('userName', 'E-mail address that the person signs in with, in lower case', {
    required: true,
    mutability: 'immutable',
    uniqueness: 'server',
  }),
  attribute('name', 'Name of the person', {
    type: 'complex',
    subAttributes: [
      attribute('givenName', 'First name'),
      attribute('familyName', 'Last name'),
      attribute('formatted', 'Both', readOnly),
    ],
  }),
  attribute('displayName', 'Name, or address where there is none', readOnly),
  attribute('title', 'Job title'),
  attribute('preferredLanguage', 'en or fr, with or without a region; another language is passed over'),
  attribute('active', 'Whether the person may sign in', { type: 'boolean' }),
  attribute('emails', 'The address of userName', {
    type: 'complex',
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute('value', 'Address', readOnly),
      attribute('type', 'Always work', readOnly),
      attribute('primary', 'Always true', { type: 'boolean', ...readOnly }),
    ],
  }),
  attribute('phoneNumbers', 'The first number is kept', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'Number'),
      attribute('type', 'Always work', readOnly),
      attribute('primary', 'Always true', { type: 'boolean', ...readOnly }),
    ],
  }),
  attribute('groups', 'Groups that the person is in', {
    type: 'complex',
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute('value', 'Identifier of the group', readOnly),
      attribute('display', 'Name of the group', readOnly),
      attribute('$ref', 'Address of the group', {
        type: 'reference',
        referenceTypes: ['Group'],
        ...readOnly,
      }),
      attribute('type', 'Always direct', readOnly),
    ],
  }),
]

const groupAttributes = [
  id,
  externalId,
  attribute('displayName', 'Name of the group, unique whatever its case', {
    required: true,
    uniqueness: 'server',
  }),
  attribute('members', 'People in the group', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'Identifier of the user', { ...opaque, mutability: 'immutable' }),
      attribute('display', 'Address of the user', readOnly),
      attribute('$ref', 'Address of the resource', {
        type: 'reference',
        referenceTypes: ['User'],
        ...readOnly,
      }),
      attribute('type', 'Always User', readOnly),
    ],
  }),
]

/** RFC 7643 5: exactly what is answered. */
export function serviceProviderConfig(baseUrl: string): ScimResource {
  return {
    schemas: [configSchema],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: mostResults },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Token of the company',
        description: 'Authorization: Bearer scim_..., created in the provisioning settings of the company',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  }
}

function resourceType(baseUrl: string, name: string, endpoint: string, schema: string): ScimResource {
  return {
    schemas: [resourceTypeSchema],
    id: name,
    name,
    endpoint,
    description: name,
    schema,
    schemaExtensions: [],
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  }
}

/** RFC 7643 6; without groups where they are not synchronised. */
export function resourceTypes(baseUrl: string, groupSync: boolean): ScimResource[] {
  const user = resourceType(baseUrl, 'User', '/Users', userSchema)
  return groupSync ? [user, resourceType(baseUrl, 'Group', '/Groups', groupSchema)] : [user]
}

function schema(baseUrl: string, urn: string, name: string, attributes: ScimResource[]): ScimResource {
  return {
    schemas: [schemaSchema],
    id: urn,
    name,
    description: name,
    attributes,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${urn}` },
  }
}

/** RFC 7643 7: the attributes that are kept. */
export function schemas(baseUrl: string, groupSync: boolean): ScimResource[] {
  const user = schema(baseUrl, userSchema, 'User', userAttributes)
  return groupSync ? [user, schema(baseUrl, groupSchema, 'Group', groupAttributes)] : [user]
}
