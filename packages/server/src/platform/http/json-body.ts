import type { FastifyInstance } from 'fastify'
import { DomainError } from '../errors.ts'
import { assertPlainUtf8 } from './body-headers.ts'
import { faultOfText, validationError } from './validation.ts'

/** Deeper documents are refused before they are parsed: nothing in the interface nests this far. */
const maximumDepth = 32

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Levels of nesting in a JSON text, counted without building anything. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (quoted) {
      if (c === 0x5c) i++
      else if (c === 0x22) quoted = false
    } else if (c === 0x22) quoted = true
    else if (c === 0x7b || c === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (c === 0x7d || c === 0x5d) depth--
  }
  return deepest
}

function assertStorable(text: string, path: string): void {
  const message = faultOfText(text)
  if (message !== undefined) throw validationError([{ path, message }])
}

/** Checks every text and takes away the keys that would reach an object's prototype. */
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

/**
 * Reads the body of an interface call: UTF-8 (with or without a byte order mark), one JSON document,
 * at most 32 levels, no text that a store could not keep. Of repeated keys the last one holds.
 * @throws DomainError `malformed`, `tooComplex` or `validation`
 */
export function parseJsonBody(body: Buffer): unknown {
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
  if (depthOf(text) > maximumDepth) {
    throw new DomainError(
      'tooComplex',
      { limit: `${maximumDepth} levels` },
      { message: `The body nests deeper than ${maximumDepth} levels` },
    )
  }
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
export function takeJsonBodies(app: FastifyInstance, contentType: string): void {
  app.addContentTypeParser(contentType, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      assertPlainUtf8(request.headers)
      done(null, body.length === 0 ? undefined : parseJsonBody(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
}
