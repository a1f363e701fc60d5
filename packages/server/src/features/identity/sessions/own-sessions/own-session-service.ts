import type { OwnSession } from '@millrace/contract/resources/own-session.ts'
import { auditEventOf } from '../../../../platform/audit.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import { found, withIsoDates } from '../../../../platform/resources/resource.ts'
import type { IdentityContext } from '../identity-context.ts'
import type { Caller, Principal } from '../principal.ts'
import { createOwnSessionStore } from './own-session-store.ts'

export interface OwnSessionServiceDependencies extends IdentityContext {
  /** Names of browser and operating system; empty where a user-agent does not say. */
  readonly readUserAgent: (userAgent: string) => { readonly browser: string; readonly os: string }
}

export type OwnSessionService = ReturnType<typeof createOwnSessionService>

/** Where users are signed in, as they see and end it themselves. */
export function createOwnSessionService(dependencies: OwnSessionServiceDependencies) {
  const { relational, recordAudit, readUserAgent } = dependencies
  return {
    async list({ userId, tokenId }: Principal): Promise<OwnSession[]> {
      const sessions = await createOwnSessionStore(relational.db).listOf(userId, tokenId)
      return sessions.map(({ userAgent, ...session }) => {
        const { browser, os } = readUserAgent(userAgent)
        return { ...withIsoDates(session), browser: browser || null, os: os || null }
      })
    },

    /** @throws DomainError `sessionNotFound` */
    async end(caller: Caller, wantedId: string): Promise<void> {
      const { userId, email } = caller.principal
      const id = normalizeId(wantedId)
      await relational.transaction(async (tx) => {
        const ended = found(await createOwnSessionStore(tx).end(userId, id), 'sessionNotFound', id)
        const details = { sessionId: id, clientId: ended.clientId }
        await recordAudit(
          tx,
          auditEventOf(caller, 'sign-out', { kind: 'user', id: userId, name: email }, details),
        )
      })
    },
  }
}
