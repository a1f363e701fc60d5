import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import { familyOf } from '@millrace/contract/resources/filter-operators.ts'
import { keyOf } from '../imports/copy-lines.ts'
import type { Condition, Leaf } from './parse-query.ts'
import { tableOf } from './row-tables.ts'

/** SQL of a statement and its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface RowOrder {
  readonly field: string
  readonly order: 'asc' | 'desc'
}

export interface RowRequest {
  readonly versionId: string
  /** The field that is also the key. */
  readonly keyField: string | null
  readonly fields: readonly WorkerField[]
  readonly condition: Condition
  readonly sort: readonly RowOrder[]
  /** By which letters are folded; undefined for that of the database. */
  readonly collation?: CaseCollation | undefined
}

/** Collations that fold the letters of all languages, the best first; older servers lack some. */
export const caseCollations = ['pg_unicode_fast', 'pg_c_utf8', 'und-x-icu'] as const
export type CaseCollation = (typeof caseCollations)[number]

/** Compiles conditions over `row` and `key`; every value, names of fields included, is a parameter. */
function createCompiler({ keyField, collation }: Pick<RowRequest, 'keyField' | 'collation'>) {
  const values: unknown[] = []
  const bind = (value: unknown, type: string): string => `$${values.push(value)}::${type}`
  const folded = (expression: string): string =>
    `lower((${expression})${collation === undefined ? '' : ` collate "${collation}"`})`

  const jsonOf = (field: string): string => `(row -> ${bind(field, 'text')})`
  const textOf = (field: string): string => `(row ->> ${bind(field, 'text')})`

  /** The number, or instant in milliseconds, of a field; null for anything else. */
  function numberOf({ field, isText }: Pick<Leaf, 'field' | 'isText'>): string {
    const name = bind(field, 'text')
    return isText
      ? `(case when jsonb_typeof(row -> ${name}) = 'string' then (extract(epoch from (row ->> ${name})::timestamp) * 1000)::float8 end)`
      : `(case when jsonb_typeof(row -> ${name}) = 'number' then (row ->> ${name})::float8 end)`
  }

  function elements(field: string, test: (element: string) => string): string {
    const name = bind(field, 'text')
    const list = `case when jsonb_typeof(row -> ${name}) = 'array' then row -> ${name} else '[]' end`
    return `exists (select 1 from jsonb_array_elements_text(${list}) as element where ${test('element')})`
  }

  function textTest(test: 'contains' | 'startswith' | 'endswith', value: string) {
    const wanted = folded(bind(value, 'text'))
    return (expression: string): string => {
      const text = folded(expression)
      if (test === 'contains') return `strpos(${text}, ${wanted}) > 0`
      return test === 'startswith'
        ? `starts_with(${text}, ${wanted})`
        : `right(${text}, length(${wanted})) = ${wanted}`
    }
  }

  function inTest(leaf: Leaf & { readonly test: 'in' }): string {
    const { field, family } = leaf
    if (field === keyField && (family === 'text' || family === 'number')) {
      return `key = any(${bind(leaf.values.map(keyOf), 'text[]')})`
    }
    if (family === 'texts' || family === 'numbers') {
      const isNumber = family === 'numbers'
      const wanted = bind(leaf.values, isNumber ? 'float8[]' : 'text[]')
      return elements(field, (element) => `${element}${isNumber ? '::float8' : ''} = any(${wanted})`)
    }
    if (family === 'number') return `${numberOf(leaf)} = any(${bind(leaf.values, 'float8[]')})`
    return `${textOf(field)} = any(${bind(leaf.values.map(String), 'text[]')})`
  }

  const comparisons = { lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

  function leafTest(leaf: Leaf): string {
    switch (leaf.test) {
      case 'empty':
        return `coalesce(${jsonOf(leaf.field)}, 'null') in ('null', '""', '[]', '{}') = ${bind(leaf.value, 'boolean')}`
      case 'in':
        return inTest(leaf)
      case 'contains':
      case 'startswith':
      case 'endswith': {
        const test = textTest(leaf.test, leaf.value)
        return leaf.family === 'texts' ? elements(leaf.field, test) : test(textOf(leaf.field))
      }
      case 'between':
        return `${numberOf(leaf)} between ${bind(leaf.from, 'float8')} and ${bind(leaf.to, 'float8')}`
      default:
        return `${numberOf(leaf)} ${comparisons[leaf.test]} ${bind(leaf.value, 'float8')}`
    }
  }

  function conditionOf(condition: Condition): string {
    if (condition.kind === 'leaf') {
      const isNegated = 'negated' in condition && condition.negated
      const test = leafTest(condition)
      // A row without the value is not equal to any.
      return isNegated ? `not coalesce(${test}, false)` : test
    }
    if (condition.conditions.length === 0) return condition.kind === 'and' ? 'true' : 'false'
    return `(${condition.conditions.map(conditionOf).join(condition.kind === 'and' ? ' and ' : ' or ')})`
  }

  return { values, bind, numberOf, textOf, conditionOf }
}

/** Rows in order, one page of them; all null where they have more than so many bytes together, as text. */
export function compileRows(
  request: RowRequest,
  page: { limit: number; offset: number; maxBytes: number },
): Statement {
  const { values, bind, numberOf, textOf, conditionOf } = createCompiler(request)
  const where = conditionOf(request.condition)
  const byName = new Map(request.fields.map((field) => [field.name, field]))
  const order = request.sort.map(({ field, order }) => {
    const { primitive } = byName.get(field) as WorkerField
    const family = familyOf[primitive]
    const isNumber = family === 'number' || family === 'instant'
    const value = isNumber
      ? numberOf({ field, isText: primitive === 'datetime_iso' })
      : `${textOf(field)} collate "C"`
    return `${value} ${order} nulls last, `
  })
  const text = `select case when sum(octet_length(row::text)) over () <= ${bind(page.maxBytes, 'bigint')} then row end as row
    from (select row from ${tableOf(request.versionId)} where ${where}
      order by ${order.join('')}position
      limit ${bind(page.limit, 'bigint')} offset ${bind(page.offset, 'bigint')}) as page`
  return { text, values }
}

/** How many rows there are, counted up to a bound. */
export function compileCount(request: RowRequest, bound: number): Statement {
  const { values, bind, conditionOf } = createCompiler(request)
  const where = conditionOf(request.condition)
  return {
    text: `select count(*)::int as count from (
      select 1 from ${tableOf(request.versionId)} where ${where} limit ${bind(bound, 'bigint')}) as matches`,
    values,
  }
}

/** Whether every match has one of some keys, so that no other row is looked at. */
export function isByKey(condition: Condition, keyField: string | null): boolean {
  if (condition.kind !== 'leaf') {
    const { kind, conditions } = condition
    const isOne = (each: Condition) => isByKey(each, keyField)
    return kind === 'and' ? conditions.some(isOne) : conditions.length > 0 && conditions.every(isOne)
  }
  const { field, family, test } = condition
  return (
    field === keyField && test === 'in' && !condition.negated && (family === 'text' || family === 'number')
  )
}
