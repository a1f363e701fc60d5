import { outgoingMails } from '../../../../database/tables/outgoing-mail.ts'
import { reportSettings } from '../../../../database/tables/report.ts'
import { savedQueries } from '../../../../database/tables/saved-query.ts'
import { formerAddresses } from '../../../../database/tables/single-sign-on.ts'
import { users } from '../../../../database/tables/user.ts'
import { touched } from '../../../../platform/resources/company-rows.ts'
import { and, asc, eq, inArray, type PgColumn, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'

/** The lists that an address was taken out of, for the audit log; absent those that did not have it. */
export interface LeftLists {
  /** Schedules of saved queries, by the id of the saved query, so many at most; and all of them. */
  readonly savedQueries?: readonly string[]
  readonly savedQueryCount?: number
  /** Automatic reports by their analysis. */
  readonly automaticReports?: readonly string[]
  /** Mails that waited. */
  readonly mails?: number
}

/** Columns of addresses that mails are sent to, out of which the address of a deleted user is taken here. */
export const addressLists: readonly PgColumn[] = [
  savedQueries.schedule,
  reportSettings.recipients,
  outgoingMails.recipient,
]

const maxNamed = 100

/** Works inside the transaction it is given. */
export function createAddressListStore(db: Queries) {
  /** The user's address and those that the user had before, without those that another user of the company has. */
  async function listAddresses(user: { readonly id: string; readonly companyId: string }): Promise<string[]> {
    const rows = await sqlOn(db)<{ email: string }>`
      select email from ${users} where id = ${user.id} and company_id = ${user.companyId}
      union select former.email from ${formerAddresses} as former
        where former.user_id = ${user.id} and former.company_id = ${user.companyId}
          and not exists (select 1 from ${users} as other
            where other.company_id = former.company_id and other.email = former.email and other.status <> 'deleted')`
    return rows.map(({ email }) => email)
  }

  return {
    /**
     * Takes the addresses of a user out of every list of the company, before the user is deleted. Otherwise whoever
     * has the mailbox would get data again once the company verifies the domain, or a new user has the address.
     * @returns undefined where none had them
     */
    async leaveAll(user: {
      readonly id: string
      readonly companyId: string
    }): Promise<LeftLists | undefined> {
      const { companyId } = user
      const addresses = await listAddresses(user)
      const isOurs = sql`= any(${sql.param(addresses)}::text[])`
      const names = (list: PgColumn | ReturnType<typeof sql>) =>
        sql`exists (select 1 from json_array_elements_text(${list}) as listed where listed ${isOurs})`

      const recipients = sql`${savedQueries.schedule}->'recipients'`
      const scheduled = await db
        .select({ id: savedQueries.id, schedule: savedQueries.schedule })
        .from(savedQueries)
        .where(and(eq(savedQueries.companyId, companyId), names(recipients)))
        .orderBy(asc(savedQueries.id))
        .for('update')
      const without = (list: readonly string[] = []) => list.filter((each) => !addresses.includes(each))
      for (const { id, schedule } of scheduled) {
        await db
          .update(savedQueries)
          .set({
            schedule: { ...schedule, recipients: without(schedule.recipients) },
            ...touched(savedQueries),
          })
          .where(eq(savedQueries.id, id))
      }

      const reported = await db
        .select({ slug: reportSettings.slug, recipients: reportSettings.recipients })
        .from(reportSettings)
        .where(and(eq(reportSettings.companyId, companyId), names(reportSettings.recipients)))
        .orderBy(asc(reportSettings.slug))
        .for('update')
      for (const { slug, recipients } of reported) {
        await db
          .update(reportSettings)
          .set({ recipients: without(recipients), ...touched(reportSettings) })
          .where(and(eq(reportSettings.companyId, companyId), eq(reportSettings.slug, slug)))
      }

      // Those that were sent or given up go too: the address is all that is left of them.
      const mails = await db
        .delete(outgoingMails)
        .where(and(eq(outgoingMails.companyId, companyId), inArray(outgoingMails.recipient, addresses)))
        .returning({ sentAt: outgoingMails.sentAt, failedAt: outgoingMails.failedAt })
      const waiting = mails.filter(({ sentAt, failedAt }) => sentAt === null && failedAt === null).length

      if (scheduled.length + reported.length + waiting === 0) return undefined
      return {
        ...(scheduled.length > 0 && {
          savedQueries: scheduled.slice(0, maxNamed).map(({ id }) => id),
          savedQueryCount: scheduled.length,
        }),
        ...(reported.length > 0 && { automaticReports: reported.map(({ slug }) => slug) }),
        ...(waiting > 0 && { mails: waiting }),
      }
    },
  }
}
