import { listResponse } from './protocol/listing.ts'
import { ScimRefusal } from './protocol/refusal.ts'
import type { ScimResource } from './protocol/resources.ts'
import { resourceTypes, schemas, serviceProviderConfig } from './protocol/schema/discovery.ts'
import type { ScimCall, ScimRequests } from './scim-request-service.ts'

export interface ScimDiscoveryDependencies {
  readonly requests: Pick<ScimRequests, 'read'>
  /** Address of the SCIM service. */
  readonly baseUrl: () => string
}

export type ScimDiscovery = ReturnType<typeof createScimDiscoveryService>

/** What the SCIM service can do (RFC 7644 4), for the company whose token it is. */
export function createScimDiscoveryService({ requests, baseUrl }: ScimDiscoveryDependencies) {
  type Describe = (baseUrl: string, groupSync: boolean) => ScimResource[]

  const list = (call: ScimCall, describe: Describe): Promise<ScimResource> =>
    requests.read(call, async ({ settings }) => {
      const resources = describe(baseUrl(), settings.groupSync)
      const listed = { resources, total: resources.length }
      return { reply: listResponse(listed, { offset: 0, limit: listed.total }) }
    })

  const find = (call: ScimCall, describe: Describe, id: string): Promise<ScimResource> =>
    requests.read(call, async ({ settings }) => {
      const found = describe(baseUrl(), settings.groupSync).find(
        (each) => String(each.id).toLowerCase() === id.toLowerCase(),
      )
      if (!found) throw new ScimRefusal('notFound', 'There is nothing of this name')
      return { reply: found }
    })

  return {
    config: (call: ScimCall): Promise<ScimResource> =>
      requests.read(call, async () => ({ reply: serviceProviderConfig(baseUrl()) })),

    listResourceTypes: (call: ScimCall): Promise<ScimResource> => list(call, resourceTypes),

    /** @throws ScimRefusal `notFound` */
    resourceType: (call: ScimCall, id: string): Promise<ScimResource> => find(call, resourceTypes, id),

    listSchemas: (call: ScimCall): Promise<ScimResource> => list(call, schemas),

    /** @throws ScimRefusal `notFound` */
    schema: (call: ScimCall, id: string): Promise<ScimResource> => find(call, schemas, id),
  }
}
