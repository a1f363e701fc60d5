import type { Query } from './contract-types.ts'

type TimeDimension = Query['timeDimensions'][number]
type Granularity = NonNullable<TimeDimension['granularity']>

/** A list that may be constant. */
type Constant<T> = T extends readonly (infer Item)[]
  ? readonly Constant<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Constant<T[K]> }
    : T

/** A query; lists that are absent are empty. */
export type QueryInput = Constant<
  Partial<Pick<Query, 'measures' | 'dimensions' | 'filters' | 'timeDimensions'>> &
    Omit<Query, 'measures' | 'dimensions' | 'filters' | 'timeDimensions'>
>

/** Value of a dimension: a text for most, the others for dimensions of these types (`readStatisticsMeta`). */
export type DimensionValue = string | number | boolean | null

type Members<Q, Field extends 'measures' | 'dimensions'> = Q extends {
  readonly [K in Field]: readonly (infer Member extends string)[]
}
  ? Member
  : never

type TimesOf<Q> = Q extends { readonly timeDimensions: readonly (infer Time)[] } ? Time : never

/** The key that a time dimension with a granularity has in rows. */
type TimeKey<Time> = Time extends {
  readonly dimension: infer Dimension extends string
  readonly granularity: infer Unit extends Granularity
}
  ? `${Dimension}.${Unit}`
  : never

type CompareKey<Time> = Time extends { readonly compareDateRange: readonly unknown[] }
  ? 'compareDateRange'
  : never

/** A row of the answer to a query, with a key for each member that the query names. */
export type QueryRow<Q> = {
  readonly [K in Members<Q, 'measures'>]: number | null
} & { readonly [K in Members<Q, 'dimensions'>]: DimensionValue } & {
  readonly [K in TimeKey<TimesOf<Q>>]: string | null
} & { readonly [K in CompareKey<TimesOf<Q>>]: string }

/** The query as the service takes it. */
export function wholeQuery(query: QueryInput): Query {
  return { measures: [], dimensions: [], filters: [], timeDimensions: [], ...query } as Query
}
