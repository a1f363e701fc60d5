import { createHmac, randomBytes } from 'node:crypto'
import { isPlaceholder } from '@millrace/contract/events/placeholders.ts'
import type { WallClock } from '../compile/values.ts'
import { mailClientOf } from './mail-clients.ts'
import type { RunnerSender, RunRequest } from './run-request.ts'

/** Parameters that the runner itself reads (docs/workflows.md, Addresses). */
export const reservedPrefix = 'trk-'
export const modeParameter = 'mode'
export const redirectParameter = 'trk-redirect'
export const shownParameter = 'trk-shown'

const maxParameters = 100
const maxNameLength = 200
export const maxValueLength = 2_000
const maxValues = 200
/** Of an identifier, as events have it. */
const maxIdLength = 512
const maxPageLength = 8_192

/** What a sending tool leaves where it has no value for a recipient, or did not replace. */
const mergeExpression =
  /^\s*(\{\{.*\}\}|\{%.*%\}|%%.*%%|\*\|.*\|\*|\[%.*%\]|\[\[.*\]\]|\$\{.*\}|<%.*%>|%[A-Z_]+%)\s*$/s

export type Query = Readonly<Record<string, unknown>>

/** What is known of the one who asks. */
export interface Asker {
  readonly userAgent: string | undefined
  readonly address: string
  readonly referer: string | undefined
  readonly sender: RunnerSender
}

/** Parameters by name, bounded in number and length; the first of them are kept. */
export function readParameters(query: Query): Map<string, readonly string[]> {
  const parameters = new Map<string, readonly string[]>()
  for (const name of Object.keys(query)) {
    if (parameters.size >= maxParameters) break
    if (name === '' || name.length > maxNameLength) continue
    const value = query[name]
    const values = (Array.isArray(value) ? value.slice(0, maxValues) : [value]).map((each) =>
      String(each).slice(0, name === 'trk-referer' ? maxPageLength : maxValueLength),
    )
    parameters.set(name, values)
  }
  return parameters
}

function identifier(parameters: ReadonlyMap<string, readonly string[]>, name: string): string | undefined {
  const text = parameters.get(name)?.[0]
  if (text === undefined || text === '' || isPlaceholder(text) || mergeExpression.test(text)) return undefined
  return text.slice(0, maxIdLength)
}

const localePattern = /^([a-z]{2})[-_]([a-z]{2})$/i

/** `lang_COUNTRY`, whichever way it is written. */
export function readLocale(text: string | undefined): string | undefined {
  const [, language, country] = localePattern.exec(text ?? '') ?? []
  return language === undefined || country === undefined
    ? undefined
    : `${language.toLowerCase()}_${country.toUpperCase()}`
}

/** Of which nothing can be computed back, and which is another one in every process and on every day. */
const anonymousSecret = randomBytes(32)

function anonymousId(address: string, userAgent: string | undefined, now: number): string {
  const day = Math.floor(now / 86_400_000)
  const hash = createHmac('sha256', anonymousSecret).update(`${day}\n${address}\n${userAgent ?? ''}`)
  return `anonymous-${hash.digest('hex').slice(0, 24)}`
}

/** What a run is given by an address and its headers. */
export function readRunRequest(query: Query, asker: Asker, now: number, clock: WallClock): RunRequest {
  const parameters = readParameters(query)
  const client = identifier(parameters, 'trk-u')
  const device = identifier(parameters, 'trk-t')
  const tmpId = device ?? client ?? anonymousId(asker.address, asker.userAgent, now)
  return {
    parameters,
    person: { client, device },
    unit: client ?? tmpId,
    tmpId,
    locale: readLocale(identifier(parameters, 'trk-l')),
    sender: asker.sender,
    mailClient: mailClientOf(asker.userAgent),
    page: (parameters.get('trk-referer')?.[0] || asker.referer || '').slice(0, maxPageLength),
    now,
    clock,
  }
}

/** The identity text of a reserved parameter, for events: without what stands for an absent value. */
export const messageOf = ({ parameters }: RunRequest): string | undefined => identifier(parameters, 'trk-m')
export const languageOf = ({ parameters, locale }: RunRequest): string | undefined =>
  locale ?? identifier(parameters, 'trk-l')
