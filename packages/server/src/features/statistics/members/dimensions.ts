import type { Dimension, Expression, SourceId } from './member.ts'

interface Words {
  readonly title: string
  readonly description: string
  readonly format?: string
  readonly values?: readonly string[]
}

type Traits = Partial<
  Pick<
    Dimension,
    | 'type'
    | 'shared'
    | 'nullable'
    | 'perItem'
    | 'eventName'
    | 'ofCredits'
    | 'lookup'
    | 'label'
    | 'filterOnly'
    | 'shownBy'
  >
>

/** A dimension with the traits of most: a text that every row has, known to its own source alone. */
export function dimension(
  source: SourceId,
  name: string,
  expression: Expression,
  words: Words,
  traits: Traits = {},
): Dimension {
  return {
    kind: 'dimension',
    id: `${source}.${name}`,
    source,
    name,
    ...expression,
    ...words,
    type: 'string',
    shared: false,
    nullable: false,
    ...traits,
  }
}

/** One column as it is. */
export function column(name: string): Expression {
  return { sql: name, columns: [name] }
}

/** A column in which the empty text stands for an absent value. */
export function optionalColumn(name: string): Expression {
  return { sql: `nullIf(${name}, '')`, columns: [name] }
}

export const deviceTypes = ['desktop', 'mobile', 'tablet', 'app', 'server', 'unknown'] as const
