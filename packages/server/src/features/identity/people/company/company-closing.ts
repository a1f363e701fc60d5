import type { ClosedCompany } from '@millrace/contract/resources/company.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { found, recorderOf } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { type Caller, holds } from '../../sessions/principal.ts'
import { mailAdministrators } from '../account-emails.ts'
import { closedDays, createCompanyStore } from './company-store.ts'

/** What closing takes beside Company: update, since all of that goes. */
const needed = [
  { resource: 'user', action: 'delete' },
  { resource: 'datasource', action: 'delete' },
] as const

export interface CompanyClosingDependencies
  extends Pick<IdentityContext, 'relational' | 'recordAudit' | 'enqueueMail'> {
  /** @throws DomainError `authenticatorNotOffered`, `wrongCode`, `tooManyAttempts` or `signInUnavailable` */
  readonly requireCode: (caller: Caller, code: string) => Promise<void>
}

function closedMail(language: Language, author: string, name: string, until: string) {
  return {
    en: {
      subject: `${name} was closed on Millrace`,
      before: [
        `${author} has closed ${name}. No user signs in any more, and events are refused.`,
        `Until ${until} an operator of the service can open it again, as it was. Then everything that it has is removed for good.`,
      ],
    },
    fr: {
      subject: `${name} a été fermée sur Millrace`,
      before: [
        `${author} a fermé ${name}. Plus personne ne se connecte et les événements sont refusés.`,
        `Jusqu’au ${until}, un opérateur du service peut la rouvrir telle qu’elle était. Ensuite, tout ce qu’elle contient est supprimé définitivement.`,
      ],
    },
  }[language]
}

/** ISO 8601. */
export const removedAfter = (closedAt: Date): string =>
  new Date(closedAt.getTime() + closedDays * 86_400_000).toISOString()

/** @throws DomainError `companyNotConfirmed` or `notFound` */
async function requireConfirmed(queries: Queries, companyId: string, confirm: string) {
  const { id, name } = found(await createCompanyStore(queries).find(companyId), 'notFound', companyId)
  if (confirm !== name) throw new DomainError('companyNotConfirmed', { id, confirm: name })
  return { id, name }
}

/** In the transaction of the caller. @throws DomainError `companyNotConfirmed` or `notFound` */
export async function closeCompany(tx: Queries, companyId: string, confirm: string): Promise<ClosedCompany> {
  const { id } = await requireConfirmed(tx, companyId, confirm)
  const closedAt = found(await createCompanyStore(tx).close(id), 'notFound', companyId)
  return { id, closedAt: closedAt.toISOString(), removedAfter: removedAfter(closedAt) }
}

export type CompanyClosing = ReturnType<typeof createCompanyClosing>

/** Closing the caller's company (docs/data-life.md, A company that is closed). */
export function createCompanyClosing({
  relational,
  recordAudit,
  enqueueMail,
  requireCode,
}: CompanyClosingDependencies) {
  const record = recorderOf('company', recordAudit)

  return {
    /** @throws DomainError `forbidden`, `companyNotConfirmed`, or what `requireCode` throws */
    async close(
      caller: Caller,
      { confirm, code }: { confirm: string; code: string },
    ): Promise<ClosedCompany> {
      const { principal } = caller
      const { companyId, email } = principal
      for (const permission of needed)
        if (!holds(principal, permission)) throw new DomainError('forbidden', permission)
      // No code is used up for a wrong name.
      const present = await requireConfirmed(relational.db, companyId, confirm)
      await requireCode(caller, code)
      return relational.transaction(async (tx) => {
        const closed = await closeCompany(tx, companyId, confirm)
        await record(tx, caller, 'company-close', present, { removedAfter: closed.removedAfter })
        const until = `${closed.removedAfter.slice(0, 16).replace('T', ' ')} UTC`
        await mailAdministrators(tx, enqueueMail, companyId, (language) =>
          closedMail(language, email, present.name, until),
        )
        return closed
      })
    },
  }
}
