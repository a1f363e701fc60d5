import type { ErrorName } from '@millrace/contract/errors.ts'
import type { Call, PermissionWorld, Person, Rights } from './permission-world.ts'

/** Makes a call, with the object that it is about, for a user who is going to send it. */
export type MakeCall = (world: PermissionWorld, caller: Person) => Call | Promise<Call>

/** What the words beside a permission say of one case. */
export interface FurtherCase {
  /** The name of the test, behind that of the operation. */
  readonly says: string
  readonly rights: Rights
  readonly call: MakeCall
  /** Absent where the call succeeds. */
  readonly refusal?: ErrorName
}

/** Whom an operation answers, and how. One row for each routed operation of the authenticated scope. */
export interface PermissionRow {
  /** The permission without which nobody gets further; written here again so that no other one slips in. */
  readonly needs?: string
  /** A call that succeeds for the administrator of the first company; it makes the object that it is about. */
  readonly call: MakeCall
  /** About the account of the caller: each call gets a caller of its own. */
  readonly ofCaller?: true
  /** Status for the administrator; 200 unless the call cannot come further than its permission in a test. */
  readonly entitled?: number
  /** Status for a user with the needed permission alone, where people with other ones are above them. */
  readonly alone?: number
  /** Status for a user of another company with every permission: 404 wherever the address names an object. */
  readonly stranger: number
  /** The address names what the call makes, in the company of the caller. */
  readonly makesNamed?: true
  /** Status for a user of the same company with every permission, in another team; where teams matter. */
  readonly otherTeam?: number
  /** Where words say who may: rights, and the status that they lead to. Operations with a permission have none. */
  readonly access?: readonly (readonly [rights: Rights, status: number])[]
  /** Where words say more than the permission beside them, or than `access` can. */
  readonly further?: readonly FurtherCase[]
}

export type PermissionRows = Readonly<Record<string, PermissionRow>>

/** Rights to these alone, as `user read`. */
export const only = (...permissions: readonly string[]): Rights => ({
  only: permissions.map((permission) => {
    const [resource, action] = permission.split(' ')
    return { resource, action } as never
  }),
})

export const nothing = only()

/**
 * What a user has saved, others may change with Statistics: manage alone.
 * @param call of the address of what was saved
 * @param save @returns the address of what this user, or the administrator, has saved
 */
export const ofOthers = (
  call: (path: string) => Call,
  save: (world: PermissionWorld, by?: Person) => Promise<string>,
): readonly FurtherCase[] => [
  {
    says: 'changes what the user has saved',
    rights: only('statistics access'),
    call: async (world, caller) => call(await save(world, caller)),
  },
  {
    says: 'changes nothing that another user has saved',
    rights: only('statistics access', 'statistics export'),
    call: async (world) => call(await save(world)),
    refusal: 'forbidden',
  },
  {
    says: 'changes what another user has saved with Statistics: manage',
    rights: only('statistics access', 'statistics manage'),
    call: async (world) => call(await save(world)),
  },
]
