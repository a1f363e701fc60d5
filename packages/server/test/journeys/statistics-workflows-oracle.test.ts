import { randomBytes } from 'node:crypto'
import type { Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findDimension } from '../../src/features/analytics/catalogue/catalogue.ts'
import { createDefinitionReader } from '../../src/features/analytics/definitions/definition-reader.ts'
import { compileQuery } from '../../src/features/analytics/query/compile/compile.ts'
import type { Attribution } from '../../src/features/analytics/query/compile/compile-credits.ts'
import { parseQuery } from '../../src/features/analytics/query/parse/parse.ts'
import { planQuery } from '../../src/features/analytics/query/plan.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { isFull, times } from '../support/long.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { type StoredEvent, storedEvent } from '../support/statistics-events.ts'
import {
  type Credit,
  creditsOf,
  type Interaction,
  interactionsOf,
} from '../support/statistics-oracle-credits.ts'
import { cellOf, measuresOf, type Named, openingsOf } from '../support/statistics-oracle-workflows.ts'

const long = isFull(import.meta.filename)

const runs = times(12, 2)

let engine: StatisticsEngine

beforeAll(async () => {
  engine = await openStatisticsEngine()
})
afterAll(() => engine.close())

const id = (prefix: string, n: number) => `${prefix}${String(n).padStart(24 - prefix.length, '0')}`
const workflowIds = [1, 2, 3].map((n) => id('65f0', n))
const categoryIds = [1, 2, 3, 4, 9].map((n) => id('ca7e', n))
const [season, audience, unused] = [1, 2, 3].map((n) => id('7a60', n))
const tagValues = [1, 2, 3, 4, 5].map((n) => id('7a6f', n))

const named: Named = {
  workflows: {
    [workflowIds[0] ?? '']: { name: 'Spring', teams: ['Shop', 'Brand'] },
    [workflowIds[1] ?? '']: { name: 'Spring', teams: [] },
  },
  categories: {
    [categoryIds[0] ?? '']: { name: 'Fashion' },
    [categoryIds[1] ?? '']: { name: 'Shoes', parent: categoryIds[0] ?? '' },
    [categoryIds[2] ?? '']: { name: "Boots, 'new'", parent: categoryIds[1] ?? '' },
    [categoryIds[3] ?? '']: { name: 'Rain', parent: categoryIds[2] ?? '' },
  },
  tagKeys: {
    [season ?? '']: {
      isMultiple: false,
      values: { [tagValues[0] ?? '']: 'Summer', [tagValues[1] ?? '']: 'Winter' },
    },
    [audience ?? '']: {
      isMultiple: true,
      values: { [tagValues[2] ?? '']: 'Youth', [tagValues[3] ?? '']: 'Adults' },
    },
    [unused ?? '']: { isMultiple: true, values: {} },
  },
}

const definitions = createDefinitionReader({
  listWorkflows: async () => Object.entries(named.workflows).map(([key, each]) => ({ id: key, ...each })),
  listCategories: async () =>
    Object.entries(named.categories).map(([key, { name, parent = null }]) => ({
      id: key,
      name,
      parentId: parent,
    })),
  listTagKeys: async () => [],
  findTagKeys: async (_, ids) =>
    Object.entries(named.tagKeys)
      .filter(([key]) => ids.includes(key))
      .map(([key, { isMultiple, values }]) => ({
        id: key,
        cardinality: isMultiple ? 'multiple' : 'single',
        values: Object.entries(values).map(([value, name]) => ({ id: value, name })),
      })),
})

const start = Date.parse('2026-03-10T00:00:00Z')
/** Times of which many are half a minute apart, or a millisecond beside. */
const time = fc
  .tuple(fc.constantFrom(0, 0, 9, 23, 24, 30), fc.nat(8), fc.constantFrom(0, 0, 1, -1))
  .map(([hours, halfMinutes, beside]) => start + hours * 3_600_000 + halfMinutes * 30_000 + beside)
