import { DomainError } from '../errors.ts'
import { mapConstraintViolation } from './relational-errors.ts'

/**
 * Runs work that gives an object to teams, one of which may be deleted meanwhile.
 * @param constraint the foreign key from the object's teams to the teams
 * @throws {DomainError} `unknownTeam` where it is violated
 */
export const namingTeams = <T>(
  constraint: string,
  teamIds: readonly string[] | undefined,
  work: () => Promise<T>,
): Promise<T> =>
  mapConstraintViolation(work, (violated, cause) =>
    violated === constraint
      ? new DomainError('unknownTeam', { teamIds: [...(teamIds ?? [])] }, { cause })
      : undefined,
  )
