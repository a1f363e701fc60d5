import {
  actionsFrom,
  type Experiment,
  experimentActions,
  experimentStatuses,
  transitionOf,
} from '@millrace/contract/resources/experiment.ts'
import type { TagKey } from '@millrace/contract/resources/tag-key.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MeasuredResults } from '../../src/features/experiments/decision.ts'
import type { MeasuredExperiment } from '../../src/features/experiments/measured-experiment.ts'
import { DomainError } from '../../src/platform/errors.ts'
import { type ExperimentsApp, experimentBody, openExperimentsApp } from '../support/experiments.ts'

let opened: ExperimentsApp
/** What results say, and of what they were asked. */
let results: MeasuredResults
let measured: MeasuredExperiment[]
let failure: DomainError | undefined

beforeAll(async () => {
  opened = await openExperimentsApp({
    readResults: async (experiment) => {
      measured.push(experiment)
      if (failure) throw failure
      return results
    },
  })
  // What experiments are attached to.
  await opened.relational.pool.query(
    `insert into workflows (id, company_id, name) select repeat(digit, 24), $1, 'W' from unnest($2::text[]) digit`,
    [opened.app.companyId, ['a', 'b', 'f']],
  )
})

beforeEach(async () => {
  results = { variants: [] }
  measured = []
  failure = undefined
  const { pool } = opened.relational
  await pool.query('delete from experiments')
  await pool.query('delete from tag_keys')
  await opened.app.audit()
})

afterAll(() => opened.close())

const nobody = 'f'.repeat(24)
const now = () => new Date(opened.relational.time.clock.now()).toISOString()
const later = (ms: number) => new Date(opened.relational.time.clock.now() + ms).toISOString()
const post = (body: unknown, token?: string) => opened.call('POST', '', body, token)
const tags = async (): Promise<TagKey[]> => {
  const url = '/v2/statistics/analytics/settings/tags?includeSystem=true'
  return (await opened.app.auth.call(opened.admin.token, 'GET', url)).json().data
}
const half = [
  { id: 'a', name: 'A', allocation: 0.5 },
  { id: 'b', name: 'B', allocation: 0.5 },
]

