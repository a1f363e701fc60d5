import { maxResults } from '../listing.ts'
import type { ScimResource } from '../resources.ts'
import { type Attribute, attribute, commonAttributes, opaque, readOnly } from './attribute.ts'
import { enterpriseSchema, groupSchema, userSchema } from './schemas.ts'
import { enterpriseAttributes, userAttributes } from './user-schema.ts'

const schemaSchema = 'urn:ietf:params:scim:schemas:core:2.0:Schema'
const resourceTypeSchema = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType'
const configSchema = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'

const groupAttributes = [
  ...commonAttributes,
  attribute('displayName', 'Name of the group, unique whatever its case', {
    required: true,
    uniqueness: 'server',
  }),
  attribute('members', 'Members of the group', {
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
    filter: { supported: true, maxResults },
    changePassword: { supported: false },
    sort: { supported: true },
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

function resourceType(
  baseUrl: string,
  name: string,
  endpoint: string,
  schema: string,
  extensions: readonly string[] = [],
): ScimResource {
  return {
    schemas: [resourceTypeSchema],
    id: name,
    name,
    endpoint,
    description: name,
    schema,
    schemaExtensions: extensions.map((extension) => ({ schema: extension, required: false })),
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  }
}

/** RFC 7643 6; without groups where they are not synchronised. */
export function resourceTypes(baseUrl: string, groupSync: boolean): ScimResource[] {
  const user = resourceType(baseUrl, 'User', '/Users', userSchema, [enterpriseSchema])
  return groupSync ? [user, resourceType(baseUrl, 'Group', '/Groups', groupSchema)] : [user]
}

function schema(baseUrl: string, urn: string, name: string, attributes: readonly Attribute[]): ScimResource {
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
  const enterprise = schema(baseUrl, enterpriseSchema, 'EnterpriseUser', enterpriseAttributes)
  const userSchemas = [user, enterprise]
  return groupSync ? [...userSchemas, schema(baseUrl, groupSchema, 'Group', groupAttributes)] : userSchemas
}
