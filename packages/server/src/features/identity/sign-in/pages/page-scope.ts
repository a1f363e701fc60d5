import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../../platform/errors.ts'
import { sendFailure, toDomainError } from '../../../../platform/http/failures.ts'
import { faults, pageFault } from '../../../../platform/http/form-faults.ts'
import { takeForms } from '../../../../platform/http/form-fields.ts'
import { requireNavigation } from '../../../../platform/http/navigation.ts'
import { languageOfRequest } from '../../../../platform/i18n/request-language.ts'
import { createLeakyBuckets } from '../../../../platform/limits/leaky-bucket.ts'
import { networkOf } from '../../../../platform/network-address.ts'
import { isOwnForm } from './cookies.ts'
import { failureText } from './page-failure.ts'
import { sendSignInPage } from './sign-in-page.ts'
import { messagePage } from './sign-in-pages.ts'
import { signInWords } from './sign-in-words.ts'

/** Fields of a form or parameters of an address, by name. */
export type Fields = ReadonlyMap<string, string>

/** Room for the longest state and address in the widest escapes. */
export const formBodyLimit = 64 * 1024

/** A user needs a handful of pages, an office behind one address some hundreds. */
const pagesPerMinute = 300

/** Whether the caller shows pages: it names `text/html`, and nothing else that is answered here at a higher weight. */
export function isBrowser(request: FastifyRequest): boolean {
  const weights = new Map<string, number>()
  for (const range of (request.headers.accept ?? '').split(',').slice(0, 50)) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    weights.set(type, given === undefined ? 1 : Number(given) || 0)
  }
  const html = weights.get('text/html') ?? 0
  return html > 0 && html >= (weights.get('application/json') ?? 0)
}

/** The parameters of an address that are texts, and what is wrong with the first one that is none. */
export function readQuery(request: FastifyRequest): { fields: Fields; misread: DomainError | undefined } {
  const fields = new Map<string, string>()
  let misread: DomainError | undefined
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    if (typeof value !== 'string') misread ??= pageFault(name, faults.twice)
    else if (value.includes('\0') || !value.isWellFormed()) misread ??= pageFault(name, faults.notText)
    else fields.set(name, value)
  }
  return { fields, misread }
}

/** @throws DomainError `validation` for a parameter that comes twice */
export function queryOf(request: FastifyRequest): Fields {
  const { fields, misread } = readQuery(request)
  if (misread) throw misread
  return fields
}

/** @throws DomainError `validation` for what is not known */
export function formOf(request: FastifyRequest, known: readonly string[]): Fields {
  const fields = new Map(Object.entries(request.body as Record<string, string>))
  for (const name of fields.keys()) {
    if (!known.includes(name)) throw pageFault(name, faults.unknown(known))
  }
  return fields
}

/** @throws DomainError `forbidden` for a form that a page of another site sent (docs/faults.md, E08) */
export function requireOwnForm(request: FastifyRequest, fields: Fields, publicUrl: string): void {
  if (isOwnForm(request, fields.get('form_token'), publicUrl)) return
  const message = 'This form was not sent by a page of this service, or the browser keeps no cookies'
  throw new DomainError('forbidden', {}, { message })
}

/** Whether a browser says that a page of another site sends this. */
function isFromElsewhere({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin'
}

/** Browsers get a page that says what is wrong, programs the fail envelope. */
function sendPageFailure(known: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isBrowser(request)) return sendFailure(reply, known)
  const language = languageOfRequest(request)
  const { refusedTitle: title, refusedLead, foreignForm } = signInWords[language]
  if (known.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(Math.ceil(known.retryAfterSeconds)))
  const { status } = known
  const isForeignForm = known.errorName === 'forbidden' && known.localizedMessage === undefined
  const what = isForeignForm ? foreignForm : failureText(known, language)
  // Only what was sent here is a mistake of the application; a failure of this moment is shown without that lead.
  const isClientError = status < 500 && status !== 429 && known.errorName !== 'forbidden'
  const text = isClientError ? { lead: refusedLead, detail: what } : { lead: what }
  return sendSignInPage(reply, messagePage(language, { title, ...text, status }))
}

export interface PageOptions {
  /** Where a failure leads to instead of a page, if anywhere. */
  readonly findReturn?: (error: DomainError, request: FastifyRequest) => string | undefined
}

/** A scope of pages: forms are its only bodies, callers are bounded, failures are pages for browsers. */
export function registerPages(
  app: FastifyInstance,
  { findReturn }: PageOptions,
  routes: (scope: FastifyInstance) => void,
): void {
  const calls = createLeakyBuckets({ free: pagesPerMinute, drainMs: 60_000 / pagesPerMinute })
  app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => {
      const known = toDomainError(error, request)
      const location = findReturn?.(known, request)
      if (location === undefined) return sendPageFailure(known, request, reply)
      return reply.header('cache-control', 'no-store').redirect(location, 303)
    })
    scope.addHook('onRequest', async (request) => {
      // What pages of other sites can cause without being seen does not count against this network.
      if (request.method !== 'POST' || isFromElsewhere(request)) requireNavigation(request)
      const retryAfter = calls.take(networkOf(request.ip))
      if (retryAfter > 0)
        throw new DomainError('tooManyRequests', { retryAfter }, { retryAfterSeconds: retryAfter })
    })
    scope.removeAllContentTypeParsers()
    takeForms(scope, pageFault, { bodyLimit: formBodyLimit })
    routes(scope)
  })
}