describe('creating an experiment', () => {
  test('fills in what is absent, and is read back as it was answered', async () => {
    const experiment = await opened.create()
    expect(experiment).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      companyId: opened.app.companyId,
      name: 'New product page',
      hypothesis: '',
      createdBy: opened.admin.id,
      type: 'ab',
      unit: 'user',
      successMetric: 'unique_conversion',
      status: 'draft',
      attachments: [],
      variants: [
        { id: 'control', name: 'Present page', allocation: 0.5, tagValueId: expect.any(String) },
        { id: 'treatment', name: 'New page', allocation: 0.5, tagValueId: expect.any(String) },
      ],
      baselineVariantId: 'control',
      systemTagKeyId: expect.any(String),
      resourceGroupIds: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      scheduledAt: null,
      startedAt: null,
      readAt: null,
      endedAt: null,
      decidedAt: null,
      archivedAt: null,
      outcome: null,
      metrics: [
        {
          id: 'orders',
          kind: 'unique_conversion',
          source: { purchases: true },
          role: 'success',
          direction: 'increase',
          windowHours: 168,
        },
      ],
      conversionWindowHours: 168,
      plannedSample: null,
      outlierCap: null,
      cupedDays: null,
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(await opened.read(experiment)).toEqual(experiment)
  })

  test('keeps what it is given', async () => {
    const teamId = await opened.app.team()
    const body = {
      ...experimentBody({
        hypothesis: 'Larger\npictures',
        unit: 'device',
        successMetric: 'revenue_per_user',
        baselineVariantId: 'treatment',
        conversionWindowHours: 24,
        plannedSample: 20_000,
        outlierCap: 0.99,
        cupedDays: 14,
        metrics: [
          { id: 'revenue', kind: 'revenue_per_user', source: { purchases: true } },
          {
            id: 'bounces',
            kind: 'conversion',
            source: { event: 'bounce' },
            direction: 'decrease',
            windowHours: 1,
          },
        ],
      }),
      attachments: [{ surface: 'workflow', resourceId: 'A'.repeat(24) }],
      resourceGroupIds: [teamId.toUpperCase(), teamId],
    }
    const { status, data } = await post(body)
    expect(status).toBe(200)
    expect(data).toMatchObject({
      ...body,
      attachments: [{ surface: 'workflow', resourceId: 'a'.repeat(24), attachedAt: now() }],
      resourceGroupIds: [teamId],
      metrics: [
        { id: 'revenue', role: 'success', direction: 'increase', windowHours: 24 },
        { id: 'bounces', role: 'guard', direction: 'decrease', windowHours: 1 },
      ],
    })
  })

  test('counts the success metric over purchases without metrics, and clicks over clicks', async () => {
    const { metrics: _, ...body } = experimentBody()
    expect(await post({ ...body, successMetric: 'conversion' })).toMatchObject({
      status: 200,
      data: { successMetric: 'conversion', metrics: [{ kind: 'conversion', source: { purchases: true } }] },
    })
    expect(await post({ ...body, successMetric: 'click_rate' })).toMatchObject({
      status: 200,
      data: { metrics: [{ kind: 'click_rate', source: { event: 'workflow_click' } }] },
    })
  })

  test('makes a copy of what was read, with a salt and a tag key of its own', async () => {
    const experiment = await opened.create()
    const copy = (await post(experiment)).data as unknown as Experiment
    expect(copy).toMatchObject({ variants: experiment.variants.map(({ id, name }) => ({ id, name })) })
    for (const field of ['_id', 'salt', 'systemTagKeyId'] as const)
      expect(copy[field]).not.toBe(experiment[field])
    expect(copy.variants[0]?.tagValueId).not.toBe(experiment.variants[0]?.tagValueId)
  })

  test('makes a system tag key whose values stand for the variants', async () => {
    const experiment = await opened.create()
    expect(await tags()).toMatchObject([
      {
        id: experiment.systemTagKeyId,
        definition: {
          name: `Experiment ${experiment._id}: New product page`,
          assignmentMode: 'system',
          values: experiment.variants.map(({ name, tagValueId }) => ({ _id: tagValueId, name })),
        },
      },
    ])
  })

  test.each<[string, Record<string, unknown>, string, RegExp]>([
    [
      'allocations that add up to less',
      { variants: [half[0], { ...half[1], allocation: 0.4 }] },
      'variants',
      /they add up to 0\.9/,
    ],
    [
      'allocations beyond rounding',
      { variants: [half[0], { ...half[1], allocation: 0.500000002 }] },
      'variants',
      /add up to 1/,
    ],
    [
      'an allocation of nothing',
      { variants: [half[0], { ...half[1], allocation: 0 }] },
      'variants.1.allocation',
      /more than 0/,
    ],
    ['one variant', { variants: [{ ...half[0], allocation: 1 }] }, 'variants', /2/],
    ['a variant twice', { variants: [half[0], { ...half[1], id: 'a' }] }, 'variants.1.id', /differ/],
    ['a name twice', { variants: [half[0], { ...half[1], name: ' a ' }] }, 'variants.1.name', /differ/],
    [
      'a name of which nothing is seen',
      { variants: [half[0], { ...half[1], name: '\u2060' }] },
      'variants.1.name',
      /seen/,
    ],
    [
      'an identifier that is no key',
      { variants: [half[0], { ...half[1], id: '__proto__' }] },
      'variants.1.id',
      /letters/,
    ],
    [
      'a baseline that is no variant',
      { baselineVariantId: 'x' },
      'baselineVariantId',
      /one of control, treatment/,
    ],
    [
      'a holdout of three',
      {
        type: 'holdout',
        variants: [...half, { name: 'C', allocation: 0.1 }].map((v) => ({ ...v, allocation: 1 / 3 })),
      },
      'variants',
      /two/,
    ],
    ['no metric', { metrics: undefined }, 'successMetric', /needed/],
    [
      'a success metric of another kind',
      { successMetric: 'conversion' },
      'successMetric',
      /unique_conversion/,
    ],
    [
      'revenue of an event',
      { metrics: [{ kind: 'revenue_per_user', source: { event: 'x' } }] },
      'metrics.0.source',
      /purchases/,
    ],
    [
      'clicks of purchases',
      { metrics: [{ kind: 'click_rate', source: { purchases: true } }] },
      'metrics.0.source',
      /event/,
    ],
    [
      'a guard first',
      { metrics: [{ kind: 'conversion', source: { event: 'x' }, role: 'guard' }] },
      'metrics.0.role',
      /success/,
    ],
    [
      'a metric twice',
      { metrics: [1, 2].map(() => ({ id: 'm', kind: 'conversion', source: { event: 'x' } })) },
      'metrics.1.id',
      /differ/,
    ],
    ['an unknown type', { type: 'bandit' }, 'type', /ab/],
    ['an unknown field', { allocation: 1 }, 'allocation', /allocation/],
    ['a window of nothing', { conversionWindowHours: 0 }, 'conversionWindowHours', /1/],
    ['a cap of everything', { outlierCap: 1 }, 'outlierCap', /1/],
    ['a hypothesis of 2,001 characters', { hypothesis: 'x'.repeat(2001) }, 'hypothesis', /2000/],
    ['a hypothesis with NUL', { hypothesis: 'a\u0000' }, 'hypothesis', /character/],
    [
      'an event with NUL',
      { metrics: [{ kind: 'conversion', source: { event: 'a\u0000' } }] },
      'metrics.0.source',
      /./,
    ],
  ])('X05: refuses %s', async (_, fields, path, message) => {
    const reply = await post({ ...experimentBody(), ...fields })
    expect(reply).toMatchObject({ status: 400, error_code: expect.any(Number) })
    const errors = (reply.data as unknown as { errors: { path: string; message: string }[] }).errors
    expect(errors.map((error) => error.path).join()).toContain(path)
    expect(`${errors.map((error) => `${error.path} ${error.message}`)}`).toMatch(message)
    expect(await tags()).toEqual([])
  })

  test('accepts allocations that add up to 1 but for rounding', async () => {
    const variants = Array.from({ length: 10 }, (_, i) => ({ name: `V${i}`, allocation: 0.1 }))
    expect((await opened.create({ variants })).variants).toHaveLength(10)
  })

  test('refuses teams of another company and unknown ones', async () => {
    for (const teamId of [opened.app.other.teamId, nobody])
      expect(await post({ ...experimentBody(), resourceGroupIds: [teamId] })).toMatchObject({
        status: 400,
        error_code: 2052,
        data: { teamIds: [teamId] },
      })
    expect(await tags()).toEqual([])
  })
})