const person = fc.record({
  tmpId: fc.constantFrom('d1', 'd2', 'd3'),
  clientId: fc.constantFrom('', '', 'c1', 'c2'),
})
const maybe = <T extends string>(...values: T[]) => fc.constantFrom<T | undefined>(undefined, ...values)
const labels = fc.record({
  workflowId: fc.constantFrom(...workflowIds, ...workflowIds, ''),
  versionId: maybe('v1', 'v2'),
  branchId: maybe('b1', 'b2', 'b3'),
  entrypointId: maybe('e1', 'e2'),
  zone: maybe('0', '1', '10'),
  zoneType: maybe('email', 'web'),
  message: maybe('m1', 'm1', 'm2'),
  language: maybe('fr', 'en'),
  individualized: maybe('true', 'true', 'false'),
  generationMs: maybe('3', '7.125', '0', 'late'),
  returnCode: maybe('3501'),
  categoryId: maybe(...categoryIds),
  tagValueIds: fc.option(
    fc.array(fc.constantFrom(...tagValues), { maxLength: 4 }).map((values) => JSON.stringify(values)),
    { nil: undefined },
  ),
  preview: maybe('false', 'true'),
  'parameter.utm_source': maybe('news', ''),
  "parameter.it's": maybe('x', ''),
})
const interaction = fc.record({
  name: fc.constantFrom('workflow_display', 'workflow_display', 'workflow_click', 'page_view'),
  url: fc.constantFrom('https://shop.example/a', 'https://shop.example/b', ''),
  deviceType: fc.constantFrom('desktop', 'mobile'),
  labels,
  time,
  person,
})
const history = fc.record({
  interactions: fc.array(interaction, { minLength: 30, maxLength: 90, size: 'max' }),
  purchases: fc.array(
    fc.record({
      time,
      person,
      cents: fc.integer({ min: -500, max: 9_999 }),
      deviceType: fc.constantFrom('mobile', 'app'),
    }),
    { minLength: 4, maxLength: 12, size: 'max' },
  ),
  identities: fc.array(fc.record({ time, person }), { maxLength: 4, size: 'max' }),
  model: fc.constantFrom<Attribution['model']>('last-touch', 'linear', 'decay'),
  clickHours: fc.integer({ min: 1, max: 30 }),
  displayHours: fc.integer({ min: 1, max: 30 }),
  order: fc.infiniteStream(fc.nat()),
  batches: fc.integer({ min: 1, max: 3 }),
})
type History = typeof history extends fc.Arbitrary<infer T> ? T : never

function eventsOf(drawn: History, company: string): StoredEvent[] {
  // Of interactions of one millisecond, kind and workflow a hash decides, which the oracle does not know.
  const taken = new Set<string>()
  return [
    ...drawn.interactions.map(({ person: of, labels: given, ...each }) => {
      let at = each.time
      while (taken.has(`${at} ${each.name} ${given.workflowId}`)) at += 10_000
      taken.add(`${at} ${each.name} ${given.workflowId}`)
      const kept = Object.entries(given).flatMap(([key, text]) => (text === undefined ? [] : [[key, text]]))
      return storedEvent({ company, ...each, ...of, time: at, labels: Object.fromEntries(kept) })
    }),
    ...drawn.purchases.map(({ person: of, cents, ...each }) =>
      storedEvent({ company, name: 'purchase', value: (cents / 100).toFixed(2), ...each, ...of }),
    ),
    ...drawn.identities.map(({ time: at, person: of }) =>
      storedEvent({ company, name: 'identify', time: at, ...of }),
    ),
  ]
}

interface Asked {
  readonly dimensions: readonly string[]
  readonly filters?: Query['filters']
  readonly keeps?: (each: Interaction) => boolean
  readonly perDay?: true
  readonly range?: readonly [number, number]
}

