import { DomainError } from '../errors.ts'
import { type Queries, sqlOn } from './relational.ts'

/** What several users save, one after the other. */
interface Saved {
  readonly id: string
  readonly companyId: string
  readonly revision: number
  readonly updatedAt: Date
  /** The user who saved it last, if that is known. */
  readonly lastSavedBy: string | null
}

/**
 * Whether the caller has seen this revision, as the header `If-Match` says it; undefined where the caller does not say
 * what it has seen.
 */
export type Expected = ((revision: number) => boolean) | undefined

/**
 * Inside the transaction that has locked what is stored.
 * @throws {DomainError} `savedMeanwhile` or the error named, which says who saved it and when
 */
export async function assertExpected(
  tx: Queries,
  stored: Saved,
  expected: Expected,
  error: 'savedMeanwhile' | 'versionChanged' = 'savedMeanwhile',
): Promise<void> {
  const { id, companyId, revision, lastSavedBy } = stored
  if (expected === undefined || expected(revision)) return
  const rows = await sqlOn(tx)<{ email: string }>`
    select email from users where company_id = ${companyId} and id = ${lastSavedBy} and status <> 'deleted'`
  const by = rows[0] ? ` by ${rows[0].email}` : ''
  const updatedAt = stored.updatedAt.toISOString()
  const what = error === 'versionChanged' ? 'The version' : 'It'
  throw new DomainError(
    error,
    { id, revision, updatedAt, lastSavedBy },
    { message: `${what} was saved${by} at ${updatedAt}: read it again, then save your changes` },
  )
}
