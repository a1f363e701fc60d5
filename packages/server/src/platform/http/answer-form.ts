import { type ExportType, exportTypesOf, onlyTypeOf } from '@millrace/contract/export-types.ts'
import type { Operation } from '@millrace/contract/operation.ts'
import type { FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'
import { assertMayExport } from '../statistics-rights.ts'

/** The form of an answer: in the envelope, or bare. */
export interface AnswerForm {
  readonly format: 'json' | 'csv' | 'ndjson'
  readonly bare: boolean
}

/** Content types of bare answers. */
export const bareTypes: Readonly<Record<'csv' | 'ndjson', string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

const forms = {
  'application/json': { format: 'json', bare: false },
  'text/csv': { format: 'csv', bare: true },
  'application/x-ndjson': { format: 'ndjson', bare: true },
} as const satisfies Record<'application/json' | ExportType, AnswerForm>
type Offered = keyof typeof forms

/**
 * How an operation chooses the form of each answer: what its contract offers, by `Accept` and `format` of the request.
 * Every form but JSON in the envelope is an export.
 * @returns a function that throws {DomainError} `notAcceptable`, or `forbidden` for an export without the permission
 */
export function answerFormOf(operation: Operation): (request: FastifyRequest) => AnswerForm {
  const exported = exportTypesOf(operation)
  const [onlyType] = exported
  const offered: readonly Offered[] = ['application/json', ...exported]
  const isJsonOffered = onlyTypeOf(operation) === undefined

  function choose({ headers, query }: FastifyRequest): AnswerForm {
    if (!isJsonOffered && onlyType) return forms[onlyType]
    const { format } = query as { readonly format?: unknown }
    return readAnswerForm(offered, headers.accept, format === 'csv' ? format : undefined)
  }

  if (!onlyType) return () => forms['application/json']
  return (request) => {
    const form = choose(request)
    if (form.format !== 'json') assertMayExport(request.principal)
    return form
  }
}

/**
 * Reads `Accept` and `format` (docs/interface.md, Operations): a bare answer where another type than JSON is preferred,
 * else the envelope, with CSV inside for `format=csv`.
 * @throws {DomainError} `notAcceptable`
 */
export function readAnswerForm(
  offered: readonly Offered[],
  accept: string | undefined,
  format: 'csv' | undefined,
): AnswerForm {
  const form = forms[preferredType(offered, accept)]
  return form.bare || format === undefined ? form : { format, bare: false }
}

/** RFC 9110 12.5.1: the highest weight wins, of equal ones the type offered first; a range covers what it names. */
function preferredType(offered: readonly Offered[], accept: string | undefined): Offered {
  if (accept === undefined || accept.trim() === '') return 'application/json'
  const ranges = accept.split(',').slice(0, 100).map(readRange)
  let best: Offered | undefined
  let bestWeight = 0
  for (const type of offered) {
    const weight = weightOf(type, ranges)
    if (weight > bestWeight) {
      best = type
      bestWeight = weight
    }
  }
  if (!best) throw new DomainError('notAcceptable', { offered: [...offered] })
  return best
}

interface MediaRange {
  readonly range: string
  readonly weight: number
}

function readRange(text: string): MediaRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))
  const weight = quality === undefined ? 1 : Number(quality.slice(2))
  return { range, weight: weight >= 0 && weight <= 1 ? weight : 0 }
}

/** The weight of the most specific range that covers the type. */
function weightOf(type: Offered, ranges: readonly MediaRange[]): number {
  const family = `${type.slice(0, type.indexOf('/'))}/*`
  for (const pattern of [type, family, '*/*']) {
    const covering = ranges.find(({ range }) => range === pattern)
    if (covering) return covering.weight
  }
  return 0
}
