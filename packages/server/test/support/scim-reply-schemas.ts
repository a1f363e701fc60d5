import type { Attribute } from '../../src/features/identity/provisioning/protocol/schema/attribute.ts'
import { schemas } from '../../src/features/identity/provisioning/protocol/schema/discovery.ts'
import {
  enterpriseSchema,
  errorSchema,
  groupSchema,
  listSchema,
  userSchema,
} from '../../src/features/identity/provisioning/protocol/schema/schemas.ts'
import { scimPath } from '../../src/features/identity/provisioning/scim-routes.ts'

export const scimUrl = `${scimPath}/`

type JsonSchema = Readonly<Record<string, unknown>>

const text = { type: 'string' }
const boolean = { type: 'boolean' }
const count = { type: 'integer', minimum: 0 }
const instant = { type: 'string', format: 'date-time' }

const object = (
  properties: JsonSchema,
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const oneOf = (...values: readonly string[]): JsonSchema => ({ enum: values })

/** The schema of a value by its description (RFC 7643 7). */
function schemaOf({ type, multiValued, subAttributes = [] }: Attribute): JsonSchema {
  const simple = {
    boolean,
    complex: propertiesOf(subAttributes),
    string: text,
    reference: text,
    binary: text,
  }
  return multiValued ? listOf(simple[type]) : simple[type]
}

const propertiesOf = (
  attributes: readonly Attribute[],
  more: JsonSchema = {},
  required: readonly string[] = [],
) =>
  object({ ...Object.fromEntries(attributes.map((each) => [each.name, schemaOf(each)])), ...more }, required)

/** The attributes that the service says it has. */
function attributesOf(urn: string): readonly Attribute[] {
  const found = schemas('', true).find(({ id }) => id === urn)
  if (!found) throw new Error(`the service describes no ${urn}`)
  return found.attributes as readonly Attribute[]
}

const metaOf = (resourceType: string) =>
  object({ resourceType: oneOf(resourceType), created: instant, lastModified: instant, location: text })

const user = propertiesOf(
  attributesOf(userSchema),
  {
    schemas: listOf(oneOf(userSchema, enterpriseSchema)),
    meta: metaOf('User'),
    [enterpriseSchema]: propertiesOf(attributesOf(enterpriseSchema)),
  },
  ['schemas', 'id'],
)
const group = propertiesOf(
  attributesOf(groupSchema),
  { schemas: listOf(oneOf(groupSchema)), meta: metaOf('Group') },
  ['schemas', 'id'],
)

const describing = (resourceType: string, properties: JsonSchema): JsonSchema =>
  object({
    schemas: listOf(oneOf(`urn:ietf:params:scim:schemas:core:2.0:${resourceType}`)),
    meta: object({ resourceType: oneOf(resourceType), location: text }),
    ...properties,
  })

const supported = object({ supported: boolean })
const config = describing('ServiceProviderConfig', {
  patch: supported,
  bulk: object({ supported: boolean, maxOperations: count, maxPayloadSize: count }),
  filter: object({ supported: boolean, maxResults: count }),
  changePassword: supported,
  sort: supported,
  etag: supported,
  authenticationSchemes: listOf(
    object({ type: text, name: text, description: text, specUri: text, primary: boolean }),
  ),
})
const resourceType = describing('ResourceType', {
  id: text,
  name: text,
  endpoint: text,
  description: text,
  schema: text,
  schemaExtensions: listOf(object({ schema: text, required: boolean })),
})
const schema = describing('Schema', {
  id: text,
  name: text,
  description: text,
  attributes: listOf({ type: 'object', required: ['name', 'type', 'multiValued', 'mutability', 'returned'] }),
})

const listed = (resource: JsonSchema): JsonSchema =>
  object({
    schemas: listOf(oneOf(listSchema)),
    totalResults: count,
    startIndex: { type: 'integer', minimum: 1 },
    itemsPerPage: count,
    Resources: listOf(resource),
  })

/** By path below the address of the service, as it is routed. */
const byPath: Readonly<Record<string, JsonSchema>> = {
  Users: listed(user),
  'Users/:id': user,
  Groups: listed(group),
  'Groups/:id': group,
  ServiceProviderConfig: config,
  ResourceTypes: listed(resourceType),
  'ResourceTypes/:id': resourceType,
  Schemas: listed(schema),
  'Schemas/:id': schema,
}

/** Shapes of the SCIM service's replies (RFC 7643, RFC 7644). */
export const scimSchemas = {
  /** RFC 7644 3.12. */
  failure: object(
    {
      schemas: listOf(oneOf(errorSchema)),
      status: text,
      scimType: oneOf(
        'invalidFilter',
        'tooMany',
        'uniqueness',
        'mutability',
        'invalidSyntax',
        'invalidPath',
        'noTarget',
        'invalidValue',
        'invalidVers',
        'sensitive',
      ),
      detail: text,
    },
    ['schemas', 'status', 'detail'],
  ),
  /** Of a success; `path` is routed below the address of the service, such as `Users/:id`. */
  success: (method: string, path: string): JsonSchema | undefined =>
    // RFC 7644 3.3: what was created is answered itself, at the path of the list.
    byPath[method === 'POST' ? `${path}/:id` : path],
}
