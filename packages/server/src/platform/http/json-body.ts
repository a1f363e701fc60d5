import type { FastifyInstance } from 'fastify'
import { DomainError } from '../errors.ts'
import { faultOfText } from '../text/stored-text.ts'
import { assertPlainUtf8 } from './body-headers.ts'
import { createJsonCounter, type JsonBounds } from './json-bounds.ts'
import { validationError } from './validation.ts'

/** Nothing in the interface comes near: more of them are only meant to cost time. No bounds have more levels. */
const ordinaryBounds: JsonBounds = { levels: 32, keys: 1_000, values: 250_000 }

const decoder = new TextDecoder('utf-8', { fatal: true })

const excesses: Readonly<Record<keyof JsonBounds, (bound: number) => string>> = {
  levels: (bound) => `nests deeper than ${bound} levels`,
  keys: (bound) => `has an object with more than ${bound} keys`,
  values: (bound) => `has more than ${bound} values`,
}

/** @throws DomainError `tooComplex` */
function assertBounds(text: string, bounds: JsonBounds): void {
  const excess = createJsonCounter(bounds)(text)
  if (excess === undefined) return
  const bound = bounds[excess]
  throw new DomainError(
    'tooComplex',
    { limit: `${bound} ${excess}` },
    { message: `The body ${excesses[excess](bound)}` },
  )
}

function assertStorable(text: string, path: string): void {
  const message = faultOfText(text)
  if (message !== undefined) throw validationError([{ path, message }])
}

/** Checks every text and removes the keys that would reach an object's prototype. */
function clean(value: unknown, path: string): void {
  if (typeof value === 'string') assertStorable(value, path || 'body')
  else if (Array.isArray(value))
    for (const [i, each] of value.entries()) clean(each, path ? `${path}.${i}` : String(i))
  else if (value !== null && typeof value === 'object') {
    for (const key of Object.keys(value)) {
      if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
        delete (value as Record<string, unknown>)[key]
        continue
      }
      assertStorable(key, path || 'body')
      clean((value as Record<string, unknown>)[key], path ? `${path}.${key}` : key)
    }
  }
}

/** What bodies of one scope must keep to beyond what all must. */
export interface JsonRules {
  readonly bounds?: JsonBounds
  /** Throws for a text that is not to be parsed. */
  readonly check?: (text: string) => void
}

/**
 * Reads the body of an interface call: UTF-8 (with or without a byte order mark), one JSON document
 * within the bounds, no text that a store could not keep. Of repeated keys the last one holds.
 * @throws DomainError `malformed`, `tooComplex` or `validation`
 */
function parseJsonBody(body: Buffer, { bounds = ordinaryBounds, check = () => {} }: JsonRules): unknown {
  let text: string
  try {
    text = decoder.decode(body)
  } catch {
    throw new DomainError(
      'malformed',
      {},
      { message: 'The body is not valid UTF-8; send JSON encoded as UTF-8' },
    )
  }
  check(text)
  assertBounds(text, bounds)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const where = cause instanceof SyntaxError ? cause.message.replace(/^JSON\.parse: /, '') : ''
    throw new DomainError('malformed', {}, { message: `The body is not valid JSON: ${where}`, cause })
  }
  clean(value, '')
  return value
}

/** Reads bodies of the content type as JSON; an empty one is undefined. */
export function takeJsonBodies(app: FastifyInstance, contentType: string, rules: JsonRules = {}): void {
  app.addContentTypeParser(contentType, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      assertPlainUtf8(request.headers)
      done(null, body.length === 0 ? undefined : parseJsonBody(body as Buffer, rules))
    } catch (error) {
      done(error as Error)
    }
  })
}
