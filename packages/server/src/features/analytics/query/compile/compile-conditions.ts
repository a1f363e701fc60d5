import type { FilterOperator } from '@millrace/contract/resources/query.ts'
import type { Dimension, PlainMeasure } from '../../catalogue/member.ts'
import { numberOf } from '../numbers.ts'
import { type FilterTree, isGroup, type MeasureFilter } from '../query.ts'
import type { TimeSet } from '../time/interval.ts'
import type { Parameters } from './parameters.ts'

const comparisons: Partial<Record<FilterOperator, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }

/** What `not…` operators negate. */
const positives: Partial<Record<FilterOperator, FilterOperator>> = {
  notEquals: 'equals',
  notContains: 'contains',
  notStartsWith: 'startsWith',
  notEndsWith: 'endsWith',
}

/** The condition of a tree, made of those of its filters. */
export function treeSql<T extends object>(tree: FilterTree<T>, leafSql: (filter: T) => string): string {
  if (!isGroup(tree)) return leafSql(tree)
  const parts = tree.filters.map((each) => `(${treeSql(each, leafSql)})`)
  return `(${parts.join(tree.join === 'and' ? ' AND ' : ' OR ')})`
}

/**
 * The condition of one filter on an expression of the dimension's type. Values are joined by or, those of
 * `not…` operators by and; an absent value passes only the `not…` ones.
 */
export function conditionOn(
  sql: string,
  dimension: Dimension,
  operator: FilterOperator,
  values: readonly string[],
  parameters: Parameters,
): string {
  if (operator === 'set') return dimension.nullable ? `isNotNull(${sql})` : '1'
  if (operator === 'notSet') return dimension.nullable ? `isNull(${sql})` : '0'
  const positive = positives[operator]
  const condition =
    dimension.type === 'boolean'
      ? booleanCondition(sql, values)
      : textCondition(sql, positive ?? operator, values, parameters)
  if (positive === undefined) return condition
  return dimension.nullable ? `NOT ifNull(${condition}, 0)` : `NOT (${condition})`
}

function booleanCondition(sql: string, values: readonly string[]): string {
  const [yes, no] = [values.includes('true'), values.includes('false')]
  if (yes && no) return '1'
  return yes ? sql : `NOT ${sql}`
}

/**
 * A text as it is compared without regard to case: its lower-case form. A capital sigma has two of them, which
 * count as one where a value holds any.
 */
function foldCase(sql: string, values: readonly string[]): string {
  const lower = `lowerUTF8(${sql})`
  return values.some((value) => /[Σσς]/.test(value)) ? `replaceAll(${lower}, 'ς', 'σ')` : lower
}

function textCondition(
  sql: string,
  operator: FilterOperator,
  values: readonly string[],
  parameters: Parameters,
): string {
  const [single] = values
  const one = values.length === 1 && single !== undefined
  switch (operator) {
    case 'equals':
      return one
        ? `${sql} = ${parameters.bind('String', single)}`
        : `${sql} IN ${parameters.bind('Array(String)', values)}`
    case 'contains':
    case 'startsWith':
    case 'endsWith': {
      const text = foldCase(sql, values)
      const holds = (value: string) =>
        operator === 'contains' ? `position(${text}, ${value}) > 0` : `${operator}(${text}, ${value})`
      if (one) return holds(foldCase(parameters.bind('String', single), values))
      const folded = `arrayMap(value -> ${foldCase('value', values)}, ${parameters.bind('Array(String)', values)})`
      return `arrayExists(value -> ${holds('value')}, ${folded})`
    }
    default:
      return either(values.map((value) => textComparison(sql, operator, value, parameters)))
  }
}

/** One condition as it is; several in parentheses, so that it can stand among others. */
function either(conditions: readonly string[]): string {
  const [only = ''] = conditions
  return conditions.length <= 1 ? only : `(${conditions.map((each) => `(${each})`).join(' OR ')})`
}

/**
 * Texts are compared with a number as numbers, of which those that are none are absent, infinities too; with any
 * other text by their bytes, as dates and versions sort.
 */
function textComparison(
  sql: string,
  operator: FilterOperator,
  value: string,
  parameters: Parameters,
): string {
  const sign = signOf(operator)
  const number = numberOf(value)
  if (number === undefined) return `${sql} ${sign} ${parameters.bind('String', value)}`
  const read = `toFloat64OrNull(${sql})`
  return `ifNull(isFinite(${read}) AND ${read} ${sign} ${parameters.bind('Float64', number)}, 0)`
}

function signOf(operator: FilterOperator): string {
  const sign = comparisons[operator]
  if (sign === undefined) throw new Error(`${operator} compares nothing`)
  return sign
}

/** The condition of one filter on the aggregated column of a measure, in exact decimals. */
export function measureCondition(sql: string, filter: MeasureFilter, parameters: Parameters): string {
  const { operator, values } = filter
  const bound = values.map((value) => parameters.bind('Decimal(38, 10)', value.replace(/^\+/, '')))
  // One type on both sides: the engine makes a set of several comparisons, and sets do not convert.
  // What is not a number stands behind an absent mean, and no decimal can be made of it.
  const measure = filter.measure.mean
    ? `if(isNull(${sql}), NULL, toDecimal128(ifNull(${sql}, 0), 10))`
    : `toDecimal128(${sql}, 10)`
  switch (operator) {
    case 'equals':
      return either(bound.map((value) => `${measure} = ${value}`))
    case 'notEquals':
      return absentPasses(bound.map((value) => `${measure} != ${value}`).join(' AND '), filter.measure)
    default:
      return either(bound.map((value) => `${measure} ${signOf(operator)} ${value}`))
  }
}

/** An absent mean is different from any number. */
function absentPasses(condition: string, { mean }: PlainMeasure): string {
  return mean ? `ifNull(${condition}, 1)` : condition
}

/** How a relation holds its times: as DateTime64, or as milliseconds. */
export type TimeForm = 'time' | 'milliseconds'

export function boundTime(instant: number, form: TimeForm, parameters: Parameters): string {
  if (form === 'milliseconds') return parameters.bind('Int64', instant)
  return parameters.bind(
    "DateTime64(3, 'UTC')",
    new Date(instant).toISOString().slice(0, -1).replace('T', ' '),
  )
}

/** The condition that a time lies in the set; nothing when every time does. */
export function timeCondition(
  sql: string,
  times: TimeSet,
  form: TimeForm,
  parameters: Parameters,
): string | undefined {
  if (times.length === 0) return '0'
  const parts = times.map(({ from, to }) => {
    const bounds: string[] = []
    if (Number.isFinite(from)) bounds.push(`${sql} >= ${boundTime(from, form, parameters)}`)
    if (Number.isFinite(to)) bounds.push(`${sql} < ${boundTime(to, form, parameters)}`)
    return bounds.join(' AND ')
  })
  return either(parts) || undefined
}
