import type { Catalogue, Language } from '../../../platform/i18n/language.ts'
import { emailTemplate } from '../../../platform/mail/email-template.ts'
import type { QueuedMail } from '../../../platform/mail/mail-queue.ts'

const words = {
  en: {
    subject: (name: string) => `${name}: the refresh has failed`,
    text: (name: string) =>
      `The rows of the datasource “${name}” could not be refreshed. The rows that were there stay in use. Further refreshes go ahead as planned; while they fail too, you get no further mail.`,
    reason: (reason: string) => `The reason: ${reason}`,
    open: 'Datasource',
  },
  fr: {
    subject: (name: string) => `${name} : l’actualisation a échoué`,
    text: (name: string) =>
      `Les lignes de la source de données « ${name} » n’ont pas pu être actualisées. Les lignes présentes restent utilisées. Les prochaines actualisations ont lieu comme prévu ; tant qu’elles échouent aussi, vous ne recevez pas d’autre e-mail.`,
    reason: (reason: string) => `La raison : ${reason}`,
    open: 'Source de données',
  },
} as const satisfies Catalogue<unknown>

/** Says that a refresh has failed. */
export function refreshFailedMail(
  { email, language }: { readonly email: string; readonly language: Language },
  notice: { readonly id: string; readonly name: string; readonly reason: string; readonly publicUrl: string },
): QueuedMail {
  const text = words[language]
  return {
    to: email,
    subject: text.subject(notice.name),
    ...emailTemplate({
      language,
      before: [text.text(notice.name), text.reason(notice.reason)],
      link: { label: text.open, url: `${notice.publicUrl}/v2/datasources/${notice.id}` },
    }),
  }
}