describe('the list', () => {
  test('has the newest first, by pages, without the archived', async () => {
    const made: Experiment[] = []
    for (let i = 0; i < 3; i++) made.push(await opened.create({ name: `E${i}` }))
    const [a, b, c] = made as [Experiment, Experiment, Experiment]
    await opened.take(b, 'running')
    await opened.act(a, 'archive')
    const list = async (search: string, token?: string) => {
      const reply = await opened.call('GET', search, undefined, token)
      return { ids: reply.data.map(({ _id }) => _id), count: reply.paginationCount }
    }
    expect(await list('')).toEqual({ ids: [c._id, b._id], count: 2 })
    expect(await list('?includeArchived=true&perPage=2&page=2')).toEqual({ ids: [a._id], count: 3 })
    expect(await list('?status=running')).toEqual({ ids: [b._id], count: 1 })
    expect(await list('?status=archived')).toEqual({ ids: [a._id], count: 1 })
    expect(await list('', opened.stranger.token)).toEqual({ ids: [], count: 0 })
    expect(await opened.call('GET', '?status=paused')).toMatchObject({ status: 400 })
    expect(await list('?q=e1')).toEqual({ ids: [b._id], count: 1 })
    expect(await list('?q=_1')).toEqual({ ids: [], count: 0 })
    expect(await list('?sortBy=name')).toEqual({ ids: [b._id, c._id], count: 2 })
    expect(await list('?sortBy=status&sortOrder=desc')).toEqual({ ids: [b._id, c._id], count: 2 })
  })

  test.each(['TRUE', '1', 'null', '', 'true&includeArchived=true'])(
    'S01: refuses includeArchived=%s',
    async (value) => {
      expect(await opened.call('GET', `?includeArchived=${value}`)).toMatchObject({ status: 400 })
    },
  )
})