const minutes = 60_000
const ofPerson: Query['filters'] = [{ member: 'workflows.person', operator: 'equals', values: ['c1', 'd1'] }]
const asked: readonly Asked[] = [
  { dimensions: [] },
  { dimensions: ['workflows.id'] },
  { dimensions: ['workflows.name', 'workflows.isIndividualized'] },
  { dimensions: ['workflows.version', 'workflows.branch'] },
  { dimensions: ['workflows.entrypoint', 'workflows.zone', 'workflows.zoneType'] },
  { dimensions: ['workflows.message', 'workflows.language'] },
  { dimensions: ['workflows.team', 'workflows.returnCode'] },
  { dimensions: ['workflows.category', 'workflows.categoryLevel1'] },
  { dimensions: ['workflows.categoryLevel2', 'workflows.categoryLevel3'] },
  { dimensions: [`tags.${season}`, `tags.${audience}`] },
  { dimensions: [`tags.${unused}`, 'workflows.isAnonymous'] },
  { dimensions: ['workflows.utmSource', "workflows.parameter.it's"] },
  { dimensions: ['workflows.person', 'workflows.branch'] },
  { dimensions: ['workflows.deviceType'] },
  { dimensions: ['workflows.name'], perDay: true },
  { dimensions: [], range: [start + minutes, start + 24 * 60 * minutes + 30_000] },
  {
    dimensions: ['workflows.id'],
    filters: [{ member: 'workflows.isIndividualized', operator: 'equals', values: ['true'] }],
    keeps: ({ texts }) => texts.get('label.individualized') === 'true',
  },
  {
    dimensions: ['workflows.branch'],
    filters: [
      {
        or: [
          { member: `tags.${audience}`, operator: 'contains', values: ['YOUTH'] },
          { member: 'workflows.name', operator: 'equals', values: ['Spring'] },
        ],
      },
    ],
    keeps: (each) =>
      cellOf(each, 'workflows.name', named) === 'Spring' ||
      String(cellOf(each, `tags.${audience}`, named)).includes('Youth'),
  },
  {
    dimensions: ['workflows.zone'],
    filters: ofPerson,
    keeps: ({ person: of }) => of === 'c1' || of === 'd1',
  },
]

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Rows by a plain computation, as texts. */
function expectedRows(
  interactions: readonly Interaction[],
  credits: readonly Credit[],
  { dimensions, keeps = () => true, perDay, range = [-Infinity, Infinity] }: Asked,
): string[] {
  const inRange = ({ time: at }: { time: number }) => at >= range[0] && at < range[1]
  const kept = interactions.filter(keeps)
  const groups = new Map<
    string,
    { [K in keyof ReturnType<typeof emptyGroup>]: ReturnType<typeof emptyGroup>[K] }
  >()
  const groupOf = (cells: readonly unknown[], at: number) => {
    const key = JSON.stringify(perDay ? [dayOf(at), ...cells] : cells)
    const group = groups.get(key) ?? emptyGroup()
    groups.set(key, group)
    return group
  }
  const cellsOf = (each: Interaction) => dimensions.map((name) => cellOf(each, name, named))
  for (const each of kept.filter(inRange)) groupOf(cellsOf(each), each.time).interactions.push(each)
  const displays = kept.filter(({ kind }) => kind === 0)
  for (const of of Map.groupBy(displays, (each) => JSON.stringify(cellsOf(each))).values()) {
    const own = of.filter(({ texts }) => texts.get('label.individualized') === 'true')
    for (const each of openingsOf(of).filter(inRange)) groupOf(cellsOf(each), each.time).openings.push(each)
    for (const each of openingsOf(own).filter(inRange))
      groupOf(cellsOf(each), each.time).ownOpenings.push(each)
  }
  for (const credit of credits) {
    const { interaction: of, purchase } = credit
    if (!keeps(of) || !inRange(purchase)) continue
    // Of a purchase that is credited, the device is its own.
    const cells = dimensions.map((name) =>
      name === 'workflows.deviceType' ? (purchase.texts.get('deviceType') ?? null) : cellOf(of, name, named),
    )
    groupOf(cells, purchase.time).credits.push(credit)
  }
  if (dimensions.length === 0 && groups.size === 0) groups.set('[]', emptyGroup())
  return [...groups].map(([key, group]) => textOf(JSON.parse(key), Object.values(measuresOf(group)))).sort()
}

