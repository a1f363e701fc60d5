import { DomainError } from '../../platform/errors.ts'
import type { ResultFormat } from './query/shape.ts'

/** The form of a result: in the envelope, or bare and streamed. */
export interface WantedResult {
  readonly format: ResultFormat
  readonly streamed: boolean
}

const offered = ['application/json', 'text/csv', 'application/x-ndjson'] as const
type Offered = (typeof offered)[number]

/** Content types of bare results. */
export const bareTypes: Readonly<Record<'csv' | 'ndjson', string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

/**
 * Reads `Accept` and `format` of the query operation (docs/interface.md, Operations): a bare result for
 * `text/csv` or `application/x-ndjson`, else the envelope, with CSV inside for `format=csv`.
 * @throws {DomainError} `notAcceptable`
 */
export function readWantedResult(accept: string | undefined, format: 'csv' | undefined): WantedResult {
  switch (preferredType(accept)) {
    case 'text/csv':
      return { format: 'csv', streamed: true }
    case 'application/x-ndjson':
      return { format: 'ndjson', streamed: true }
    case 'application/json':
      return { format: format ?? 'json', streamed: false }
  }
}

/** RFC 9110 12.5.1: the highest weight wins, of equal ones the type offered first; a range covers what it names. */
function preferredType(accept: string | undefined): Offered {
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