describe('the states', () => {
  const stateOf = (status: Experiment['status']) => opened.create().then((made) => opened.take(made, status))
  const addressOf = { unschedule: 'schedule' } as Partial<Record<string, string>>
  const bodyOf = (action: string) =>
    ({
      schedule: { scheduledAt: later(7_200_000) },
      unschedule: { scheduledAt: null },
      decide: { routingVariantId: 'control' },
    })[action]

  describe.each(experimentStatuses)('%s', (status) => {
    test.each(experimentActions)('and %s', async (action) => {
      const before = await stateOf(status)
      expect(before.status).toBe(status)
      await opened.app.audit()
      opened.relational.time.advance(1000)
      const reply = await opened.act(before, addressOf[action] ?? action, bodyOf(action))
      const { to, sets, from } = transitionOf(action)
      if (from.includes(status)) {
        expect(reply).toMatchObject({ status: 200, data: { status: to ?? status } })
        if (sets && sets !== 'scheduledAt') expect(reply.data[sets]).toBe(now())
        expect(await opened.app.audit()).toHaveLength(1)
      } else {
        expect(reply).toMatchObject({
          status: 409,
          error_code: 9400,
          data: { id: before._id, action, from: status, to: to ?? null, allowed: actionsFrom(status) },
        })
        expect(reply.message).toContain(status)
        expect(await opened.read(before)).toEqual(before)
        expect(await opened.app.audit()).toMatchObject([
          { outcome: 'failure', error: 'experimentTransition' },
        ])
      }
    })
  })

  test('schedule a time in the future only, at most a year ahead', async () => {
    const experiment = await opened.create()
    const schedule = (scheduledAt: unknown) => opened.act(experiment, 'schedule', { scheduledAt })
    for (const wrong of [later(0), later(-1), later(400 * 86_400_000), 'tomorrow', 17, undefined])
      expect(await schedule(wrong)).toMatchObject({ status: 400 })
    expect(await schedule(later(1000))).toMatchObject({
      status: 200,
      data: { status: 'scheduled', scheduledAt: later(1000) },
    })
    expect(await schedule(null)).toMatchObject({ status: 200, data: { status: 'draft', scheduledAt: null } })
  })

  test('keep the first time that results were read', async () => {
    const experiment = await stateOf('running')
    const first = (await opened.act(experiment, 'read')).data
    opened.relational.time.advance(60_000)
    await opened.act(experiment, 'end')
    await opened.app.audit()
    expect(await opened.act(experiment, 'read')).toMatchObject({
      status: 200,
      data: { readAt: first.readAt },
    })
    expect(await opened.app.audit()).toEqual([])
  })

  test('X03: change once when several want it at the same time', async () => {
    const experiment = await opened.create()
    for (const deed of ['start', 'end']) {
      const replies = await Promise.all(Array.from({ length: 5 }, () => opened.act(experiment, deed)))
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
      const entries = (await opened.app.audit()).filter(({ action }) => action === `experiment-${deed}`)
      expect(entries.filter(({ outcome }) => outcome === 'success')).toHaveLength(1)
    }
  })
})

