import type { Catalogue, Language } from '../../../../platform/i18n/language.ts'
import type { EnqueueMail } from '../../../../platform/mail/mail-queue.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { mailAdministrators } from '../../people/account-emails.ts'

/** Result of reading metadata again. */
export type MetadataNotice =
  | { readonly kind: 'taken'; readonly fingerprints: readonly string[]; readonly signInUrl: string }
  | { readonly kind: 'failed'; readonly reason: string }

const words = {
  en: {
    takenSubject: 'New certificates of your identity provider',
    taken: (url: string) =>
      `Millrace has read the metadata of your identity provider again and trusts what is new in it, beside what it trusted before. Users sign in at ${url}.`,
    fingerprints: (list: string) => `New certificates (SHA-256): ${list}`,
    unexpected:
      'If none of you has changed anything at the identity provider, look at the settings of single sign-on and at the audit log.',
    failedSubject: 'The metadata of your identity provider cannot be read',
    failed: (reason: string) =>
      `Millrace reads the metadata of your identity provider each day, and cannot use it now: ${reason}.`,
    meanwhile:
      'What it knew before stays in use, and it tries again. When your identity provider gets a new certificate meanwhile, no sign-in works with it: correct the address of the metadata, or save the metadata again in the settings of single sign-on.',
  },
  fr: {
    takenSubject: 'Nouveaux certificats de votre fournisseur d’identité',
    taken: (url: string) =>
      `Millrace a relu les métadonnées de votre fournisseur d’identité et fait confiance à ce qu’elles contiennent de nouveau, en plus de ce qui valait déjà. La connexion se fait à l’adresse ${url}.`,
    fingerprints: (list: string) => `Nouveaux certificats (SHA-256) : ${list}`,
    unexpected:
      'Si aucun de vous n’a rien changé chez le fournisseur d’identité, consultez les réglages de la connexion unique et le journal d’audit.',
    failedSubject: 'Les métadonnées de votre fournisseur d’identité sont illisibles',
    failed: (reason: string) =>
      `Millrace relit chaque jour les métadonnées de votre fournisseur d’identité et ne peut pas les utiliser en ce moment. Motif, en anglais : ${reason}.`,
    meanwhile:
      'Ce qui était connu reste en usage, et la lecture sera retentée. Si votre fournisseur d’identité change de certificat entre-temps, personne ne pourra se connecter avec le nouveau : corrigez l’adresse des métadonnées, ou enregistrez-les à nouveau dans les réglages de la connexion unique.',
  },
} as const satisfies Catalogue<unknown>

function contentOf(notice: MetadataNotice, language: Language): { subject: string; before: string[] } {
  const text = words[language]
  if (notice.kind === 'failed')
    return { subject: text.failedSubject, before: [text.failed(notice.reason), text.meanwhile] }
  const { fingerprints, signInUrl } = notice
  const listed = fingerprints.length > 0 ? [text.fingerprints(fingerprints.join(', '))] : []
  return { subject: text.takenSubject, before: [text.taken(signInUrl), ...listed, text.unexpected] }
}

/** Inside a transaction: a mail to every administrator. */
export const notifyOfMetadata = (
  tx: Queries,
  enqueueMail: EnqueueMail,
  companyId: string,
  notice: MetadataNotice,
): Promise<void> => mailAdministrators(tx, enqueueMail, companyId, (language) => contentOf(notice, language))
