import type { FastifyInstance } from 'fastify'
import { DomainError } from '../errors.ts'
import { faultOfText } from '../text/stored-text.ts'
import { assertPlainUtf8 } from './body-headers.ts'
import { validationError } from './validation.ts'

/** What a JSON document may have; more is refused before it is parsed. */
export interface JsonBounds {
  /** Of nesting; at most 32, which nothing in the interface reaches. */
  readonly levels: number
  /** Of one object. */
  readonly keys: number
  /** Values after the first one, in all objects and lists together. */
  readonly values: number
}

/** Nothing in the interface comes near: more of them are only meant to cost time. */
const ordinaryBounds: JsonBounds = { levels: 32, keys: 1_000, values: 250_000 }

const decoder = new TextDecoder('utf-8', { fatal: true })

function tooComplex(limit: string, message: string): DomainError {
  return new DomainError('tooComplex', { limit }, { message: `The body ${message}` })
}

/**
 * Counts without building anything, and stops at the first excess.
 * @throws DomainError `tooComplex`
 */
function assertBounds(text: string, { levels, keys, values }: JsonBounds): void {
  const keysAt = new Uint32Array(levels + 1)
  let depth = 0
  let seen = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (quoted) {
      if (c === 0x5c) i++
      else if (c === 0x22) quoted = false
    } else if (c === 0x22) quoted = true
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > levels) throw tooComplex(`${levels} levels`, `nests deeper than ${levels} levels`)
      keysAt[depth] = 0
    } else if (c === 0x7d || c === 0x5d) depth--
    else if (c === 0x3a) {
      const count = (keysAt[depth] ?? 0) + 1
      keysAt[depth] = count
      if (count > keys) throw tooComplex(`${keys} keys`, `has an object with more than ${keys} keys`)
    } else if (c === 0x2c && ++seen > values)
      throw tooComplex(`${values} values`, `has more than ${values} values`)
  }
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