describe('a decision', () => {
  const lift = { estimate: 0.1, low: 0.02, high: 0.18 }
  const none = { confidence: null, pValue: null, lift: { estimate: null, low: null, high: null } }

  test('keeps the numbers of the variant that is shown to all', async () => {
    const experiment = await opened.take(await opened.create({ plannedSample: 100 }), 'ended')
    results = {
      variants: [{ variantId: 'treatment', validated: true, confidence: 0.98, pValue: 0.02, lift }],
    }
    const reply = await opened.act(experiment, 'decide', { routingVariantId: 'treatment' })
    expect(reply.data.outcome).toEqual({
      status: 'decided',
      routingVariantId: 'treatment',
      decidedBy: { type: 'user', userId: opened.admin.id },
      validated: true,
      confidence: 0.98,
      pValue: 0.02,
      lift,
    })
    expect(await opened.read(experiment)).toEqual(reply.data)
    expect(measured).toMatchObject([
      {
        id: experiment._id,
        companyId: opened.app.companyId,
        type: 'ab',
        unit: 'user',
        variants: experiment.variants,
        baselineVariantId: 'control',
        metrics: experiment.metrics,
        startedAt: Date.parse(experiment.startedAt ?? ''),
        endedAt: Date.parse(experiment.endedAt ?? ''),
        plannedSample: 100,
        conversionWindowHours: 168,
        outlierCap: null,
        cupedDays: null,
      },
    ])
  })

  test('for the baseline keeps those of the variant with the smallest p-value', async () => {
    const variants = ['control', 'b', 'treatment'].map((id) => ({ id, name: id, allocation: 1 / 3 }))
    const experiment = await opened.take(await opened.create({ variants }), 'ended')
    results = {
      variants: [
        { variantId: 'b', validated: true, ...none },
        { variantId: 'treatment', validated: false, confidence: 0.5, pValue: 0.5, lift },
      ],
    }
    const reply = await opened.act(experiment, 'decide', { routingVariantId: 'control' })
    expect(reply.data.outcome).toMatchObject({
      routingVariantId: 'control',
      validated: false,
      pValue: 0.5,
      lift,
    })
  })

  test('X02: NaN and what was not measured are null', async () => {
    const experiment = await opened.take(await opened.create(), 'ended')
    results = {
      variants: [
        {
          variantId: 'treatment',
          validated: false,
          confidence: Number.NaN,
          pValue: Number.NaN,
          lift: { estimate: Number.NaN, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY },
        },
      ],
    }
    const decided = await opened.act(experiment, 'decide', { routingVariantId: 'treatment' })
    expect(decided.data.outcome).toMatchObject(none)
    const other = await opened.take(await opened.create(), 'ended')
    results = { variants: [] }
    const reply = await opened.act(other, 'decide', { routingVariantId: 'treatment' })
    expect(reply.data.outcome).toMatchObject(none)
  })

  test.each([
    ['tooManyRequests', 429, { retryAfter: 2 }],
    ['timeout', 504, { limitSeconds: 30 }],
  ] as const)('is not made while results cannot be read: %s', async (name, status, data) => {
    const experiment = await opened.take(await opened.create(), 'ended')
    await opened.app.audit()
    failure = new DomainError(name, data)
    const reply = await opened.act(experiment, 'decide', { routingVariantId: 'treatment' })
    expect(reply.status).toBe(status)
    expect(await opened.read(experiment)).toEqual(experiment)
    expect(await opened.app.audit()).toMatchObject([
      { action: 'experiment-decide', outcome: 'failure', error: name, target_id: experiment._id },
    ])
  })

  test('names a variant', async () => {
    const experiment = await opened.take(await opened.create(), 'ended')
    const reply = await opened.act(experiment, 'decide', { routingVariantId: 'x' })
    expect(reply).toMatchObject({
      status: 400,
      message: 'routingVariantId must be one of control, treatment',
    })
    expect(measured).toEqual([])
    expect(await opened.act(experiment, 'decide', {})).toMatchObject({ status: 400 })
  })
})

