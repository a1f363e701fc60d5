import { exampleOf, type SchemaLike } from '@millrace/contract/openapi/example-of.ts'
import type { Operation } from '@millrace/contract/operation.ts'

export interface Addresses {
  /** Base of the interface, ending in `/v2`, without a trailing slash. */
  readonly baseUrl: string
  /** Base of the collector, without a trailing slash. */
  readonly collectorUrl: string
}

/** The address of the service itself, without the `/v2` of its interface. */
export function publicUrlOf({ baseUrl }: Pick<Addresses, 'baseUrl'>): string {
  return baseUrl.replace(/\/v2$/, '')
}

/** A word of a POSIX shell that stands for exactly this text. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

const lineWidth = 76

function oneLine(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${oneLine(each)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** JSON for readers: an object or array that fits is written on one line. */
export function readableJson(value: unknown, indent = ''): string {
  const flat = oneLine(value)
  if (value === null || typeof value !== 'object' || indent.length + flat.length <= lineWidth) return flat
  const inner = `${indent}  `
  const lines = Array.isArray(value)
    ? value.map((each) => `${inner}${readableJson(each, inner)}`)
    : Object.entries(value).map(
        ([key, each]) => `${inner}${JSON.stringify(key)}: ${readableJson(each, inner)}`,
      )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, SchemaLike>>
  readonly required?: readonly string[]
}

/** The address of an operation with example values for its path and for the parameters that it needs. */
function exampleUrl(operation: Operation, addresses: Addresses): string {
  const params = ((operation.schema.params ?? operation.described?.params) as ObjectSchema | undefined)
    ?.properties
  const path = operation.url.replaceAll(/:(\w+)/g, (_match, name: string) =>
    encodeURIComponent(String(exampleOf(params?.[name] ?? {}) ?? name)),
  )
  const base = operation.scope === 'collector' ? addresses.collectorUrl : publicUrlOf(addresses)
  const query = new URLSearchParams()
  const querystring = operation.schema.querystring as ObjectSchema | undefined
  for (const name of querystring?.required ?? []) {
    for (const value of [exampleOf(querystring?.properties?.[name] ?? {})].flat())
      query.append(name, String(value))
  }
  return `${base}${path}${query.size > 0 ? `?${query}` : ''}`
}

/**
 * The operation as a curl command that can be pasted, with this body. The token is read from `$TOKEN`.
 */
export function curlCommand(operation: Operation, addresses: Addresses, body?: unknown): string {
  const parts = [`curl -sS ${shellQuote(exampleUrl(operation, addresses))}`]
  const method = body === undefined ? 'GET' : 'POST'
  if (operation.method !== method)
    parts[0] = `curl -sS -X ${operation.method}${parts[0]?.slice('curl -sS'.length)}`
  if (operation.scope === 'authenticated') parts.push(`-H "Authorization: Bearer $TOKEN"`)
  if (body !== undefined) {
    const [type = 'application/json'] = operation.consumes ?? []
    if (type === 'application/x-www-form-urlencoded') {
      for (const [name, value] of Object.entries(body as Record<string, unknown>)) {
        parts.push(`--data-urlencode ${shellQuote(`${name}=${String(value)}`)}`)
      }
    } else {
      parts.push(`-H 'Content-Type: ${type}'`, `-d ${shellQuote(readableJson(body, '  '))}`)
    }
  }
  return parts.join(' \\\n  ')
}
