import type { GuidedAnalysisName } from '@millrace/contract/resources/report.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { Catalogue, Language } from '../../../platform/i18n/language.ts'
import { emailTemplate } from '../../../platform/mail/email-template.ts'
import type { QueuedMail } from '../../../platform/mail/mail-queue.ts'
import type { StoredReport } from '../report-store.ts'

/** Who gets a mail. */
export interface MailReader {
  readonly email: string
  readonly language: Language
}

const analyses: Catalogue<Readonly<Record<GuidedAnalysisName, string>>> = {
  en: { impact: 'Impact', revenue: 'Revenue', engagement: 'Engagement', retention: 'Retention' },
  fr: { impact: 'Impact', revenue: 'Chiffre d’affaires', engagement: 'Engagement', retention: 'Fidélité' },
}

const words = {
  en: {
    subject: (title: string, key: string) => `${title}: report for ${key}`,
    limited: 'Some of what was asked could not be answered; the report says what.',
    supersedes: 'This report stands in the place of one that you got before.',
    open: 'The whole report',
    why: (owner: string) => `You get this mail because ${owner} put your address on the list of this report.`,
    failedSubject: (analysis: string, key: string) => `${analysis}: the report for ${key} has failed`,
    failed: 'The report below could not be made. Nothing was sent to its recipients.',
    pausedSubject: (analysis: string) => `${analysis}: the automatic report is paused`,
    paused: 'The automatic report is paused. It goes on once it is enabled again.',
    settings: 'Settings of automatic reports',
    reason: (reason: string) => `The reason: ${reason}`,
  },
  fr: {
    subject: (title: string, key: string) => `${title} : rapport ${key}`,
    limited: 'Une partie de ce qui était demandé n’a pas pu être traitée ; le rapport dit laquelle.',
    supersedes: 'Ce rapport remplace celui que vous avez reçu auparavant.',
    open: 'Le rapport complet',
    why: (owner: string) =>
      `Vous recevez cet e-mail parce que ${owner} a inscrit votre adresse parmi les destinataires de ce rapport.`,
    failedSubject: (analysis: string, key: string) => `${analysis} : le rapport ${key} a échoué`,
    failed: 'Le rapport ci-dessous n’a pas pu être produit. Rien n’a été envoyé à ses destinataires.',
    pausedSubject: (analysis: string) => `${analysis} : le rapport automatique est suspendu`,
    paused: 'Le rapport automatique est suspendu. Il reprend dès qu’il est réactivé.',
    settings: 'Paramètres des rapports automatiques',
    reason: (reason: string) => `La raison : ${reason}`,
  },
} as const satisfies Catalogue<unknown>

/** Characters of the summary that a mail carries; the report has the rest. */
const maxSummary = 4_000

/**
 * Names of members and labels come from events, which anybody can send: with a joiner, which is not seen, no reader of
 * mails makes a link of an address in them.
 */
const unlinked = (text: string) => text.replace(/[.:/@](?=[\p{L}/])/gu, '$&\u2060')

/** The texts of the summary, or of the first section where there is none. */
function summaryOf(sections: readonly ReportSection[]): string[] {
  const section = sections.find(({ kind }) => kind === 'summary') ?? sections[0]
  let left = maxSummary
  return (section?.paragraphs ?? []).flatMap(({ text }) => {
    const shown = text.slice(0, Math.max(0, left))
    left -= text.length
    return shown === '' ? [] : [unlinked(shown)]
  })
}

const addressOf = (publicUrl: string, id: string) => `${publicUrl}/v2/statistics/reports/${id}`

/** The mail that brings a report, in the language of the report. */
export function reportMail(
  { email }: MailReader,
  report: StoredReport,
  { sections, owner, publicUrl }: { sections: readonly ReportSection[]; owner: string; publicUrl: string },
): QueuedMail {
  const { id, title, periodKey, slug, locale, publicationQuality, supersedesId } = report
  const text = words[locale]
  return {
    to: email,
    subject: text.subject(title ?? analyses[locale][slug ?? 'revenue'], periodKey ?? ''),
    ...emailTemplate({
      language: locale,
      before: [
        ...summaryOf(sections),
        ...(publicationQuality === 'limited' ? [text.limited] : []),
        ...(supersedesId === null ? [] : [text.supersedes]),
      ],
      link: { label: text.open, url: addressOf(publicUrl, id) },
      after: [text.why(owner)],
    }),
  }
}

/** Notifies the owner that a report has failed. */
export function failureMail(
  { email, language }: MailReader,
  { id, slug, periodKey }: StoredReport,
  { reason, publicUrl }: { reason: string; publicUrl: string },
): QueuedMail {
  const text = words[language]
  return {
    to: email,
    subject: text.failedSubject(analyses[language][slug ?? 'revenue'], periodKey ?? ''),
    ...emailTemplate({
      language,
      before: [text.failed, text.reason(reason)],
      link: { label: text.open, url: addressOf(publicUrl, id) },
    }),
  }
}

/** Notifies the owner that no further reports are made. */
export function pauseMail(
  { email, language }: MailReader,
  { slug, reason, publicUrl }: { slug: GuidedAnalysisName; reason: string; publicUrl: string },
): QueuedMail {
  const text = words[language]
  return {
    to: email,
    subject: text.pausedSubject(analyses[language][slug]),
    ...emailTemplate({
      language,
      before: [text.paused, text.reason(reason)],
      link: { label: text.settings, url: `${publicUrl}/v2/statistics/reports/settings` },
    }),
  }
}
