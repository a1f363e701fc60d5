import { isId, normalizeId } from '../../../../platform/ids.ts'
import { type PatchStep, readPatch } from './patch.ts'
import { ScimRefusal, shown } from './refusal.ts'
import { groupSchema } from './schema/schemas.ts'
import { readAttributes, readText, requireSchema } from './schema/values.ts'

/** Members that a request adds and removes: ids of users, lower case. */
export interface MemberChange {
  /** Whether members who are not in `add` leave. */
  readonly replace: boolean
  readonly add: ReadonlySet<string>
  readonly remove: ReadonlySet<string>
}

/** Changes of a group; what is absent stays as it is. */
export interface GroupChange {
  readonly displayName?: string
  readonly externalId?: string | null
  readonly members?: MemberChange
}

/** Members of one group. */
export const maxMembers = 50_000

function readDisplayName(value: unknown): string {
  const name = readText(value, 'displayName', 256)
  if (name === undefined || name.trim() === '')
    throw new ScimRefusal('invalidValue', 'displayName is required and must not be blank')
  return name
}

function readMemberId(member: unknown): string {
  const id = typeof member === 'string' ? member : readAttributes(member, 'members').get('value')
  if (typeof id !== 'string' || id === '')
    throw new ScimRefusal(
      'invalidValue',
      `A member must be { "value": "<id of a user>" }, it is ${shown(member)}`,
    )
  if (!isId(id)) throw new ScimRefusal('noTarget', `There is no user ${shown(id)}`)
  return normalizeId(id)
}

function readMembers(value: unknown): Set<string> {
  const list = [value ?? []].flat()
  if (list.length > maxMembers)
    throw new ScimRefusal('invalidValue', `A group may have at most ${maxMembers} members`)
  return new Set(list.map(readMemberId))
}

/** Gathers changes of members one after the other. */
function createMemberChange() {
  let replace = false
  let add = new Set<string>()
  let remove = new Set<string>()
  let isChanged = false
  let named = 0

  /** An operation that names few is quick, and a body has room for very many of them. */
  function change(ids: ReadonlySet<string>): void {
    isChanged = true
    named += ids.size
    if (named > maxMembers)
      throw new ScimRefusal('invalidValue', `Operations may name at most ${maxMembers} members together`)
  }

  return {
    add(ids: ReadonlySet<string>): void {
      change(ids)
      for (const id of ids) {
        add.add(id)
        remove.delete(id)
      }
    },
    remove(ids: ReadonlySet<string>): void {
      change(ids)
      for (const id of ids) {
        add.delete(id)
        remove.add(id)
      }
    },
    replace(ids: Set<string>): void {
      change(ids)
      replace = true
      add = ids
      remove = new Set()
    },
    result: (): MemberChange | undefined => (isChanged ? { replace, add, remove } : undefined),
  }
}

function changeMembers(members: ReturnType<typeof createMemberChange>, step: PatchStep): void {
  const { op, path, value } = step
  if (path.where) {
    const { where } = path
    const isMember = where.kind === 'compare' && where.operator === 'eq' && where.name === 'value'
    if (op !== 'remove' || path.sub !== undefined || !isMember)
      throw new ScimRefusal(
        'invalidPath',
        'Only members[value eq "<id of a user>"] is read here, to remove it',
      )
    members.remove(new Set([readMemberId(where.value)]))
  } else if (op === 'add') members.add(readMembers(value))
  else if (op === 'replace') members.replace(readMembers(value))
  else if (value === undefined || value === null) members.replace(new Set())
  else members.remove(readMembers(value))
}

const ignoredAttributes: ReadonlySet<string> = new Set(['schemas'])
const readOnly: ReadonlySet<string> = new Set(['id', 'meta'])

/** The changes of a PATCH, in their order. @throws ScimRefusal */
export function readGroupPatch(body: unknown): GroupChange {
  const members = createMemberChange()
  let change: GroupChange = {}
  for (const step of readPatch(body)) {
    const { name, where } = step.path
    const value = step.op === 'remove' ? null : step.value
    const root = name.split('.', 1)[0] ?? name
    if (name === 'members') changeMembers(members, step)
    else if (name === 'displayname' && !where) change = { ...change, displayName: readDisplayName(value) }
    else if (name === 'externalid' && !where)
      change = { ...change, externalId: readText(value, 'externalId', 512) ?? null }
    else if (name.startsWith('urn:') || ignoredAttributes.has(name) || step.isKey) continue
    else if (readOnly.has(root)) throw new ScimRefusal('mutability', `${root} is read-only`)
    else throw new ScimRefusal('invalidPath', `There is no attribute ${shown(name)} of a group`)
  }
  const changed = members.result()
  return { ...change, ...(changed && { members: changed }) }
}

/** A whole group, as POST and PUT have it: without members it has none. @throws ScimRefusal */
export function readGroup(body: unknown): Required<GroupChange> {
  const attributes = readAttributes(body, 'The body', 'invalidSyntax')
  requireSchema(attributes, groupSchema)
  return {
    displayName: readDisplayName(attributes.get('displayname')),
    externalId: readText(attributes.get('externalid'), 'externalId', 512) ?? null,
    members: { replace: true, add: readMembers(attributes.get('members')), remove: new Set() },
  }
}
