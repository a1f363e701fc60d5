import type { Catalogue } from '../../../../platform/i18n/language.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { mailAdministrators } from '../../people/account-emails.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'

/** Changes that every administrator is mailed about. */
export type NoticedChange =
  | 'provider'
  | 'certificates'
  | 'mapping'
  | 'idpInitiated'
  | 'required'
  | 'optional'
  | 'deleted'

/**
 * Inside the transaction of a change: a mail to every administrator, because a trusted identity provider can sign in
 * as any of them.
 * @param author address of the user who made the change
 */
export type NotifyAdministrators = (
  tx: Queries,
  companyId: string,
  author: string,
  changes: readonly NoticedChange[],
) => Promise<void>

const words = {
  en: {
    subject: 'Single sign-on of your company was changed',
    author: (name: string) => `${name} has changed the single sign-on of your company in Millrace:`,
    provider: 'Another identity provider, or another sign-in address of it, is trusted from now on.',
    certificates: 'Other certificates of the identity provider are trusted from now on.',
    idpInitiated: 'Sign-ins may begin at the identity provider, or lead to another application.',
    mapping: 'Users are recognised by other attributes of the identity provider.',
    required: 'Users of the verified domains must sign in through it; their passwords no longer work.',
    optional: 'Users of the verified domains may sign in with their passwords, too.',
    deleted: 'It was deleted: all users sign in with a password.',
    after: 'If none of you intended this, check the audit log and the settings of single sign-on.',
  },
  fr: {
    subject: 'La connexion unique de votre entreprise a été modifiée',
    author: (name: string) => `${name} a modifié la connexion unique de votre entreprise dans Millrace :`,
    provider:
      'Un autre fournisseur d’identité, ou une autre adresse de connexion de celui-ci, fait désormais autorité.',
    certificates: 'D’autres certificats du fournisseur d’identité font désormais autorité.',
    idpInitiated:
      'Les connexions peuvent commencer chez le fournisseur d’identité, ou mènent à une autre application.',
    mapping: 'Les utilisateurs sont reconnus par d’autres attributs du fournisseur d’identité.',
    required:
      'Les utilisateurs des domaines vérifiés doivent se connecter par lui ; leurs mots de passe ne fonctionnent plus.',
    optional: 'Les utilisateurs des domaines vérifiés peuvent aussi se connecter avec leur mot de passe.',
    deleted: 'Elle a été supprimée : tous les utilisateurs se connectent avec un mot de passe.',
    after:
      'Si aucun de vous ne l’a voulu, consultez le journal d’audit et les réglages de la connexion unique.',
  },
} as const satisfies Catalogue<Record<NoticedChange | 'subject' | 'author' | 'after', unknown>>

/** Mails what has changed; nothing where nothing has. */
export function createConfigNotice({
  enqueueMail,
}: Pick<IdentityContext, 'enqueueMail'>): NotifyAdministrators {
  return async (tx, companyId, author, changes) => {
    if (changes.length === 0) return
    await mailAdministrators(tx, enqueueMail, companyId, (language) => {
      const text = words[language]
      const before = [text.author(author), ...changes.map((change) => text[change]), text.after]
      return { subject: text.subject, before }
    })
  }
}