function emptyGroup() {
  return {
    interactions: [] as Interaction[],
    openings: [] as Interaction[],
    ownOpenings: [] as Interaction[],
    credits: [] as Credit[],
  }
}

/** Moves the halves of six decimals, which quotients by 32 displays end in, to where none ends: sums differ in their last bits. */
const besideHalves = 1e-7

function textOf(cells: readonly unknown[], values: readonly (number | null)[]): string {
  const numbers = values.map((value) =>
    value === null ? 'null' : (value + besideHalves).toFixed(6).replace(/^-0\.0+$/, '0.000000'),
  )
  return `${JSON.stringify(cells)} ${numbers.join(' ')}`
}

const measures = Object.keys(measuresOf(emptyGroup()))

async function rowsOf(
  { dimensions, filters = [], perDay, range }: Asked,
  company: string,
  attribution: Attribution,
): Promise<string[]> {
  const lookups = [...dimensions, 'workflows.name', `tags.${audience}`].flatMap(
    (each) => findDimension(each)?.lookup ?? [],
  )
  const query: Query = {
    measures,
    dimensions: [...dimensions],
    filters,
    timeDimensions:
      perDay || range
        ? [
            {
              dimension: 'workflows.time',
              ...(perDay ? { granularity: 'day' as const } : {}),
              ...(range ? { dateRange: range.map((at) => new Date(at).toISOString()) } : {}),
            },
          ]
        : [],
  }
  const plan = planQuery(parseQuery(query, { instant: start, zone: openZone('UTC') }))
  const { sql, params } = compileQuery(plan, company, {
    eventAliases: new Map(),
    visibleWorkflows: 'all',
    attribution,
    exactCounts: false,
    definitions: await definitions.read(company, lookups, 'all'),
  })
  const rows = await engine.columnar.query<Record<string, unknown>>({ sql, params })
  const grouped = dimensions.length + (perDay ? 1 : 0)
  return rows
    .map((row) => {
      const cells = Object.values(row)
      return textOf(
        cells.slice(0, grouped),
        cells.slice(grouped).map((value) => (value === null ? null : Number(value))),
      )
    })
    .sort()
}

/** Seconds of one history, with each of the questions. */
const perRun = 30_000

it('every measure by every dimension equals a plain computation, whatever the history and its order', {
  timeout: 600_000 + perRun * runs * (long ? 2 : 1),
}, async () => {
  let credited = 0
  await fc.assert(
    fc.asyncProperty(history, async (drawn) => {
      const company = randomBytes(12).toString('hex')
      const events = eventsOf(drawn, company)
      const ranks = events.map((event) => [drawn.order.next().value ?? 0, event] as const)
      const arriving = ranks.toSorted(([a], [b]) => a - b).map(([, event]) => event)
      const size = Math.ceil(arriving.length / drawn.batches)
      for (let i = 0; i < arriving.length; i += size) await engine.load(arriving.slice(i, i + size))
      // What is sent again is the same event.
      await engine.load(arriving.slice(0, size))
      const { model, clickHours, displayHours } = drawn
      const interactions = interactionsOf(events)
      const credits = creditsOf(events, model, drawn)
      credited += credits.length
      for (const each of asked) {
        const attribution = { model, windows: { clickHours, displayHours } }
        expect(await rowsOf(each, company, attribution), JSON.stringify({ model, ...each })).toEqual(
          expectedRows(interactions, credits, each),
        )
      }
    }),
    { numRuns: runs, endOnFailure: true },
  )
  expect(credited).toBeGreaterThan(runs)
})
