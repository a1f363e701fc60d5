import { hintOf } from '../../platform/text/nearest.ts'

/** The fault of a field that the datasource does not have, after its path; with the nearest one, or what there is. */
export const unknownField = (name: string, known: Iterable<string>): string =>
  `names "${name.slice(0, 100)}", which the datasource does not have${hintOf(name, known)}`
