import type { SavedQueryRun } from '@millrace/contract/resources/saved-query-run.ts'
import type { Catalogue, Language } from '../../../platform/i18n/language.ts'
import { emailTemplate } from '../../../platform/mail/email-template.ts'
import type { QueuedMail } from '../../../platform/mail/mail-queue.ts'
import type { Zone } from '../../analytics/query/time/zone.ts'

export type RunResult = SavedQueryRun['results'][number]

/** Who gets a mail. */
export interface Reader {
  readonly email: string
  readonly language: Language
}

/** What was run. */
export interface Delivery {
  readonly savedQueryId: string
  readonly runId: string
  readonly name: string
  /** The address of who answers for it. */
  readonly owner: string
  readonly plannedFor: number
  readonly zone: Zone
  readonly results: readonly RunResult[]
  readonly publicUrl: string
}

export interface ScheduleNotice {
  readonly id: string
  readonly name: string
  readonly reason: string
  readonly publicUrl: string
}

/** Results of more bytes together come as links: mail servers refuse large mails, and base64 adds a third. */
export const maxMailBytes = 5_000_000

const english = new Intl.NumberFormat('en')
const french = new Intl.NumberFormat('fr')

const words = {
  en: {
    subject: (name: string, date: string) => `${name}: results of ${date}`,
    attached: (name: string, time: string) =>
      `Attached are the results of the saved query “${name}”, planned for ${time}.`,
    linked: (name: string, time: string) =>
      `The results of the saved query “${name}”, planned for ${time}, are too large for a mail. For 7 days they can be downloaded here by users whose role allows exports:`,
    rows: (count: number) => (count === 1 ? '1 row' : `${english.format(count)} rows`),
    firstRows: (count: number) =>
      `the first ${count === 1 ? 'row' : `${english.format(count)} rows`}: its limit leaves the others out`,
    why: (owner: string) => `You get this mail because ${owner} put your address on its schedule.`,
    open: 'Saved query',
    failedSubject: (name: string) => `${name}: the scheduled run has failed`,
    failed: (name: string) =>
      `The scheduled run of the saved query “${name}” has failed. Nothing was sent to its recipients. Its next runs go ahead as planned; while they fail too, you get no further mail.`,
    pausedSubject: (name: string) => `${name}: the schedule is paused`,
    paused: (name: string) =>
      `The schedule of the saved query “${name}” is paused. It runs again once you save an enabled schedule.`,
    undeliveredSubject: (name: string) => `${name}: a linked account does not take messages`,
    undelivered: (name: string) =>
      `The results of the saved query “${name}” could not be announced to one of your linked accounts, which its schedule leaves out from now on.`,
    reason: (reason: string) => `The reason: ${reason}`,
    message: (name: string, time: string) =>
      `The saved query “${name}”, planned for ${time}, has new results:`,
  },
  fr: {
    subject: (name: string, date: string) => `${name} : résultats du ${date}`,
    attached: (name: string, time: string) =>
      `Vous trouverez en pièces jointes les résultats de la requête enregistrée « ${name} », prévue pour ${time}.`,
    linked: (name: string, time: string) =>
      `Les résultats de la requête enregistrée « ${name} », prévue pour ${time}, sont trop volumineux pour un e-mail. Pendant 7 jours, les utilisateurs dont le rôle permet les exports peuvent les télécharger ici :`,
    rows: (count: number) => `${french.format(count)} ${count < 2 ? 'ligne' : 'lignes'}`,
    firstRows: (count: number) =>
      `${count === 1 ? 'la première ligne' : `les ${french.format(count)} premières lignes`} : sa limite écarte les autres`,
    why: (owner: string) =>
      `Vous recevez cet e-mail parce que ${owner} a inscrit votre adresse dans la planification de cette requête.`,
    open: 'Requête enregistrée',
    failedSubject: (name: string) => `${name} : l’exécution planifiée a échoué`,
    failed: (name: string) =>
      `L’exécution planifiée de la requête enregistrée « ${name} » a échoué. Rien n’a été envoyé à ses destinataires. Les prochaines exécutions ont lieu comme prévu ; tant qu’elles échouent aussi, vous ne recevez pas d’autre e-mail.`,
    pausedSubject: (name: string) => `${name} : la planification est suspendue`,
    paused: (name: string) =>
      `La planification de la requête enregistrée « ${name} » est suspendue. Elle reprend dès que vous enregistrez une planification active.`,
    undeliveredSubject: (name: string) => `${name} : un compte lié ne prend pas les messages`,
    undelivered: (name: string) =>
      `Les résultats de la requête enregistrée « ${name} » n’ont pas pu être annoncés à l’un de vos comptes liés, que la planification n’utilise plus.`,
    reason: (reason: string) => `La raison : ${reason}`,
    message: (name: string, time: string) =>
      `La requête enregistrée « ${name} », prévue pour ${time}, a de nouveaux résultats :`,
  },
} as const satisfies Catalogue<unknown>

