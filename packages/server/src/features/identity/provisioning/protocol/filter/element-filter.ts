import { ScimRefusal, shown } from '../refusal.ts'
import type { Attribute } from '../schema/attribute.ts'
import type { Parts } from '../schema/attribute-values.ts'
import { findSubAttribute } from '../schema/user-schema.ts'
import type { Filter, Literal, Operator } from './filter.ts'

/** Both as texts: booleans are sent as such and as texts. */
function compare(operator: Operator, has: string | undefined, wanted: string | undefined): boolean {
  if (operator === 'eq') return has === wanted
  if (operator === 'ne') return has !== wanted
  if (has === undefined || wanted === undefined) return false
  switch (operator) {
    case 'co':
      return has.includes(wanted)
    case 'sw':
      return has.startsWith(wanted)
    case 'ew':
      return has.endsWith(wanted)
    case 'gt':
      return has > wanted
    case 'ge':
      return has >= wanted
    case 'lt':
      return has < wanted
    case 'le':
      return has <= wanted
  }
}

/** The part of the values that a name means. @throws ScimRefusal `invalidPath` */
export function requirePart(attribute: Attribute, name: string): Attribute {
  const part = findSubAttribute(attribute, name)
  if (part) return part
  throw new ScimRefusal('invalidPath', `There is no attribute ${shown(name)} of ${attribute.name}`)
}

/** What the part of a value and a literal are compared as. */
function comparable({ caseExact }: Attribute, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return caseExact ? String(value) : String(value).toLowerCase()
}

/**
 * Whether one of several values is meant by the filter in brackets of a path.
 * @throws ScimRefusal `invalidPath` for a part that such values do not have
 */
export function matches(filter: Filter, element: Parts, attribute: Attribute): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((each) => matches(each, element, attribute))
    case 'or':
      return filter.filters.some((each) => matches(each, element, attribute))
    case 'not':
      return !matches(filter.filter, element, attribute)
    case 'present':
      return element[requirePart(attribute, filter.name).name] !== undefined
    case 'compare': {
      const part = requirePart(attribute, filter.name)
      const wanted: Literal = filter.value
      return compare(filter.operator, comparable(part, element[part.name]), comparable(part, wanted))
    }
    case 'values':
      throw new ScimRefusal('invalidPath', 'There are brackets within brackets')
  }
}
