import { type SQL, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Filter, Literal, Operator } from './protocol/filter/filter.ts'
import type { Sort } from './protocol/listing.ts'
import { ScimRefusal, shown } from './protocol/refusal.ts'

/** An attribute that lists are filtered and sorted by, as SQL that is null where a resource has none. */
export interface SqlAttribute {
  /** `lowerText` is stored in lower case, ASCII characters only; its case does not count, that of `exactText` does. */
  readonly type: 'text' | 'exactText' | 'lowerText' | 'boolean' | 'time'
  readonly value: SQL
}

/** An attribute that has several values. */
export interface SqlValues {
  readonly type: 'values'
  /** A table of the values, behind `from`. */
  readonly table: SQL
  /** By their names in lower case. */
  readonly parts: ReadonlyMap<string, SqlAttribute>
  /** What a list is sorted by; it cannot be sorted by this attribute without it. */
  readonly first?: SqlAttribute
}

/** By their names in lower case. */
export type SqlAttributes = ReadonlyMap<string, SqlAttribute | SqlValues>

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

/** `toLowerCase` makes letters of ASCII of some that are not. */
const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

function readInstant(name: string, value: Literal): SQL {
  const time = typeof value === 'string' && instant.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(time))
    throw new ScimRefusal(
      'invalidFilter',
      `${name} is compared with an instant, as "2026-01-31T12:00:00Z"; it is ${shown(value)}`,
    )
  // As a number: PostgreSQL reads no year 0, and none of five digits with a sign.
  return sql`to_timestamp(${time}::float8 / 1000)`
}

function readTruth(name: string, value: Literal): SQL {
  const truth = typeof value === 'string' ? value.toLowerCase() : String(value)
  if (truth !== 'true' && truth !== 'false')
    throw new ScimRefusal('invalidFilter', `${name} is compared with true or false, it is ${shown(value)}`)
  return truth === 'true' ? sql`true` : sql`false`
}

function readString(name: string, value: Literal): string {
  if (typeof value === 'string') return value
  throw new ScimRefusal(
    'invalidFilter',
    `${name} is compared with a text in quotation marks, it is ${shown(value)}`,
  )
}

/** Both sides as they are compared. */
function sidesOf({ type, value }: SqlAttribute, name: string, literal: Literal): { left: SQL; right: SQL } {
  switch (type) {
    case 'boolean':
      return { left: value, right: readTruth(name, literal) }
    case 'time':
      return { left: value, right: readInstant(name, literal) }
    case 'lowerText':
      return { left: value, right: sql`${lowerAscii(readString(name, literal))}::text` }
    case 'exactText':
      return { left: value, right: sql`${readString(name, literal)}::text` }
    case 'text':
      return { left: sql`lower(${value})`, right: sql`lower(${readString(name, literal)}::text)` }
  }
}

const ordering = { gt: sql`>`, ge: sql`>=`, lt: sql`<`, le: sql`<=` } as const

function compare(attribute: SqlAttribute, name: string, operator: Operator, literal: Literal): SQL {
  const { type, value } = attribute
  if (literal === null && operator === 'eq') return sql`${value} is null`
  if (literal === null && operator === 'ne') return sql`${value} is not null`
  const { left, right } = sidesOf(attribute, name, literal)
  if (operator === 'eq') return sql`${left} = ${right}`
  if (operator === 'ne') return sql`${left} is distinct from ${right}`
  const isOrder = operator in ordering
  if (type === 'boolean' || (type === 'time' && !isOrder))
    throw new ScimRefusal('invalidFilter', `${name} cannot be compared by ${operator}`)
  switch (operator) {
    case 'co':
      return sql`position(${right} in ${left}) > 0`
    case 'sw':
      return sql`starts_with(${left}, ${right})`
    case 'ew':
      return sql`right(${left}, char_length(${right})) = ${right}`
    default:
      return sql`${left} ${ordering[operator]} ${right}`
  }
}

const listed = (attributes: SqlAttributes): string => [...attributes.keys()].join(', ')

function unknownAttribute(name: string, attributes: SqlAttributes): ScimRefusal {
  return new ScimRefusal(
    'invalidFilter',
    `A list cannot be filtered by ${shown(name)}; it can by ${listed(attributes)}`,
  )
}

/** Some value of several. */
const some = ({ table }: SqlValues, condition: SQL): SQL =>
  sql`exists (select 1 from ${table} where ${condition})`

/** A condition on the attribute that a name means; of several values on some one of them. */
function onAttribute(
  name: string,
  attributes: SqlAttributes,
  condition: (attribute: SqlAttribute) => SQL,
): SQL {
  const found = attributes.get(name)
  if (found && found.type !== 'values') return condition(found)
  const [root = '', part = 'value', ...more] = found ? [name] : name.split('.')
  const values = attributes.get(root)
  const attribute = values?.type === 'values' && more.length === 0 ? values.parts.get(part) : undefined
  if (values?.type !== 'values' || !attribute) throw unknownAttribute(name, attributes)
  return some(values, condition(attribute))
}

/**
 * The condition of a filter; every value of it is a bound parameter.
 * @throws ScimRefusal `invalidFilter` for attributes that a list is not filtered by, and for values and operators
 *   that do not fit theirs
 */
export function conditionOf(filter: Filter, attributes: SqlAttributes): SQL {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const conditions = filter.filters.map((each) => conditionOf(each, attributes))
      return sql`(${sql.join(conditions, filter.kind === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not':
      // What cannot be compared, because there is no value, does not match.
      return sql`not coalesce(${conditionOf(filter.filter, attributes)}, false)`
    case 'present':
      return onAttribute(filter.name, attributes, ({ value }) => sql`${value} is not null`)
    case 'compare': {
      const { name, operator, value } = filter
      return onAttribute(name, attributes, (attribute) => compare(attribute, name, operator, value))
    }
    case 'values': {
      const values = attributes.get(filter.name)
      if (values?.type !== 'values') throw unknownAttribute(`${filter.name}[...]`, attributes)
      return some(values, conditionOf(filter.filter, values.parts))
    }
  }
}

/**
 * What a list is sorted by. Resources without a value come last, or first where the order is descending.
 * @throws ScimRefusal `invalidValue`
 */
export function orderOf({ name, isDescending }: Sort, attributes: SqlAttributes): SQL {
  const found = attributes.get(name.replace(/\.value$/, ''))
  const attribute = found?.type === 'values' ? found.first : attributes.get(name)
  if (!attribute || attribute.type === 'values') {
    const sortable = [...attributes].filter(([, each]) => each.type !== 'values' || each.first)
    const names = sortable.map(([each]) => each).join(', ')
    throw new ScimRefusal('invalidValue', `sortBy must be one of ${names}; it is ${shown(name)}`)
  }
  const value = attribute.type === 'text' ? sql`lower(${attribute.value})` : attribute.value
  return isDescending ? sql`${value} desc` : sql`${value} asc`
}
