import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'

// What a query of rows means, computed plainly.

export type PlainRow = Readonly<Record<string, unknown>>

const units: Readonly<Record<string, number>> = {
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
}

const instantOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? Date.parse(value) : undefined
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

function matchesLeaf(
  row: PlainRow,
  field: WorkerField,
  operator: string,
  operand: unknown,
  now: number,
): boolean {
  const value = row[field.name]
  const values = Array.isArray(value) ? value : value === undefined ? [] : [value]
  const wanted = Array.isArray(operand) ? operand : [operand]
  const fold = (text: unknown) => String(text).toLowerCase()
  const some = (test: (each: unknown) => boolean) => values.some(test)
  const compare = (test: (a: number, b: number) => boolean) => {
    const [a, b] = [instantOf(value), instantOf(operand)]
    return a !== undefined && b !== undefined && test(a, b)
  }
  const within = (isFuture: boolean) => {
    const [[unit, count] = ['', 0]] = Object.entries(operand as Record<string, number>)
    const span = (units[unit] ?? 0) * count
    const instant = instantOf(value)
    if (instant === undefined) return false
    return isFuture ? instant >= now && instant <= now + span : instant >= now - span && instant <= now
  }
  switch (operator) {
    case '$empty':
      return isEmpty(value) === operand
    case '$eq':
    case '$neq':
      return operand === null ? isEmpty(value) : some((each) => wanted.includes(each))
    case '$ne':
    case '$nne':
      return operand === null ? !isEmpty(value) : !some((each) => wanted.includes(each))
    case '$contains':
      return some((each) => fold(each).includes(fold(operand)))
    case '$notcontains':
      return !some((each) => fold(each).includes(fold(operand)))
    case '$startswith':
      return some((each) => fold(each).startsWith(fold(operand)))
    case '$endswith':
      return some((each) => fold(each).endsWith(fold(operand)))
    case '$lt':
      return compare((a, b) => a < b)
    case '$lte':
      return compare((a, b) => a <= b)
    case '$gt':
      return compare((a, b) => a > b)
    case '$gte':
      return compare((a, b) => a >= b)
    case '$rangepast':
      return within(false)
    case '$rangefuture':
      return within(true)
    case '$nrangepast':
      return !within(false)
    default:
      return !within(true)
  }
}

/** Whether a row matches a tree that conforms to docs/datasources.md, Query. */
export function matches(row: PlainRow, tree: object, fields: readonly WorkerField[], now: number): boolean {
  const [entry] = Object.entries(tree)
  if (!entry) return true
  const [name, value] = entry
  if (name === '$and') return (value as object[]).every((each) => matches(row, each, fields, now))
  if (name === '$or') return (value as object[]).some((each) => matches(row, each, fields, now))
  const field = fields.find((each) => each.name === name)
  const [[operator, operand] = ['', undefined]] = Object.entries(value as object)
  return field !== undefined && matchesLeaf(row, field, operator, operand, now)
}
