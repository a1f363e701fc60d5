import type { Static } from 'typebox'
import { explorationFields } from './exploration.ts'
import { filled, integer, named, oneOf } from './formats.ts'
import { absentAsNull, DateRange } from './query.ts'

export const pathLimits = { depth: 10, defaultDepth: 5, edges: 200, defaultEdges: 50 } as const

function anchor(description: string) {
  return absentAsNull(filled(description, 4_000, '/cart'))
}

/** Question of the operation on paths (docs/statistics.md, Paths). */
export const PathsQuery = named(
  'PathsQuery',
  {
    by: oneOf(['event', 'path'], {
      description: 'What a step is: the name of an event, or the path of its page or screen as `events.path`',
      examples: ['path'],
    }),
    from: anchor(
      'Paths begin at the first such step of a session: an event name or a path, as `by` says, case included',
    ),
    to: anchor('Paths lead to the first such step of a session and are read backwards. Excludes `from`'),
    dateRange: DateRange,
    depth: absentAsNull(
      integer(
        1,
        pathLimits.depth,
        `How many edges a path has at most; ${pathLimits.defaultDepth} when absent`,
        5,
      ),
    ),
    repeats: absentAsNull(
      oneOf(['collapse', 'keep'], {
        description: '`collapse`, when absent: a step that repeats the one before it is the same step',
        examples: ['collapse'],
      }),
    ),
    limit: absentAsNull(
      integer(
        1,
        pathLimits.edges,
        `How many edges of each depth have rows of their own; ${pathLimits.defaultEdges} when absent`,
        50,
      ),
    ),
    filters: explorationFields.filters,
  },
  'What persons do one after the other; null in an optional field is as if it were absent',
)
export type PathsQuery = Static<typeof PathsQuery>
