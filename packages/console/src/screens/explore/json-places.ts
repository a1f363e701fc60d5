import type { Meta } from '../../data/format.ts'
import { granularities, operatorsOf } from './query-state.ts'

/** Where something stands in a text. */
export interface Place {
  readonly from: number
  readonly to: number
}

type Step = string | number

interface Found {
  readonly path: readonly Step[]
  readonly place: Place
}

/**
 * The values of a JSON text with their paths and places, as far as it can be read: what follows a fault is not found.
 */
function valuesIn(text: string): { readonly values: readonly Found[]; readonly open: readonly Step[] } {
  const values: Found[] = []
  let at = 0
  const skip = () => {
    while (at < text.length && /\s/.test(text[at] ?? '')) at++
  }
  class Ended extends Error {}
  let open: readonly Step[] = []

  function string(): string {
    const from = at
    at++
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    at++
    try {
      return JSON.parse(text.slice(from, at)) as string
    } catch {
      return text.slice(from + 1, at - 1)
    }
  }

  function list(path: readonly Step[], close: string, item: (index: number) => void): void {
    at++
    for (let index = 0; ; index++) {
      skip()
      if (at >= text.length) {
        open = path
        throw new Ended()
      }
      if (text[at] === close) {
        at++
        return
      }
      const before = at
      item(index)
      skip()
      if (text[at] === ',') at++
      // Nothing that belongs here: what follows cannot be told apart.
      else if (at === before) at++
    }
  }

  function value(path: readonly Step[]): void {
    skip()
    const from = at
    const first = text[at]
    if (first === '{')
      list(path, '}', () => {
        if (text[at] !== '"') return
        const keyFrom = at
        const key = string()
        values.push({ path: [...path, key, '#key'], place: { from: keyFrom, to: at } })
        skip()
        if (text[at] !== ':') return
        at++
        value([...path, key])
      })
    else if (first === '[') list(path, ']', (index) => value([...path, index]))
    else if (first === '"') string()
    else while (at < text.length && !/[\s,\]}]/.test(text[at] ?? '')) at++
    values.push({ path, place: { from, to: Math.min(at, text.length) } })
  }

  try {
    value([])
  } catch (error) {
    if (!(error instanceof Ended)) throw error
  }
  return { values, open }
}

/** The place of what a fault names, or of the nearest that holds it. */
export function rangeOfPath(text: string, path: string): Place | undefined {
  const { values } = valuesIn(text)
  const steps = path === '' ? [] : path.split('.')
  // A key of an object may hold points, as members do.
  const known = new Map(values.map(({ path: found, place }) => [found.join('.'), place]))
  for (let length = steps.length; length > 0; length--) {
    const place = known.get(steps.slice(0, length).join('.'))
    if (place) return place
  }
  return known.get('')
}

/** The path of the innermost value that holds a position; keys of objects end in `#key`. */
export function pathAt(text: string, position: number): readonly Step[] {
  const { values, open } = valuesIn(text)
  const holding = values
    .filter(({ place }) => place.from < position && position <= place.to)
    .sort((a, b) => a.place.to - a.place.from - (b.place.to - b.place.from))
  return holding[0]?.path ?? open
}

export interface Choice {
  readonly label: string
  readonly detail?: string
  readonly info?: string
}

const keys = {
  query: [
    'measures',
    'dimensions',
    'filters',
    'timeDimensions',
    'order',
    'limit',
    'offset',
    'total',
    'fill',
    'timezone',
  ],
  filter: ['member', 'operator', 'values', 'and', 'or'],
  time: ['dimension', 'granularity', 'dateRange', 'compareDateRange'],
} as const

const ranges = [
  'today',
  'yesterday',
  'this month',
  'last month',
  'last 7 days',
  'last 30 days',
  'month to date',
  'year to date',
  'from 6 days ago to now',
  'from 29 days ago to now',
]

const named = (labels: readonly string[]): Choice[] => labels.map((label) => ({ label }))

/** What may stand at a place of a query. */
export function completionsAt(path: readonly Step[], isKey: boolean, meta: Meta): readonly Choice[] {
  const [first] = path
  const steps = path.filter((each) => each !== '#key')
  const last = steps.at(-1)
  const measures = () =>
    Object.entries(meta.measures).map(([label, { title, description }]) => ({
      label,
      detail: title,
      info: description,
    }))
  const dimensions = (isWanted: (type: string) => boolean) =>
    Object.entries(meta.dimensions)
      .filter(([, { type }]) => isWanted(type))
      .map(([label, { title, description }]) => ({ label, detail: title, info: description }))
  if (isKey || path.at(-1) === '#key') {
    if (first === 'timeDimensions') return named(keys.time)
    if (first === 'filters') return named(keys.filter)
    if (first === 'order') return [...measures(), ...dimensions(() => true)]
    return steps.length <= 1 ? named(keys.query) : []
  }
  switch (first) {
    case 'measures':
      return measures()
    case 'dimensions':
      return dimensions((type) => type !== 'time')
    case 'order':
      return last === 1 || typeof steps[1] === 'string'
        ? named(['asc', 'desc'])
        : [...measures(), ...dimensions(() => true)]
    case 'timeDimensions':
      if (last === 'dimension') return dimensions((type) => type === 'time')
      if (last === 'granularity') return named(granularities)
      return steps.includes('dateRange') || steps.includes('compareDateRange') ? named(ranges) : []
    case 'filters':
      if (last === 'member' || last === 'dimension') return [...dimensions(() => true), ...measures()]
      return last === 'operator' ? named(allOperators(meta)) : []
    default:
      return []
  }
}

const allOperators = (meta: Meta): string[] => [
  ...new Set(Object.keys(meta.dimensions).flatMap((id) => operatorsOf(meta, id))),
]
