import {
  type ExplorationKind,
  explorationBodies,
  type SavedExploration,
  savedExplorationLimits,
} from '@millrace/contract/resources/saved-exploration.ts'
import { faultOfShape } from '../../../platform/http/validation.ts'
import { invalid, placed } from '../../../platform/invalid.ts'

interface Reader {
  readonly companyId: string
  readonly readerId: string
}

/** Throws what asking it would, without asking; the definition has the shape of its kind. */
export type ValidateExploration = (
  kind: ExplorationKind,
  definition: unknown,
  reader: Reader,
) => Promise<void>

/** Checks the definition of an exploration as if it were asked. */
export function createDefinitionCheck(validateExploration: ValidateExploration) {
  /** @throws {DomainError} what is wrong, at a place that begins with `definition` */
  return async function check(
    reader: Reader,
    { exploration, definition }: Pick<SavedExploration, 'exploration' | 'definition'>,
  ): Promise<void> {
    const { length } = JSON.stringify(definition)
    const max = savedExplorationLimits.characters
    if (length > max)
      throw invalid('definition', `must have at most ${max} characters of JSON; it has ${length}`)
    const fault = faultOfShape(explorationBodies[exploration], definition)
    if (fault) throw invalid(['definition', fault.path].filter(Boolean).join('.'), fault.message)
    await validateExploration(exploration, definition, reader).catch((error: unknown) => {
      throw placed(error, 'definition')
    })
  }
}
