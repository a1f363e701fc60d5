import { type Static, Type } from 'typebox'
import { revisionFields } from '../revision.ts'
import { bodyOf, freeObject, id, named, nameText, nullable, oneOf, times } from './formats.ts'
import { FunnelQuery } from './funnel.ts'
import { PathsQuery } from './paths.ts'
import { RetentionQuery } from './retention.ts'

/** Bounds of saved explorations (docs/saved-queries.md, Saved explorations). */
export const savedExplorationLimits = {
  perCompany: 1_000,
  /** Characters of a definition as JSON. */
  characters: 100_000,
} as const

/** What an exploration asks, by its kind. */
export const explorationBodies = {
  funnel: FunnelQuery,
  retention: RetentionQuery,
  paths: PathsQuery,
} as const
export type ExplorationKind = keyof typeof explorationBodies

export const explorationKind = oneOf(
  Object.keys(explorationBodies) as ExplorationKind[],
  'Which exploration it is',
)
export const explorationDefinition = freeObject('The body of that exploration, as its operation takes it')

export const SavedExploration = named(
  'SavedExploration',
  {
    id: id('Identifier of the saved exploration'),
    companyId: id('Company that owns it'),
    name: Type.String(),
    exploration: explorationKind,
    definition: explorationDefinition,
    ownerId: nullable(
      id('User who saved it first'),
      'User who saved it first and may change it; null once the user is gone',
    ),
    ...revisionFields,
    ...times,
  },
  'A funnel, a retention or paths under a name',
)
export type SavedExploration = Static<typeof SavedExploration>

const name = nameText('Name of the saved exploration', 200, { examples: ['From a product to an order'] })

export const SavedExplorationCreation = bodyOf('SavedExplorationCreation', SavedExploration, {
  name,
  exploration: explorationKind,
  definition: explorationDefinition,
})
export type SavedExplorationCreation = Static<typeof SavedExplorationCreation>

/** Partial: a field that is absent stays as it is. */
export const SavedExplorationUpdate = bodyOf('SavedExplorationUpdate', SavedExploration, {
  name: Type.Optional(name),
  definition: Type.Optional(explorationDefinition),
})
export type SavedExplorationUpdate = Static<typeof SavedExplorationUpdate>