describe('an update', () => {
  test('of a draft changes every field, and the tag key with it', async () => {
    const experiment = await opened.create()
    const [control, treatment] = experiment.variants
    await opened.app.audit()
    const wanted = {
      name: 'Second try',
      type: 'ab',
      unit: 'device',
      variants: [
        // Names are exchanged, and a variant goes while another one comes.
        { id: 'treatment', name: 'Present page', allocation: 0.2 },
        { id: 'control', name: 'New page', allocation: 0.3 },
        { id: 'third', name: 'Third page', allocation: 0.5 },
      ],
      baselineVariantId: 'third',
      plannedSample: 40_000,
      cupedDays: 7,
    }
    const { status, data } = await opened.patch(experiment, wanted)
    expect(status).toBe(200)
    expect(data).toMatchObject(wanted)
    expect(data.variants.map(({ tagValueId }) => tagValueId)).toEqual([
      treatment?.tagValueId,
      control?.tagValueId,
      expect.any(String),
    ])
    const [key] = await tags()
    expect(key?.definition.name).toBe(`Experiment ${experiment._id}: Second try`)
    const named = new Map(key?.definition.values.map(({ _id, name }) => [_id, name]))
    expect(data.variants.map(({ tagValueId = '' }) => named.get(tagValueId))).toEqual(
      wanted.variants.map(({ name }) => name),
    )
    expect(await opened.app.audit()).toMatchObject([
      {
        action: 'experiment-update',
        target_id: experiment._id,
        details: { from: { name: 'New product page' } },
      },
    ])
    const two = [
      { id: 'control', name: 'A', allocation: 0.5 },
      { id: 'third', name: 'B', allocation: 0.5 },
    ]
    const shorter = await opened.patch(experiment, { variants: two })
    expect(shorter.data.variants[1]?.tagValueId).toBe(data.variants[2]?.tagValueId)
    expect((await tags())[0]?.definition.values).toHaveLength(2)
  })

  test('of a draft keeps what it does not name', async () => {
    const experiment = await opened.create({ plannedSample: 100, hypothesis: 'x' })
    expect((await opened.patch(experiment, { cupedDays: 3 })).data).toMatchObject({
      plannedSample: 100,
      hypothesis: 'x',
      cupedDays: 3,
    })
    expect((await opened.patch(experiment, { plannedSample: null })).data.plannedSample).toBeNull()
    const kind = await opened.patch(experiment, { successMetric: 'revenue_per_user' })
    expect(kind.data).toMatchObject({
      successMetric: 'revenue_per_user',
      metrics: [{ id: 'orders', kind: 'revenue_per_user' }],
    })
  })

  test('of a draft that would be wrong changes nothing', async () => {
    const experiment = await opened.create()
    const variants = [{ id: 'x', name: 'X', allocation: 0.5 }, half[1]]
    const reply = await opened.patch(experiment, { name: 'Other', variants })
    expect(reply).toMatchObject({ status: 400, message: expect.stringContaining('baselineVariantId') })
    expect(await opened.read(experiment)).toEqual(experiment)
  })

  test.each(['draft', 'scheduled', 'running', 'ended', 'decided', 'archived'] as const)(
    'of what was read while %s changes nothing',
    async (status) => {
      const experiment = await opened.take(await opened.create({ cupedDays: 3 }), status)
      await opened.app.audit()
      const reply = await opened.patch(experiment, experiment)
      expect(reply).toMatchObject({ status: 200, data: experiment })
      expect(await opened.app.audit()).toEqual([])
    },
  )

  test.each(['scheduled', 'running', 'ended', 'decided'] as const)(
    'X04: while %s changes what describes it, and refuses what decides its numbers',
    async (status) => {
      const experiment = await opened.take(await opened.create(), status)
      const wanted = {
        name: 'Other',
        hypothesis: 'Other',
        attachments: [{ surface: 'workflow', resourceId: nobody }],
        resourceGroupIds: [await opened.app.team()],
      }
      expect(await opened.patch(experiment, wanted)).toMatchObject({ status: 200, data: wanted })
      const [control, treatment] = experiment.variants
      const fixed: Record<string, unknown> = {
        type: 'holdout',
        unit: 'device',
        successMetric: 'conversion',
        baselineVariantId: 'treatment',
        conversionWindowHours: 1,
        plannedSample: 10,
        outlierCap: 0.9,
        cupedDays: 1,
        metrics: [{ id: 'orders', kind: 'unique_conversion', source: { event: 'x' } }],
        variants: [
          { ...control, allocation: 0.6 },
          { ...treatment, allocation: 0.4 },
        ],
      }
      for (const [field, value] of Object.entries(fixed)) {
        const reply = await opened.patch(experiment, { name: 'Third', [field]: value })
        expect(reply, field).toMatchObject({
          status: 409,
          error_code: 9401,
          data: {
            id: experiment._id,
            status,
            fields: expect.arrayContaining([field]),
            changeable: ['name', 'hypothesis', 'attachments', 'resourceGroupIds'],
          },
        })
      }
      // Variants in another order would be assigned to other units.
      const order = await opened.patch(experiment, { variants: [treatment, control] })
      expect(order).toMatchObject({ status: 409, data: { fields: ['variants'] } })
      expect(await opened.read(experiment)).toMatchObject({ ...wanted, variants: experiment.variants })
    },
  )

  test('of an archived one changes nothing at all', async () => {
    const experiment = await opened.take(await opened.create(), 'archived')
    expect(await opened.patch(experiment, { name: 'Other' })).toMatchObject({
      status: 409,
      error_code: 9401,
      data: { fields: ['name'], changeable: [] },
    })
  })

  test('V04: several at the same time are made one after the other', async () => {
    const experiment = await opened.create()
    const sizes = [2, 3, 4, 5, 6]
    const replies = await Promise.all(
      sizes.map((size) => {
        const variants = Array.from({ length: size }, (_, i) => ({
          id: `v${i}`,
          name: `V${size} ${i}`,
          allocation: 1 / size,
        }))
        return opened.patch(experiment, { variants, baselineVariantId: `v${size - 1}`, cupedDays: size })
      }),
    )
    expect(replies.map(({ status }) => status)).toEqual(sizes.map(() => 200))
    const times = replies.map(({ data }) => data.updatedAt)
    expect(new Set(times).size).toBe(times.length)
    const { variants, cupedDays, baselineVariantId, updatedAt } = await opened.read(experiment)
    expect(updatedAt).toBe(times.toSorted().at(-1))
    expect(variants).toHaveLength(cupedDays ?? 0)
    expect(baselineVariantId).toBe(`v${variants.length - 1}`)
    const values = (await tags())[0]?.definition.values ?? []
    expect(new Set(values.map(({ _id }) => _id))).toEqual(
      new Set(variants.map(({ tagValueId }) => tagValueId)),
    )
  })

  test('takes nothing of what the service decides', async () => {
    const experiment = await opened.create()
    const theirs = {
      _id: nobody,
      companyId: opened.app.other.companyId,
      createdBy: nobody,
      status: 'decided',
      salt: 'salt',
      systemTagKeyId: nobody,
      startedAt: later(-1000),
      endedAt: later(-1),
      outcome: { status: 'decided', validated: true, confidence: 1 },
      variants: experiment.variants.map((variant) => ({ ...variant, tagValueId: nobody })),
    }
    expect(await opened.patch(experiment, theirs)).toMatchObject({ status: 200, data: experiment })
    const { data } = await post({ ...experimentBody(), ...theirs })
    for (const [field, value] of Object.entries(theirs))
      expect((data as unknown as Record<string, unknown>)[field], field).not.toEqual(value)
    expect(await opened.read(experiment)).toEqual(experiment)
  })

  test('outlives the teams that it is meant for', async () => {
    const teams = [await opened.app.team(), await opened.app.team()].sort()
    const experiment = await opened.create({ resourceGroupIds: teams })
    await opened.app.call(opened.admin.token, 'DELETE', `/teams/${teams[0]}`)
    expect((await opened.read(experiment)).resourceGroupIds).toEqual(teams.slice(1))
  })

  test('is attached to workflows of the company, and keeps those that are gone since', async () => {
    const attachments = (digit: string) => [{ surface: 'workflow' as const, resourceId: digit.repeat(24) }]
    const refusal = { status: 400, error_code: 3002, data: { workflowIds: ['d'.repeat(24)] } }
    expect(await post(experimentBody({ attachments: attachments('d') }))).toMatchObject(refusal)
    const foreign = 'c'.repeat(24)
    await opened.relational.pool.query(`insert into workflows (id, company_id, name) values ($1, $2, 'W')`, [
      foreign,
      opened.app.other.companyId,
    ])
    expect(await post(experimentBody({ attachments: attachments('c') }))).toMatchObject({ status: 400 })
    const experiment = await opened.create({ attachments: attachments('a') })
    expect(await opened.patch(experiment, { attachments: attachments('d') })).toMatchObject(refusal)
    await opened.relational.pool.query('update workflows set id = $1 where id = $2', [
      'e'.repeat(24),
      'a'.repeat(24),
    ])
    expect(await opened.patch(experiment, experiment)).toMatchObject({ status: 200 })
    await opened.relational.pool.query('update workflows set id = $1 where id = $2', [
      'a'.repeat(24),
      'e'.repeat(24),
    ])
  })

  test('keeps the time of an attachment that stays', async () => {
    const attachments = ['a', 'b'].map((digit) => ({
      surface: 'workflow' as const,
      resourceId: digit.repeat(24),
    }))
    const experiment = await opened.create({ attachments: attachments.slice(0, 1) })
    opened.relational.time.advance(1000)
    const { data } = await opened.patch(experiment, { attachments: [...attachments, ...attachments] })
    expect(data.attachments).toEqual([experiment.attachments[0], { ...attachments[1], attachedAt: now() }])
  })
})

