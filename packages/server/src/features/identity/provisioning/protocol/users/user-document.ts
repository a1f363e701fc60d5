import { matches, requirePart } from '../filter/element-filter.ts'
import { type AttributePath, equalitiesOf } from '../filter/filter.ts'
import type { PatchStep } from '../patch.ts'
import { ScimRefusal } from '../refusal.ts'
import {
  isEmpty,
  nonEmpty,
  type Parts,
  readList,
  readParts,
  readSimple,
  requireFew,
  withValue,
} from '../schema/attribute-values.ts'
import { enterpriseSchema } from '../schema/schemas.ts'
import type { AttributePlace } from '../schema/user-schema.ts'

/**
 * What the identity provider has sent about a user and is given back: attributes under the names of the schema,
 * those of the enterprise extension under its URN. Whether the user is active and what the sign-in name is stands
 * elsewhere.
 */
export type UserDocument = Parts

/** Characters of a whole document as JSON. */
const maxDocumentLength = 65_536

/** @throws ScimRefusal `invalidValue` */
export function requireBounded(document: UserDocument): void {
  const { length } = JSON.stringify(document)
  if (length > maxDocumentLength)
    throw new ScimRefusal(
      'invalidValue',
      `The attributes of a user may take at most ${maxDocumentLength} characters, these take ${length}`,
    )
}

const extensionOf = (document: UserDocument): Parts => (document[enterpriseSchema] ?? {}) as Parts

function get(document: UserDocument, { isExtension, root }: AttributePlace): unknown {
  return isExtension ? extensionOf(document)[root.name] : document[root.name]
}

function put(document: UserDocument, { isExtension, root }: AttributePlace, value: unknown): UserDocument {
  if (!isExtension) return withValue(document, root.name, value)
  return withValue(document, enterpriseSchema, nonEmpty(withValue(extensionOf(document), root.name, value)))
}

/** A value that has become the primary one is the only one (RFC 7643 2.4). */
function withOnePrimary(now: readonly Parts[], before: readonly Parts[]): readonly Parts[] {
  const isNew = (element: Parts, i: number) => element.primary === true && before[i]?.primary !== true
  if (!now.some(isNew)) return now
  return now.map((element, i) =>
    element.primary === true && !isNew(element, i) ? withValue(element, 'primary', undefined) : element,
  )
}

/** Whether a value has anything beside its kind. */
const hasContent = (element: Parts): boolean =>
  Object.keys(element).some((name) => name !== 'type' && name !== 'primary')

const isSame = (one: Parts, other: Parts): boolean =>
  one.value !== undefined && one.value === other.value && one.type === other.type

/** Values that are present already are replaced, so that a repeated request converges. */
function added(elements: readonly Parts[], given: readonly Parts[]): readonly Parts[] {
  const known = elements.map((element) => {
    const same = given.find((each) => isSame(each, element))
    return same ? { ...element, ...same } : element
  })
  const texts = new Set(elements.map((element) => JSON.stringify(element)))
  const isKnown = (each: Parts) =>
    texts.has(JSON.stringify(each)) || elements.some((element) => isSame(each, element))
  return withOnePrimary([...known, ...given.filter((each) => !isKnown(each))], elements)
}

/** The parts that make a value the one meant by the brackets of a path. */
function filteredParts({ where }: AttributePath, { root }: AttributePlace): Parts {
  if (!where) return {}
  const equalities = equalitiesOf(where)
  if (!equalities)
    throw new ScimRefusal('noTarget', `No value of ${root.name} matches the filter of the path`)
  const entries = [...equalities].map(([name, literal]) => {
    const part = requirePart(root, name)
    return [part.name, readSimple(part, literal, `${root.name}.${part.name}`)]
  })
  return nonEmpty(Object.fromEntries(entries)) ?? {}
}

/**
 * Several values after one step. A value that is meant and not there is made: identity providers change the address
 * of work without asking whether there is one.
 */
function changeList(elements: readonly Parts[], step: PatchStep, place: AttributePlace): readonly Parts[] {
  const { op, path } = step
  const { root, sub } = place
  const { where } = path
  const isSelected = (element: Parts) => !where || matches(where, element, root)
  const value = op === 'remove' ? null : step.value
  if (sub) {
    const part = readSimple(sub, value, `${root.name}.${sub.name}`)
    if (!elements.some(isSelected))
      return part === undefined
        ? elements
        : [...elements, { ...filteredParts(path, place), [sub.name]: part }]
    const changed = elements.map((element) =>
      isSelected(element) ? withValue(element, sub.name, part) : element,
    )
    return withOnePrimary(changed, elements).filter((element, i) => {
      const before = elements[i]
      return hasContent(element) || (before !== undefined && !hasContent(before))
    })
  }
  if (isEmpty(value)) return elements.filter((element) => !isSelected(element))
  if (!where) return op === 'add' ? added(elements, readList(root, value)) : readList(root, value)
  const [given] = readList(root, value)
  if (!given) return elements.filter((element) => !isSelected(element))
  if (!elements.some(isSelected)) return added(elements, [{ ...filteredParts(path, place), ...given }])
  const changed = elements.map((element) => (isSelected(element) ? { ...element, ...given } : element))
  return withOnePrimary(changed, elements)
}

/** Parts that are not named stay (RFC 7644 3.5.2.3), but for those of another value. */
function merged(before: Parts, given: Parts): Parts {
  const isOther = given.value !== undefined && given.value !== before.value
  return isOther ? given : { ...before, ...given }
}

/**
 * The document after one step of a PATCH.
 * @param implied values that are shown while none were sent
 * @throws ScimRefusal
 */
export function changeDocument(
  document: UserDocument,
  step: PatchStep,
  place: AttributePlace,
  implied: UserDocument,
): UserDocument {
  const { root, sub } = place
  const has = get(document, place) ?? get(implied, place)
  const value = step.op === 'remove' ? null : step.value
  if (root.multiValued) {
    const list = changeList((has ?? []) as readonly Parts[], step, place)
    requireFew(root.name, list.length)
    return put(document, place, list.length > 0 ? list : undefined)
  }
  if (step.path.where)
    throw new ScimRefusal('invalidPath', `${root.name} has one value: there is nothing to choose by a filter`)
  if (root.type !== 'complex') return put(document, place, readSimple(root, value, root.name))
  const before = (has ?? {}) as Parts
  if (sub) {
    const part = readSimple(sub, value, `${root.name}.${sub.name}`)
    return put(document, place, nonEmpty(withValue(before, sub.name, part)))
  }
  return put(document, place, isEmpty(value) ? undefined : nonEmpty(merged(before, readParts(root, value))))
}
