import type { Application } from '@millrace/contract/resources/application.ts'
import { auditEventOf } from '../../../../platform/audit.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import { createClientStore } from '../clients/client-store.ts'
import type { IdentityContext } from '../identity-context.ts'
import type { Caller, Principal } from '../principal.ts'
import { createApplicationStore } from './application-store.ts'

export type ApplicationService = ReturnType<typeof createApplicationService>

/** The applications that act for a user, as that user sees and ends them. */
export function createApplicationService(dependencies: IdentityContext) {
  const { relational, recordAudit } = dependencies

  return {
    list: ({ userId }: Principal): Promise<Application[]> =>
      createApplicationStore(relational.db).listOf(userId),

    /** @throws DomainError `applicationNotFound` when there is neither a consent nor a session to end */
    async withdraw(caller: Caller, wantedId: string): Promise<void> {
      const { userId } = caller.principal
      const id = normalizeId(wantedId)
      await relational.transaction(async (tx) => {
        const applications = createApplicationStore(tx)
        const name = (await createClientStore(tx).findClient(id))?.name
        const { consents, sessions } = await applications.withdraw(userId, id)
        if (consents + sessions === 0) throw new DomainError('applicationNotFound', { id })
        const details = { consent: consents > 0, endedSessions: sessions }
        await recordAudit(
          tx,
          auditEventOf(caller, 'application-revoke', { kind: 'client', id, name }, details),
        )
      })
    },
  }
}
