import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { times } from '../support/long.ts'
import { matches, type PlainRow } from '../support/query-oracle.ts'
import { fieldOf, openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

/** Queries of rows against a plain computation, over random rows and trees. */

let world: WorkerDatasources
let rows: PlainRow[] = []
let datasourceId: string
let now: number

const fields: readonly WorkerField[] = [
  fieldOf({ name: 'sku', isKey: true }),
  fieldOf({ name: 'brand' }),
  fieldOf({ name: 'price', type: 'number', primitive: 'number' }),
  fieldOf({ name: 'sold', type: 'boolean', primitive: 'boolean' }),
  fieldOf({ name: 'seen', type: 'datetime', primitive: 'datetime' }),
  fieldOf({ name: 'made', type: 'datetime_iso', primitive: 'datetime_iso' }),
  fieldOf({ name: 'tags', type: 'array_string', primitive: 'string[]' }),
  fieldOf({ name: 'sizes', type: 'array_number', primitive: 'number[]' }),
]

const texts = ['Acme', 'acme', 'Émile', 'émile & Co', 'Bolt%', 'b_lt', '\\', "o'clock", 'Straße']
const fractions = ['', 'A', 'a', 'É', 'é', '%', '_', '\\', "'", 'e', 'o', 'SS']
const numbers = [-1.5, 0, 0.1, 0.30000000000000004, 1, 2, 1e15]
const tags = ['red', 'Red', 'dark red', 'blue']
const sizes = [1, 2.5, 40]
const hours = [-48, -24, -1, 0, 1, 24, 48]

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 4 })
const offset = fc.constantFrom(...hours)
const instantAt = (hour: number) => now + hour * 3_600_000

const row = () =>
  fc.record({
    brand: maybe(fc.constantFrom(...texts)),
    price: maybe(fc.constantFrom(...numbers)),
    sold: maybe(fc.boolean()),
    seen: maybe(offset.map(instantAt)),
    made: maybe(offset.map((hour) => new Date(instantAt(hour)).toISOString())),
    tags: maybe(fc.subarray(tags, { minLength: 1 })),
    sizes: maybe(fc.subarray(sizes, { minLength: 1 })),
  })

const listOf = <T>(values: readonly T[]) =>
  fc.oneof(fc.constantFrom(...values), fc.subarray([...values], { minLength: 1 }))
const window = fc.oneof(
  fc.constantFrom(1, 24, 30).map((count) => ({ hours: count })),
  fc.constantFrom(0.5, 1, 3).map((count) => ({ days: count })),
)

function leaf(): fc.Arbitrary<object> {
  const one = (name: string, operators: readonly string[], operand: fc.Arbitrary<unknown>) =>
    fc
      .tuple(fc.constantFrom(...operators), operand)
      .map(([operator, value]) => ({ [name]: { [operator]: value } }))
  const comparisons = ['$lt', '$lte', '$gt', '$gte']
  const ranges = ['$rangepast', '$rangefuture', '$nrangepast', '$nrangefuture']
  const names = fields.map(({ name }) => name)
  const nth = fc.integer({ min: 0, max: 60 })
  const key = nth.map((n) => `K${n}`)
  const instant = offset.map((hour) =>
    hour % 2 === 0 ? instantAt(hour) : new Date(instantAt(hour)).toISOString(),
  )
  return fc.oneof(
    one('sku', ['$eq', '$ne'], fc.oneof(key, fc.array(key, { minLength: 1, maxLength: 5 }))),
    one('brand', ['$eq', '$ne'], fc.oneof(listOf(texts), fc.constant(null))),
    one('brand', ['$contains', '$notcontains', '$startswith', '$endswith'], fc.constantFrom(...fractions)),
    one('price', ['$neq', '$nne'], fc.oneof(listOf(numbers), fc.constant(null))),
    one('price', comparisons, fc.constantFrom(...numbers)),
    one('sold', ['$eq', '$ne'], fc.boolean()),
    one('seen', comparisons, instant),
    one('made', comparisons, instant),
    one('seen', ranges, window),
    one('made', ranges, window),
    one('tags', ['$eq', '$ne'], listOf(tags)),
    one('tags', ['$contains', '$notcontains'], fc.constantFrom('red', 'E', 'x', '')),
    one('sizes', ['$neq', '$nne'], listOf(sizes)),
    fc.tuple(fc.constantFrom(...names), fc.boolean()).map(([name, value]) => ({ [name]: { $empty: value } })),
  )
}

const tree = (): fc.Arbitrary<object> =>
  fc.letrec<{ node: object; group: object }>((tie) => ({
    group: fc
      .tuple(fc.constantFrom('$and', '$or'), fc.array(tie('node'), { maxLength: 3 }))
      .map(([name, nodes]) => ({ [name]: nodes })),
    node: fc.oneof({ maxDepth: 3 }, leaf(), tie('group')),
  })).node

beforeAll(async () => {
  world = await openWorkerDatasources()
  now = world.database.time.clock.now()
  const made = fc.sample(fc.tuple(row(), row(), row()), { numRuns: 20, seed: 7 }).flat()
  rows = made.map((each, n) => ({ ...each, sku: `K${n}` }))
  const content = rows.map((each) => JSON.stringify(each)).join('\n')
  const { id } = await world.live(content, fields, { source: { type: 'file', format: 'ndjson' } })
  datasourceId = id
})

afterAll(() => world.close())

test('every row is stored as it was sent', async () => {
  const found = await world.rows(datasourceId)
  expect(found).toHaveLength(rows.length)
  for (const [i, expected] of rows.entries()) {
    const shown = Object.fromEntries(fields.map(({ name }) => [name, expected[name] ?? null]))
    expect(found[i]).toEqual(shown)
  }
})

test('a query answers the rows that a plain computation finds', async () => {
  await fc.assert(
    fc.asyncProperty(tree(), async (query) => {
      const expected = rows.filter((each) => matches(each, query, fields, now)).map(({ sku }) => sku)
      const found = (await world.rows(datasourceId, query)).map(({ sku }) => sku)
      expect(found).toEqual(expected)
    }),
    { numRuns: times(2_000, 150) },
  )
})

test('rows come in the order that is asked for, empty values last', async () => {
  const sorted = async (field: string, order: 'asc' | 'desc') => {
    const reply = await world.call<PlainRow[]>('POST', '/query?perPage=100', {
      datasourceId,
      sort: [{ field, order }],
      fields: [field],
    })
    return reply.data.map((each) => each[field])
  }
  for (const field of ['price', 'seen', 'made']) {
    for (const order of ['asc', 'desc'] as const) {
      const values = rows.map((each) => each[field]).filter((value) => value !== undefined) as (
        | string
        | number
      )[]
      values.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0) * (order === 'asc' ? 1 : -1))
      const empty = rows.length - values.length
      expect(await sorted(field, order)).toEqual([...values, ...Array.from({ length: empty }, () => null)])
    }
  }
})