const bytesOf = (results: readonly RunResult[]) => results.reduce((sum, { bytes }) => sum + bytes, 0)

/** `2026-02-02 07:30 (Europe/Paris)` */
function timeOf({ plannedFor, zone }: Pick<Delivery, 'plannedFor' | 'zone'>): string {
  return `${zone.format(plannedFor).slice(0, 16).replace('T', ' ')} (${zone.name})`
}

const addressOf = (publicUrl: string, id: string) => `${publicUrl}/v2/statistics/query/${id}`

/** Where a result can be downloaded. */
export function resultUrl({ publicUrl, savedQueryId, runId }: Delivery, { index }: RunResult): string {
  return `${addressOf(publicUrl, savedQueryId)}/runs/${runId}/results/${index}`
}

/** The source of an attachment, which `readSource` reads. */
export const sourceOf = (runId: string, attempt: number, index: number): string =>
  `${runId}/${attempt}/${index}`

export function readSource(source: string): { id: string; attempts: number; index: number } {
  const [id = '', attempt, index] = source.split('/')
  return { id, attempts: Number(attempt), index: Number(index) }
}

function lineOf(language: Language, { fileName, rows, isCut }: RunResult): string {
  const text = words[language]
  return `${fileName} (${isCut ? text.firstRows(rows) : text.rows(rows)})`
}

/** The mail that brings the results of an attempt, or links to them. */
export function resultMail({ email, language }: Reader, delivery: Delivery, attempt: number): QueuedMail {
  const { name, owner, results, runId, savedQueryId, publicUrl, plannedFor, zone } = delivery
  const text = words[language]
  const isAttached = bytesOf(results) <= maxMailBytes
  const lines = results.map((result) => {
    const line = lineOf(language, result)
    return isAttached ? line : `${line}: ${resultUrl(delivery, result)}`
  })
  return {
    to: email,
    subject: text.subject(name, zone.format(plannedFor).slice(0, 10)),
    ...emailTemplate({
      language,
      before: [(isAttached ? text.attached : text.linked)(name, timeOf(delivery)), ...lines],
      link: { label: text.open, url: addressOf(publicUrl, savedQueryId) },
      after: [text.why(owner)],
    }),
    ...(isAttached && {
      attachments: results.map(({ fileName, index }) => ({
        filename: fileName,
        contentType: 'text/csv; charset=utf-8; header=present',
        source: sourceOf(runId, attempt, index),
      })),
    }),
  }
}

function noticeMail(
  { email, language }: Reader,
  { id, name, reason, publicUrl }: ScheduleNotice,
  kind: 'failed' | 'paused' | 'undelivered',
): QueuedMail {
  const text = words[language]
  return {
    to: email,
    subject: text[`${kind}Subject`](name),
    ...emailTemplate({
      language,
      before: [text[kind](name), text.reason(reason)],
      link: { label: text.open, url: addressOf(publicUrl, id) },
    }),
  }
}

export const failureMail = (reader: Reader, notice: ScheduleNotice) => noticeMail(reader, notice, 'failed')
export const pauseMail = (reader: Reader, notice: ScheduleNotice) => noticeMail(reader, notice, 'paused')
export const undeliveredMail = (reader: Reader, notice: ScheduleNotice) =>
  noticeMail(reader, notice, 'undelivered')

/** What a linked account shows. */
export function messageText(language: Language, delivery: Delivery): string {
  const text = words[language]
  const lines = delivery.results.map(
    (result) => `${lineOf(language, result)}: ${resultUrl(delivery, result)}`,
  )
  return [text.message(delivery.name, timeOf(delivery)), ...lines].join('\n')
}
