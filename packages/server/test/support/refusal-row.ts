import type { ErrorName } from '@millrace/contract/errors.ts'
import type { Call, PermissionWorld, Person, Rights } from './permission-world.ts'

/** A call that is refused, and who sends it. */
export interface Refused {
  readonly caller: Person
  readonly call: Call
}

/** Prepares everything but the one call. */
export type MakeRefused = (world: PermissionWorld) => Promise<Refused>

/** Refusals by the id of their operation; a text names the test of one that needs more than a running service. */
export type RefusalRows = Readonly<Record<string, Readonly<Partial<Record<ErrorName, MakeRefused | string>>>>>

/** What a call says of an object, an identifier, or a name that nothing has. */
export const nobody = 'f'.repeat(24)
export const unusedName = (): string => `name ${crypto.randomUUID()}`

/** What the only administrator of a new company is refused. */
export const refused =
  (call: (founder: Person, world: PermissionWorld) => Promise<Call> | Call, rights?: Rights): MakeRefused =>
  async (world) => {
    const caller = await world.founder(rights)
    return { caller, call: await call(caller, world) }
  }

/** The same after as many tries as are free. */
export const exhausted =
  (free: number, call: (founder: Person, world: PermissionWorld) => Promise<Call> | Call): MakeRefused =>
  async (world) => {
    const made = await refused(call)(world)
    for (let i = 0; i < free; i++) await world.call(made.caller.token, 'POST', made.call)
    return made
  }
