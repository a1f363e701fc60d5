import {
  type Dimension,
  type Expression,
  type Measure,
  type PlainMeasure,
  ratioOf,
  type SourceId,
  type VirtualMeasure,
} from './member.ts'

type Aggregates = Pick<PlainMeasure, 'aggregate' | 'estimate' | 'perItem'>
type MeasureTraits = Partial<Pick<PlainMeasure, 'over' | 'format' | 'mean'>>
type DimensionTraits = Partial<
  Omit<Dimension, keyof Expression | 'kind' | 'id' | 'source' | 'name' | 'title' | 'description'>
>

/** Gives a member its description, a template: a line end in it, with the indent that follows, is a space. */
type Described<Member> = (texts: TemplateStringsArray, ...values: readonly string[]) => Member

function described<Member>(make: (description: string) => Member): Described<Member> {
  return (texts, ...values) => {
    const raw = texts.map((text) => text.replaceAll(/\n\s*/g, ' '))
    return make(String.raw({ raw }, ...values).trimStart())
  }
}

/** The SQL of an expression, and the columns that it names. */
export const read = (sql: string, ...columns: readonly string[]): Expression => ({ sql, columns })
/** One column as it is. */
export const column = (name: string): Expression => read(name, name)
/** A column in which the empty text stands for an absent value. */
export const optionalColumn = (name: string): Expression => read(`nullIf(${name}, '')`, name)
export const countRows = read('count()')

export const nullable = { nullable: true } as const
export const shared = { shared: true } as const
export const ofCredits = { ofCredits: true } as const
export const boolean = { type: 'boolean' } as const
/** It is an identifier. */
export const isId = { format: 'id' } as const
/** It names a workflow, or what one is given. */
export const ofWorkflow = { shownBy: 'is_shown' } as const

export const oneAxis =
  'One axis with the times of the other sources: naming any of them buckets and ranges every source by its own time.'
export const fromUserAgent = 'from the user-agent; null where it does not say.'

const deviceTypes = ['desktop', 'mobile', 'tablet', 'app', 'server', 'unknown'] as const

/** What defines the members of one source. */
export function membersOf(source: SourceId) {
  /** A measure that aggregates rows; an integer, unless its traits say otherwise. */
  const measure = (
    name: string,
    title: string,
    how: Expression | Aggregates,
    traits: MeasureTraits = {},
  ): Described<PlainMeasure> =>
    described((description) => ({
      ...({ kind: 'measure', id: `${source}.${name}`, source, virtual: false, over: 'rows' } as const),
      ...{ title, description, format: 'integer' as const },
      ...('sql' in how ? { aggregate: how } : how),
      ...traits,
    }))

  const virtual = (
    name: string,
    title: string,
    format: Measure['format'],
    computed: Pick<VirtualMeasure, 'description' | 'parts' | 'compute'>,
  ): VirtualMeasure => ({
    ...{ kind: 'measure', id: `${source}.${name}`, source, virtual: true, title, format },
    ...computed,
  })

  /** A ratio of measures, those of the source by their names alone. */
  const ratio = (
    name: string,
    title: string,
    format: 'ratio' | 'decimal' | 'amount',
    ...parts: [string, string]
  ) => {
    const [above, below] = parts.map((part) => (part.includes('.') ? part : `${source}.${part}`))
    return virtual(name, title, format, ratioOf(above as string, below as string))
  }

  /** A dimension; a text that every row has, known to its own source alone, unless its traits say otherwise. */
  const dimension = (
    name: string,
    title: string,
    expression: Expression,
    ...traits: readonly DimensionTraits[]
  ): Described<Dimension> =>
    described((description) => ({
      ...({ kind: 'dimension', id: `${source}.${name}`, source, name, title, description } as const),
      ...expression,
      ...{ type: 'string', shared: false, nullable: false },
      ...Object.assign({}, ...traits),
    }))

  return {
    measure,
    virtual,
    ratio,
    dimension,
    time: dimension('time', 'Time', column('time'), { type: 'time' }),
    person: dimension('person', 'Person', column('person_text'), shared),
    datasource: dimension('datasource', 'Datasource', column('datasource'), shared, isId),
    deviceType: dimension('deviceType', 'Device type', column('device_type'), shared, {
      values: deviceTypes,
    }),
    os: dimension('os', 'Operating system', optionalColumn('os'), shared, nullable),
  }
}
