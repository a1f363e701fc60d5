import { X509Certificate } from 'node:crypto'
import type { Catalogue } from '../../../../platform/i18n/language.ts'
import { mailAdministrators } from '../../people/account-emails.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { createConfigStore } from '../config/config-store.ts'
import { fingerprintOf } from './certificate-service.ts'
import { createCertificateStore } from './certificate-store.ts'

/** A certificate without which the company's single sign-on ends. */
interface Watched {
  readonly companyId: string
  readonly whose: 'theirs' | 'ours'
  readonly fingerprint: string
  /** Milliseconds since 1970. */
  readonly end: number
}

const day = 86_400_000
const hour = 3_600_000

/** Days before the end at which administrators get a mail, the nearest first. */
const noticeDays = [1, 7, 14, 30] as const

const words = {
  en: {
    subject: (days: number) => `Single sign-on ends in ${days} ${days === 1 ? 'day' : 'days'}`,
    theirs: (end: string) =>
      `The certificate of your identity provider ends on ${end}. From then on no user can sign in through it. Update the metadata in the settings of single sign-on in Millrace.`,
    ours: (end: string) =>
      `The certificate that Millrace signs its requests to your identity provider with ends on ${end}. Make a new one in the settings of single sign-on, declare it at your identity provider, then retire the old one.`,
  },
  fr: {
    subject: (days: number) => `La connexion unique prend fin dans ${days} ${days === 1 ? 'jour' : 'jours'}`,
    theirs: (end: string) =>
      `Le certificat de votre fournisseur d’identité expire le ${end}. À partir de cette date, aucun utilisateur ne pourra plus se connecter par lui. Mettez à jour les métadonnées dans les réglages de la connexion unique de Millrace.`,
    ours: (end: string) =>
      `Le certificat avec lequel Millrace signe ses demandes à votre fournisseur d’identité expire le ${end}. Créez-en un nouveau dans les réglages de la connexion unique, déclarez-le chez votre fournisseur d’identité, puis retirez l’ancien.`,
  },
} as const satisfies Catalogue<unknown>

/** Tells administrators in time that a certificate ends, once for each notice, whichever process does it. */
export function createCertificateWatch(
  dependencies: Pick<IdentityContext, 'relational' | 'box' | 'enqueueMail' | 'clock'>,
) {
  const { relational, box, enqueueMail, clock } = dependencies

  /** The identity provider may have several; sign-ins end with the last of them, and ours with the newest. */
  async function list(): Promise<Watched[]> {
    const configs = await createConfigStore(relational.db).listAll()
    const own = new Map<string, Watched>()
    for (const { companyId, certificate, notAfter } of await createCertificateStore(
      relational.db,
      box,
    ).listAll()) {
      const end = notAfter.getTime()
      const before = own.get(companyId)
      if (before && before.end >= end) continue
      own.set(companyId, { companyId, whose: 'ours', fingerprint: fingerprintOf(certificate), end })
    }
    return configs.flatMap(({ companyId, idpCertificates }) => {
      const theirs = idpCertificates
        .map((pem) => ({
          fingerprint: fingerprintOf(pem),
          end: new X509Certificate(pem).validToDate.getTime(),
        }))
        .toSorted((a, b) => b.end - a.end)
        .slice(0, 1)
        .map((each) => ({ companyId, whose: 'theirs' as const, ...each }))
      return [...theirs, ...(own.get(companyId) ? [own.get(companyId) as Watched] : [])]
    })
  }

  let known: { readonly at: number; readonly listing: Promise<Watched[]> } | undefined

  function look(): Promise<Watched[]> {
    const listing = list()
    known = { at: clock.now(), listing }
    listing.catch(() => {
      if (known?.listing === listing) known = undefined
    })
    return listing
  }

  async function notify({ companyId, whose, fingerprint, end }: Watched): Promise<void> {
    const left = (end - clock.now()) / day
    const notice = noticeDays.find((days) => left <= days)
    if (notice === undefined || left <= 0) return
    await relational.transaction(async (tx) => {
      if (!(await createCertificateStore(tx, box).insertNotice(companyId, fingerprint, notice))) return
      const date = new Date(end).toISOString().slice(0, 10)
      await mailAdministrators(tx, enqueueMail, companyId, (language) => ({
        subject: words[language].subject(Math.max(1, Math.round(left))),
        before: [words[language][whose](date)],
      }))
    })
  }

  return {
    /** Looks at every certificate once. */
    async work(): Promise<void> {
      for (const watched of await look()) await notify(watched)
    },

    /**
     * Days until the first certificate ends without which a company's single sign-on ends; infinite without any.
     * Certificates are listed at most once an hour: each is parsed, and metrics are read every few seconds.
     */
    async minDaysLeft(): Promise<number> {
      const watched = await (known && clock.now() - known.at < hour ? known.listing : look())
      return watched.reduce(
        (min, { end }) => Math.min(min, (end - clock.now()) / day),
        Number.POSITIVE_INFINITY,
      )
    },
  }
}
