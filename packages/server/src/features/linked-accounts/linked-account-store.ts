import type { LinkedAccount, LinkedAccountProvider } from '@millrace/contract/resources/linked-account.ts'
import { sealedColumns } from '../../database/sealed-columns.ts'
import { linkedAccounts } from '../../database/tables/linked-account.ts'
import { users } from '../../database/tables/user.ts'
import { withIsoDates } from '../../platform/resources/resource.ts'
import { and, asc, columnsOf, eq, ne, type Row } from '../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../platform/stores/relational.ts'

/** What the address of a linked account is sealed for. */
export const targetContext = sealedColumns.linkedAccountTarget.contextOf

export interface UserReference {
  readonly companyId: string
  readonly userId: string
}

export type NewLinkedAccount = Omit<typeof linkedAccounts.$inferSelect, 'createdAt' | 'updatedAt'>

const columns = columnsOf(linkedAccounts, [
  'id',
  'userId',
  'provider',
  'name',
  'host',
  'createdAt',
  'updatedAt',
])

const toLinkedAccount = withIsoDates<Row<typeof columns>>

/** Linked accounts without their addresses; given a transaction it works inside it. */
export function createLinkedAccountStore(db: Queries) {
  const of = ({ companyId, userId }: UserReference) =>
    and(eq(linkedAccounts.companyId, companyId), eq(linkedAccounts.userId, userId))

  return {
    /** Whether a user of the company, not erased, has the id. */
    async hasUser({ companyId, userId }: UserReference): Promise<boolean> {
      const one = and(eq(users.id, userId), eq(users.companyId, companyId), ne(users.status, 'deleted'))
      return (await db.$count(users, one)) > 0
    },

    /** Locks the linked accounts of a user until the transaction ends; false when the user is not active. */
    async lockUser({ companyId, userId }: UserReference): Promise<boolean> {
      const rows = await sqlOn(db)`
        select 1 from ${users} where id = ${userId} and company_id = ${companyId} and status = 'active'
        for no key update`
      return rows.length > 0
    },

    count: (user: UserReference): Promise<number> => db.$count(linkedAccounts, of(user)),

    /** The oldest first. */
    async list(user: UserReference): Promise<LinkedAccount[]> {
      const rows = await db
        .select(columns)
        .from(linkedAccounts)
        .where(of(user))
        .orderBy(asc(linkedAccounts.createdAt), asc(linkedAccounts.id))
      return rows.map(toLinkedAccount)
    },

    /** Where messages of a user's own linked account go; undefined when there is none. */
    async findTarget(
      { companyId, userId }: UserReference,
      id: string,
    ): Promise<{ provider: LinkedAccountProvider; sealedTarget: Buffer } | undefined> {
      const [row] = await db
        .select({ provider: linkedAccounts.provider, sealedTarget: linkedAccounts.sealedTarget })
        .from(linkedAccounts)
        .where(and(of({ companyId, userId }), eq(linkedAccounts.id, id)))
      return row
    },

    async insert(account: NewLinkedAccount): Promise<LinkedAccount> {
      const [row] = await db.insert(linkedAccounts).values(account).returning(columns)
      if (!row) throw new Error('an insert without conflict gives its row')
      return toLinkedAccount(row)
    },

    /**
     * @param userId its owner; undefined for any user of the company
     * @returns what was deleted; undefined when there was nothing
     */
    async delete(
      companyId: string,
      id: string,
      userId: string | undefined,
    ): Promise<LinkedAccount | undefined> {
      const mine = userId === undefined ? undefined : eq(linkedAccounts.userId, userId)
      const [row] = await db
        .delete(linkedAccounts)
        .where(and(eq(linkedAccounts.id, id), eq(linkedAccounts.companyId, companyId), mine))
        .returning(columns)
      return row && toLinkedAccount(row)
    },
  }
}