describe('its tag key', () => {
  const remove = async (path: string) => {
    const url = `/v2/statistics/analytics/settings/tags/${path}`
    const reply = await opened.app.auth.call(opened.admin.token, 'DELETE', url)
    return { ...reply.json(), status: reply.statusCode }
  }

  test.each(['draft', 'scheduled', 'running', 'ended', 'decided'] as const)(
    'G03: stays with its values while %s, and the failure names the experiment',
    async (status) => {
      const experiment = await opened.take(await opened.create(), status)
      const { systemTagKeyId, variants } = experiment
      const valueId = variants[0]?.tagValueId
      expect(await remove(`${systemTagKeyId}/values/${valueId}`)).toMatchObject({
        status: 409,
        error_code: 9040,
        data: { id: valueId, experimentIds: [experiment._id] },
      })
      expect(await remove(`${systemTagKeyId}`)).toMatchObject({
        status: 409,
        error_code: 9041,
        data: { uses: [{ kind: 'experiment', id: experiment._id, name: experiment.name }] },
      })
      expect((await tags())[0]?.definition.values).toHaveLength(2)
    },
  )

  test('stays when one that ran is archived, and nobody else deletes it', async () => {
    const experiment = await opened.take(await opened.create(), 'archived')
    expect(experiment.systemTagKeyId).toBeDefined()
    expect(await remove(`${experiment.systemTagKeyId}`)).toMatchObject({ status: 409, error_code: 9043 })
    const valueId = experiment.variants[0]?.tagValueId
    expect(await remove(`${experiment.systemTagKeyId}/values/${valueId}`)).toMatchObject({
      status: 409,
      error_code: 9043,
    })
  })

  test('goes when a draft is archived', async () => {
    const experiment = await opened.create()
    const { data } = await opened.act(experiment, 'archive')
    expect(data).not.toHaveProperty('systemTagKeyId')
    for (const variant of data.variants) expect(variant).not.toHaveProperty('tagValueId')
    expect(await tags()).toEqual([])
  })

  test('is renamed with an experiment that runs', async () => {
    const experiment = await opened.take(await opened.create(), 'running')
    await opened.patch(experiment, { name: 'Other' })
    expect((await tags())[0]?.definition.name).toBe(`Experiment ${experiment._id}: Other`)
  })

  test('a name that a tag key has already is refused, and nothing changes', async () => {
    const experiment = await opened.create()
    const url = '/v2/statistics/analytics/settings/tags'
    const name = `Experiment ${experiment._id}: Other`
    await opened.app.auth.call(opened.admin.token, 'POST', url, { definition: { name } })
    expect(await opened.patch(experiment, { name: 'Other' })).toMatchObject({
      status: 409,
      error_code: 9001,
      data: { name },
    })
    expect(await opened.read(experiment)).toEqual(experiment)
  })
})

test('X01: one of another company answers as one that is not there, whatever is asked of it', async () => {
  const experiment = await opened.take(await opened.create(), 'running')
  const asked = [
    ['GET', ''],
    ['PATCH', '', { name: 'Other' }],
    ['POST', '/schedule', { scheduledAt: later(1000) }],
    ['POST', '/start'],
    ['POST', '/read'],
    ['POST', '/end'],
    ['POST', '/decide', { routingVariantId: 'treatment' }],
    ['POST', '/archive'],
    ['GET', '/assignment?unit=ada'],
  ] as const
  for (const [method, path, body] of asked) {
    for (const [id, token] of [
      [experiment._id, opened.stranger.token],
      [nobody, opened.admin.token],
      [nobody.toUpperCase(), opened.admin.token],
    ] as const) {
      expect(await opened.call(method, `/${id}${path}`, body, token), `${method} ${path}`).toMatchObject({
        status: 404,
        error_code: 9000,
        message: 'Unable to find experiment',
        data: { id: id.toLowerCase() },
      })
    }
    expect(await opened.call(method, `/not-an-id${path}`, body)).toMatchObject({ status: 400 })
  }
  expect(await opened.read(experiment)).toEqual(experiment)
})
