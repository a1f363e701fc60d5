import type { AuditEvent } from '../../../../platform/audit.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { isId } from '../../../../platform/ids.ts'
import { createFixedWindow } from '../../../../platform/limits/window.ts'
import { networkOf } from '../../../../platform/network-address.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { maxEntriesPerMinute, type RefusalReason, remedies, SamlRefusal } from '../assertion/saml-refusal.ts'
import type { SamlSignInStore, StoredResult } from './saml-sign-in-store.ts'

/** Where a request comes from, and the name under which its failure is found in the audit log. */
export interface Visit {
  readonly address: string
  readonly reference: string
}

/** The user whom a verified response names. */
export type AssertionSubject = Pick<StoredResult, 'idpEntityId' | 'nameId'>

export interface RefusalRecordDependencies
  extends Pick<IdentityContext, 'relational' | 'recordAudit' | 'clock'> {
  readonly store: Pick<SamlSignInStore, 'findLanguage'>
  /** Counts what became of a sign-in. */
  readonly onOutcome: (outcome: RefusalReason) => void
}

/** Refused because of the user it names, while the message itself was right: the page may say so. */
const aboutMatching: readonly RefusalReason[] = [
  'other-identity',
  'ambiguous-person',
  'former-address',
  'possible-duplicate',
]

const renamed = {
  en: 'Your organisation’s identity provider names you differently from the account that seems to be yours. An administrator of your company can unlink or rename that account, and finds the reason in the audit log',
  fr: 'Le fournisseur d’identité de votre organisation vous nomme autrement que le compte qui semble être le vôtre. Un administrateur de votre entreprise peut dissocier ou renommer ce compte, et trouve la raison dans le journal d’audit',
}

/** A sign-in that was refused, with the language that it began in, where that is known. */
export class SignInRefused extends DomainError {
  readonly language: Language | undefined

  constructor(reference: string, language: Language | undefined, cause: SamlRefusal) {
    const message = aboutMatching.includes(cause.reason) ? renamed : undefined
    super('singleSignOnRefused', { reference }, { cause, ...(message && { message }) })
    this.language = language
  }
}

/** Entries a minute that unsigned messages may cause in the audit logs of all companies. */
const maxUnproven = 300
const minuteMs = 60_000

/** Records why a sign-in was refused in the audit log and the metrics; the page does not say it. */
export function createRefusalRecord(dependencies: RefusalRecordDependencies) {
  const { relational, recordAudit, clock, store, onOutcome } = dependencies
  const entries = createFixedWindow(clock, minuteMs, maxUnproven)

  /** Anyone can send junk: entries about messages that no identity provider has signed are bounded. */
  function hasRoom(reason: RefusalReason, address: string, companyId: string): boolean {
    const max = maxEntriesPerMinute(reason)
    return max === undefined || entries.take(`${reason} ${networkOf(address)} ${companyId}`, max) === 0
  }

  async function record(
    companyId: string,
    { reason, userIds }: SamlRefusal,
    visit: Visit,
    subject?: AssertionSubject,
  ): Promise<void> {
    onOutcome(reason)
    const isCompany = isId(companyId) && (await createPeopleStore(relational.db).companyExists(companyId))
    if (!hasRoom(reason, visit.address, isCompany ? companyId : '')) return
    const event: AuditEvent = {
      companyId: isCompany ? companyId : undefined,
      action: 'sso-sign-in',
      actor: subject ? { kind: 'identity-provider', name: subject.idpEntityId } : { kind: 'anonymous' },
      ...(subject ? { target: { kind: 'user', name: subject.nameId } } : {}),
      error: 'singleSignOnRefused',
      details: {
        reason,
        reference: visit.reference,
        ...(remedies[reason] && { remedy: remedies[reason] }),
        ...(userIds.length > 0 && { userIds }),
      },
      address: visit.address,
    }
    await recordAudit(relational.db, event)
  }

  /**
   * Runs a step of a sign-in.
   * @param known what is known about the sign-in by then
   * @throws SignInRefused for a SamlRefusal of the step
   */
  return async <T>(
    companyId: string,
    visit: Visit,
    work: () => Promise<T>,
    known: { readonly subject?: AssertionSubject; readonly language?: Language } = {},
  ): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof SamlRefusal)) throw error
      await record(companyId, error, visit, known.subject)
      const { inResponseTo } = error
      const language = known.language ?? (inResponseTo && (await store.findLanguage(companyId, inResponseTo)))
      throw new SignInRefused(visit.reference, language || undefined, error)
    }
  }
}
