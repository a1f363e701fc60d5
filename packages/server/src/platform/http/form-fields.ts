import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DomainError } from '../errors.ts'
import type { LocalizedText } from '../i18n/language.ts'
import { assertPlainUtf8 } from './body-headers.ts'
import { faults, wholeBody } from './form-faults.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Makes the error for a fault of the form, in the format of the route. */
export type FormErrorFactory = (path: string, fault: LocalizedText) => DomainError

function decode(text: string, createError: FormErrorFactory): string {
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '))
    if (!decoded.includes('\0')) return decoded
  } catch {
    // Falls through to the one refusal.
  }
  throw createError(wholeBody, faults.notEncodedText)
}

/** Beyond what any OAuth client sends; each field costs more than its bytes. */
const maxFields = 100

/**
 * Reads `application/x-www-form-urlencoded`. Unlike `URLSearchParams` it refuses bytes that are not UTF-8
 * instead of replacing them, and names that come twice (RFC 6749 3.2).
 */
export function parseFormBody(body: Buffer, createError: FormErrorFactory): Record<string, string> {
  let text: string
  try {
    text = decoder.decode(body)
  } catch {
    throw createError(wholeBody, faults.notEncoded)
  }
  const fields = new Map<string, string>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    if (fields.size === maxFields) throw createError(wholeBody, faults.tooManyFields(maxFields))
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at), createError)
    if (fields.has(name)) throw createError(name, faults.twice)
    fields.set(name, at < 0 ? '' : decode(pair.slice(at + 1), createError))
  }
  return Object.fromEntries(fields)
}

/** Reads forms in this scope; the body is their fields. */
export function takeForms(
  scope: FastifyInstance,
  createError: FormErrorFactory,
  options: { readonly bodyLimit?: number } = {},
): void {
  const parse = async (request: FastifyRequest, body: Buffer) => {
    assertPlainUtf8(request.headers)
    return parseFormBody(body, createError)
  }
  scope.addContentTypeParser('application/x-www-form-urlencoded', { ...options, parseAs: 'buffer' }, parse)
}
