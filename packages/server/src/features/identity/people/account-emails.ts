import type { Language } from '../../../platform/i18n/language.ts'
import { type EmailTemplate, emailTemplate } from '../../../platform/mail/email-template.ts'
import type { EnqueueMail } from '../../../platform/mail/mail-queue.ts'
import type { Mail } from '../../../platform/mail/outbox.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { createPeopleStore } from './people-store.ts'

type Content = Pick<Mail, 'subject' | 'text' | 'html'>

const compose = (subject: string, content: EmailTemplate): Content => ({ subject, ...emailTemplate(content) })

/** With the link to choose a new password. */
export function resetEmail(language: Language, url: string): Content {
  const words = {
    en: {
      subject: 'Choose a new password',
      before: ['A new password was asked for your account. With this link you choose one:'],
      label: 'Choose a new password',
      after: [
        'The link works once, within 30 minutes. Your present password stays valid until then.',
        'If you did not ask for it, there is nothing to do.',
      ],
    },
    fr: {
      subject: 'Choisir un nouveau mot de passe',
      before: [
        'Un nouveau mot de passe a été demandé pour votre compte. Ce lien vous permet de le choisir :',
      ],
      label: 'Choisir un nouveau mot de passe',
      after: [
        'Le lien fonctionne une seule fois, pendant 30 minutes. D’ici là, votre mot de passe actuel reste valable.',
        'Si vous n’avez rien demandé, vous n’avez rien à faire.',
      ],
    },
  }[language]
  const { subject, before, label, after } = words
  return compose(subject, { language, before, link: { label, url }, after })
}

/** A notice that the password was changed, so that the owner notices an intruder. */
export function passwordChangedEmail(language: Language): Content {
  const words = {
    en: {
      subject: 'Your password was changed',
      before: [
        'The password of your account was just changed, and you were signed out elsewhere.',
        'If it was not you, choose a new password on the sign-in page at once and tell your administrator.',
      ],
    },
    fr: {
      subject: 'Votre mot de passe a été modifié',
      before: [
        'Le mot de passe de votre compte vient d’être modifié et vos autres sessions ont été fermées.',
        'Si ce n’était pas vous, choisissez tout de suite un nouveau mot de passe sur la page de connexion et prévenez votre administrateur.',
      ],
    },
  }[language]
  return compose(words.subject, { language, before: words.before })
}

export interface InvitationText {
  readonly company: string
  /** Address of the user who invites. */
  readonly inviter: string
  readonly url: string
  /** How the user signs in: not at all with an address that signs in to an account of another company. */
  readonly way: 'password' | 'single-sign-on' | 'none'
}

/** With the link for the first sign-in. */
export function invitationEmail(language: Language, invitation: InvitationText): Content {
  const { company, inviter, url, way } = invitation
  const choosesPassword = way === 'password'
  const words = {
    en: {
      subject: 'You are invited to Millrace',
      before: [`${inviter} invites you to work with ${company} on Millrace.`],
      label: choosesPassword ? 'Choose a password' : 'Sign in',
      after: choosesPassword
        ? ['The link works once, within 7 days.']
        : ['You sign in with the account that you have at your company.'],
      elsewhere: [
        'Your address belongs to another company on Millrace already, and can sign in to one account only.',
        'To accept, ask for an invitation to another address. Your present account stays as it is, and the company that invites you was not informed of it.',
      ],
    },
    fr: {
      subject: 'Vous êtes invité à rejoindre Millrace',
      before: [`${inviter} vous invite à travailler avec ${company} sur Millrace.`],
      label: choosesPassword ? 'Choisir un mot de passe' : 'Se connecter',
      after: choosesPassword
        ? ['Le lien fonctionne une seule fois, pendant 7 jours.']
        : ['Vous vous connectez avec le compte de votre entreprise.'],
      elsewhere: [
        'Votre adresse appartient déjà à une autre entreprise sur Millrace et ne peut ouvrir qu’un seul compte.',
        'Pour accepter, demandez une invitation à une autre adresse. Votre compte actuel reste inchangé et l’entreprise qui vous invite n’en a pas été informée.',
      ],
    },
  }[language]
  const { subject, before, label, after, elsewhere } = words
  if (way === 'none') return compose(subject, { language, before: [...before, ...elsewhere] })
  return compose(subject, { language, before, link: { label, url }, after })
}

/** Inside a transaction: a mail to each administrator of the company, in that user's language. */
export async function mailAdministrators(
  tx: Queries,
  enqueueMail: EnqueueMail,
  companyId: string,
  contentIn: (language: Language) => { readonly subject: string; readonly before: readonly string[] },
): Promise<void> {
  for (const { email, language } of await createPeopleStore(tx).listAdministrators(companyId)) {
    const { subject, before } = contentIn(language)
    await enqueueMail(tx, companyId, { to: email, ...compose(subject, { language, before }) })
  }
}
