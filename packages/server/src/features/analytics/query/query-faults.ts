import { DomainError } from '../../../platform/errors.ts'

type FaultName =
  | 'unknownMember'
  | 'incompatibleMembers'
  | 'virtualMeasureFilter'
  | 'invalidQuery'
  | 'tooComplex'

interface QueryFault {
  readonly name: FaultName
  readonly path: string
  readonly message: string
  readonly members: readonly string[]
}

type AddFault = (name: FaultName, path: string, message: string, ...members: (string | undefined)[]) => void

/** All faults of one query, so that they can be corrected at once. */
export interface QueryFaults {
  readonly add: AddFault
  /** Adds an `invalidQuery`. */
  invalid(path: string, message: string, ...members: (string | undefined)[]): void
  /** @throws {DomainError} named after the first fault, with all of them in `data.errors` */
  throwAny(): void
}

/** More faults than these do not help, and neither does the whole of an overlong name. */
const shownFaults = 20
const shownCharacters = 400

const shortened = (text: string): string =>
  text.length > shownCharacters ? `${text.slice(0, shownCharacters - 3)}...` : text

/** The same faults, added in another way. */
export function faultsBy({ throwAny }: Pick<QueryFaults, 'throwAny'>, add: AddFault): QueryFaults {
  return { add, invalid: (...fault) => add('invalidQuery', ...fault), throwAny }
}

export function createQueryFaults(): QueryFaults {
  const faults: QueryFault[] = []

  const add: AddFault = (name, path, message, ...members) => {
    if (faults.length >= shownFaults) return
    const named = members.filter((id) => id !== undefined).map(shortened)
    faults.push({ name, path: shortened(path), message: shortened(message), members: named })
  }

  function throwAny(): void {
    const [first] = faults
    if (!first) return
    if (first.name === 'tooComplex') throw new DomainError('tooComplex', {}, { message: first.message })
    throw new DomainError(
      first.name,
      {
        errors: faults.map(({ path, message }) => ({ path, message })),
        members: [...new Set(faults.flatMap(({ members }) => members))],
      },
      { message: `${first.path}: ${first.message}` },
    )
  }

  return faultsBy({ throwAny }, add)
}
