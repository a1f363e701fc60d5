import type { ErrorName } from '@millrace/contract/errors.ts'
import type { AuditEvent } from '../../../platform/audit.ts'
import { createFixedWindow } from '../../../platform/limits/window.ts'
import { networkOf } from '../../../platform/network-address.ts'
import { mapConstraintViolation, type Queries } from '../../../platform/stores/relational.ts'
import type { AuditSource } from '../people/users/user-lifecycle.ts'
import type { IdentityContext } from '../sessions/identity-context.ts'
import { createScimConfigStore, type ProvisioningSettings } from './config/scim-config-store.ts'
import type { TokenHolder } from './config/scim-token-store.ts'
import { takenGroup, takenUser } from './protocol/refusal.ts'

/** A request of an identity provider whose token is known. */
export interface ScimCall {
  readonly holder: TokenHolder
  /** Network address that it came from. */
  readonly address: string
  readonly method: string
  /** Template of the path: `/v2/scim/v2/Users/:id`. */
  readonly path: string
  /** What the path names. */
  readonly target: AuditEvent['target']
}

/** A request with an unknown token. */
export type UnknownTokenRequest = Pick<ScimCall, 'address' | 'method' | 'path'>

/** Why a request was refused, for the audit log. */
export interface ScimFailure {
  readonly status: number
  readonly scimType: string | undefined
  readonly errorName: ErrorName
}

/** Result of a request: the reply, and its target where the path does not name it. */
export interface Outcome<T> {
  readonly reply: T
  readonly target?: AuditEvent['target']
  /** What of the request was not done, for the audit log. */
  readonly omitted?: Readonly<Record<string, unknown>>
}

/** Inside the transaction of one request. */
export interface Work {
  readonly tx: Queries
  readonly companyId: string
  readonly settings: ProvisioningSettings
  readonly source: AuditSource
}

export interface ScimRequestDependencies
  extends Pick<IdentityContext, 'relational' | 'recordAudit' | 'clock'> {
  /** Runs a change of users or roles; `lastAdministrator` when no administrator would be left. */
  readonly transact: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>
}

/** Entries about unknown tokens within a minute: of one network, and of all together. */
const maxUnknownTokensOfNetwork = 3
const maxUnknownTokens = 60
const minuteMs = 60_000

/** The refusal for a violation of each unique index. */
const uniqueIndexes: ReadonlyMap<string, () => Error> = new Map([
  ['users_external_id', takenUser],
  ['teams_name', takenGroup],
  ['teams_external_id', takenGroup],
])

export type ScimRequests = ReturnType<typeof createScimRequestService>

/**
 * Each request of an identity provider is one transaction and one entry of the audit log. Those that change
 * something come one after the other within a company, so that two connectors and repeated requests converge.
 */
export function createScimRequestService(dependencies: ScimRequestDependencies) {
  const { relational, transact, recordAudit, clock } = dependencies
  const unknownTokenEntries = createFixedWindow(clock, minuteMs, maxUnknownTokens)
  const sourceOf = ({ holder, address }: ScimCall): AuditSource => ({
    actor: { kind: 'identity-provider', id: holder.id, name: holder.label },
    address,
  })

  const inOneTransaction = <T>(
    call: ScimCall,
    isWrite: boolean,
    work: (work: Work) => Promise<Outcome<T>>,
  ): Promise<T> =>
    transact(async (tx) => {
      const { companyId } = call.holder
      const store = createScimConfigStore(tx)
      if (isWrite) await store.lock(companyId)
      const settings = await store.find(companyId)
      const source = sourceOf(call)
      const { reply, target = call.target, omitted } = await work({ tx, companyId, settings, source })
      const { method, path } = call
      const details = { method, path, ...omitted }
      const about = target && { target }
      await recordAudit(tx, { companyId, action: 'scim-request', ...about, details, ...source })
      await store.noteSync(companyId)
      return reply
    })

  return {
    read: <T>(call: ScimCall, work: (work: Work) => Promise<Outcome<T>>): Promise<T> =>
      inOneTransaction(call, false, work),

    /** @throws ScimRefusal `uniqueness` besides what `work` throws */
    write: <T>(call: ScimCall, work: (work: Work) => Promise<Outcome<T>>): Promise<T> =>
      mapConstraintViolation(
        () => inOneTransaction(call, true, work),
        (constraint) => uniqueIndexes.get(constraint)?.(),
      ),

    /** In a transaction of its own, because that of the refused request is rolled back. */
    async recordRefusal(call: ScimCall, { status, scimType, errorName }: ScimFailure): Promise<void> {
      const { method, path, target } = call
      await recordAudit(relational.db, {
        companyId: call.holder.companyId,
        action: 'scim-request',
        ...(target && { target }),
        error: errorName,
        details: { method, path, status, ...(scimType && { scimType }) },
        ...sourceOf(call),
      })
    },

    /**
     * A request with an unknown token belongs to no company: the operator finds it, like sign-ins of unknown addresses.
     * Anyone can cause such requests, so that few are recorded; the metrics count all.
     */
    async recordUnknownToken({ address, method, path }: UnknownTokenRequest): Promise<void> {
      if (unknownTokenEntries.take(networkOf(address), maxUnknownTokensOfNetwork) > 0) return
      await recordAudit(relational.db, {
        companyId: undefined,
        action: 'scim-request',
        actor: { kind: 'anonymous' },
        error: 'unauthenticated',
        details: { method, path, reason: 'unknown-token' },
        address,
      })
    },
  }
}
