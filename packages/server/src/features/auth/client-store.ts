import { oauthClients } from '../../database/tables/oauth-client.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import type { CreatedClient } from './client-service.ts'

export type ClientStore = ReturnType<typeof createClientStore>

/** Given a transaction it works inside it. */
export function createClientStore(db: Pick<Relational['db'], 'insert'>) {
  return {
    async insertClient({ grants, redirectUris, ...client }: CreatedClient): Promise<void> {
      await db
        .insert(oauthClients)
        .values({ ...client, grants: [...grants], redirectUris: [...redirectUris] })
    },
  }
}
