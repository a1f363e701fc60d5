import { createHash } from 'node:crypto'
import { idempotencyKeys } from '../../database/tables/workflow.ts'
import { DomainError } from '../../platform/errors.ts'
import { and, eq, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

/** A request that creates something, as it is recognised when it comes again. */
export interface KeyedRequest {
  readonly companyId: string
  readonly userId: string
  /** Id of the operation: the same key of another one is another request. */
  readonly operation: string
  /** The header `Idempotency-Key`. */
  readonly key: string
  readonly body: unknown
}

export type ClaimKey = typeof claimKey

const keptHours = 24

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Notes inside the caller's transaction that a request makes an object; a request with the same key that runs at the
 * same time waits for it (docs/faults.md, H27).
 * @returns the id that the request is to use, or that of the object which it made before
 * @throws {DomainError} `conflict` where the key came with another body
 */
export async function claimKey(
  tx: Queries,
  request: KeyedRequest,
  newId: string,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { companyId, userId, operation } = request
  const keyHash = sha256(request.key)
  const bodyHash = sha256(JSON.stringify(request.body))
  await tx
    .delete(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.companyId, companyId),
        sql`${idempotencyKeys.createdAt} < now() - make_interval(hours => ${keptHours})`,
      ),
    )
  const claimed = await tx
    .insert(idempotencyKeys)
    .values({ companyId, userId, operation, keyHash, bodyHash, resourceId: newId })
    .onConflictDoNothing()
    .returning({ id: idempotencyKeys.resourceId })
  if (claimed.length > 0) return { id: newId, isNew: true }
  const [found] = await tx
    .select({ id: idempotencyKeys.resourceId, bodyHash: idempotencyKeys.bodyHash })
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.companyId, companyId),
        eq(idempotencyKeys.userId, userId),
        eq(idempotencyKeys.operation, operation),
        eq(idempotencyKeys.keyHash, keyHash),
      ),
    )
  if (!found) throw new Error('a key that conflicts is there')
  if (!found.bodyHash.equals(bodyHash)) {
    const message = 'This Idempotency-Key came with another body: use a new key for another request'
    throw new DomainError('conflict', { id: found.id }, { message })
  }
  return { id: found.id, isNew: false }
}
