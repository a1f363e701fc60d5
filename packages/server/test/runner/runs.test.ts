import { assignVariant } from '@millrace/contract/experiments/assignment.ts'
import type {
  Binding,
  ConditionRule,
  Edge,
  Expression,
  WorkflowDefinition,
  WorkflowNode,
  WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PersonEvent } from '../../src/features/analytics/persons/person.ts'
import { compileDefinition } from '../../src/features/personalisation/compile/compile-definition.ts'
import type {
  DataRow,
  Executable,
  RunEnvironment,
  RunnableExperiment,
} from '../../src/features/personalisation/compile/executable.ts'
import { analyzeDefinition } from '../../src/features/personalisation/definition/analyze-definition.ts'
import type { KnownTemplate } from '../../src/features/personalisation/definition/definition-resources.ts'
import { evaluateExpression } from '../../src/features/personalisation/definition/transform-functions/evaluate-expression.ts'
import { createComputingLimits } from '../../src/features/personalisation/run/computing-limits.ts'
import { type ExecuteOptions, execute, type Outcome } from '../../src/features/personalisation/run/execute.ts'
import type { TracedStep } from '../../src/features/personalisation/run/run.ts'
import type { RunRequest } from '../../src/features/personalisation/run/run-request.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { anyDefinitions, known, knownResources, soundDefinitions } from '../support/generated-definitions.ts'
import { times } from '../support/long.ts'
import {
  edgesOf,
  htmlZone,
  jsonZone,
  noOverrides,
  runnerTime,
  straight,
  utcClock,
} from '../support/runner.ts'

const workflowId = '65f0c0ffee5ca1ab1e0ddc01'

const template: KnownTemplate = {
  definition: {
    title: { type: 'dependency', variable: 'title' },
    price: { type: 'dependency', variable: 'price' },
    day: { type: 'dependency', variable: 'day' },
  },
  variables: [
    { name: 'title', type: 'scalar' },
    { name: 'price', type: 'array' },
    { name: 'day', type: 'fixed', index: 1 },
  ],
}

const experiment: RunnableExperiment = {
  id: known.experiment,
  status: 'running',
  unit: 'user',
  salt: 'salt',
  variants: [
    { id: 'control', allocation: 0.5 },
    { id: 'treatment', allocation: 0.5 },
  ],
  baselineVariantId: 'control',
  routingVariantId: undefined,
}

/** What the world of a run answers; undefined fails, `never` does not answer. */
interface World {
  readonly rows: readonly DataRow[] | 'never' | undefined
  /** By datasource, in place of `rows`. */
  readonly tables?: Readonly<Record<string, World['rows']>>
  readonly events: readonly PersonEvent[] | 'never' | undefined
  readonly isMember: boolean | undefined
  readonly isLater: boolean
  readonly city: string | undefined
  readonly client: string | undefined
  readonly locale: string | undefined
}

const unanswered = (): Promise<never> => new Promise(() => {})

function environmentOf(world: World, never = unanswered): RunEnvironment {
  const answer = <T>(value: T | undefined): Promise<T> =>
    value === undefined ? Promise.reject(new Error('it is down')) : Promise.resolve(value)
  return {
    companyId: 'c',
    readRows({ datasourceId, filters, limit }) {
      const stored = world.tables ? world.tables[datasourceId] : world.rows
      if (stored === undefined) throw new Error('it is down')
      if (stored === 'never') return never()
      const [filter] = filters
      const found = stored.filter((row) => filter === undefined || row[filter.field] === filter.value)
      const rows = found.slice(0, limit)
      return world.isLater ? Promise.resolve(rows) : rows
    },
    persons: {
      readPerson: () =>
        world.events === 'never' ? never() : answer(world.events && { events: world.events }),
      isMember: () => answer(world.isMember),
    },
    findReadable: () => new Set([known.tracking]),
    findExperiment: () => experiment,
    computing: createComputingLimits({ perRunMs: 10_000, clock: systemClock }),
  }
}

function requestOf({ city, client, locale }: World): RunRequest {
  return {
    parameters: new Map(city === undefined ? [] : [['city', [city]]]),
    person: { client, device: undefined },
    unit: client ?? 'anonymous-1',
    tmpId: client ?? 'anonymous-1',
    locale,
    sender: { deviceType: 'desktop', os: 'macOS', browser: 'Safari' },
    mailClient: '',
    page: '',
    now: runnerTime,
    clock: utcClock,
  }
}

function compile(definition: WorkflowDefinition): Executable {
  return compileDefinition({
    workflowId,
    versionId: 'v',
    definition,
    analyze: analyzeDefinition(definition, noOverrides, knownResources),
    templates: { [known.template]: template },
  })
}

function run(
  executable: Executable,
  entrypointId: string,
  world: World,
  options: Partial<ExecuteOptions> = {},
): Promise<Outcome> {
  const entrypoint = executable.entrypoints.get(entrypointId)
  if (!entrypoint) throw new Error(`no entrypoint ${entrypointId}`)
  return execute({
    executable,
    entrypoint,
    request: requestOf(world),
    environment: environmentOf(world),
    timeLimitMs: 10_000,
    clickAddress: () => 'https://millrace.example/click',
    ...options,
  })
}

const failure = Symbol('failure')

/** The way needs an answer that never comes. */
class Stuck extends Error {}

/**
 * The same, read off the definition node by node, each when something needs its value: no numbers, no caches, nothing in
 * parallel. @throws {Stuck}
 */
async function interpret(definition: WorkflowDefinition, entrypointId: string, world: World) {
  const { nodes, edges } = definition
  const environment = environmentOf(world, () => Promise.reject(new Stuck()))
  const request = requestOf(world)
  const reached = new Set<string>()
  const computed = new Map<string, unknown>()
  const steps: { node: string; output?: string }[] = []
  const faults = new Set<string>()

  const leaving = (from: string, output?: string): Edge | undefined =>
    Object.values(edges).find((edge) => edge.from === from && edge.output === output)

  async function read(binding: Binding): Promise<unknown> {
    if ('value' in binding) return binding.value ?? undefined
    const value = await valueAt(binding.node)
    if (value === failure || value === undefined) return value
    if (binding.field === undefined) return value
    if (!Array.isArray(value)) return (value as Record<string, unknown>)[binding.field]
    const of = (row: unknown) => (row as Record<string, unknown> | undefined)?.[binding.field as string]
    return binding.all ? value.map((row) => of(row) ?? null) : of(value[binding.row ?? 0])
  }

  async function valueAt(id: string): Promise<unknown> {
    const node = nodes[id]
    if (!node || !reached.has(id)) return failure
    if (!computed.has(id)) {
      try {
        computed.set(id, await compute(node))
      } catch (error) {
        if (error instanceof Stuck) throw error
        faults.add(id)
        computed.set(id, failure)
      }
    }
    return computed.get(id)
  }

  async function compute(node: WorkflowNode): Promise<unknown> {
    switch (node.type) {
      case 'parameter':
        return world.city
      case 'context':
        return { 'user.locale': world.locale, 'time.hour': new Date(runnerTime).getUTCHours() }
      case 'events': {
        if (world.client === undefined) return []
        const { events } = await environment.persons.readPerson({} as never)
        return events.map(({ labels, ...event }) => ({ ...event, 'labels.color': labels.color }))
      }
      case 'datasource': {
        const { datasourceId } = node
        const [filter] = node.filters ?? []
        if (!filter) return environment.readRows({ datasourceId, filters: [], limit: 20 } as never)
        const value = await read(filter.value)
        if (value === failure) throw new Error('its filter has no value')
        if (value === undefined || value === '') return []
        if (Array.isArray(value) && value.length === 0) return []
        return environment.readRows({ datasourceId, filters: [{ ...filter, value }], limit: 20 } as never)
      }
      case 'transform': {
        const resolved = async (expression: Expression): Promise<Expression> => ({
          ...expression,
          arguments: await Promise.all(
            expression.arguments.map(async (argument) => {
              if ('function' in argument) return resolved(argument)
              const value = await read(argument)
              if (value === failure) throw new Error('an argument has no value')
              return { value } as Binding
            }),
          ),
        })
        return evaluateExpression(await resolved(node.expression), () => undefined)
      }
      default:
        throw new Error(`${node.type} is no data`)
    }
  }

  /** Rules of the generator are `equals` on texts with one constant. */
  async function matches(rule: ConditionRule): Promise<boolean> {
    const value = await read(rule.value)
    if (value === failure) return false
    const one = Array.isArray(value) ? value[0] : value
    const text = one instanceof Date ? one.toISOString() : one
    const [to] = rule.to ?? []
    return text !== undefined && text !== null && String(text) === String((to as { value: unknown }).value)
  }

  async function outputOf(id: string, node: WorkflowNode): Promise<string | undefined> {
    switch (node.type) {
      case 'conditions':
        for (const { id: output, match, rules } of node.cases) {
          let matching = match === 'and'
          for (const rule of rules) {
            matching = await matches(rule)
            if (matching === (match === 'or')) break
          }
          if (matching) return output
        }
        return 'default'
      case 'cohort':
        if (world.client === undefined) return 'default'
        if (world.isMember === undefined) faults.add(id)
        return world.isMember ? 'member' : 'default'
      case 'split':
        return assignVariant(
          `${workflowId}:${id}`,
          request.unit,
          node.groups.map((group) => ({ id: group.id, allocation: group.share / 100 })),
        ).id
      case 'experiment':
        return assignVariant(experiment.salt, request.unit, experiment.variants).id
      default:
        return undefined
    }
  }

  let at = leaving(entrypointId)?.to
  for (;;) {
    const node = at === undefined ? undefined : nodes[at]
    if (at === undefined || node === undefined) throw new Error('a sound definition leads to an output')
    const output = await outputOf(at, node)
    steps.push(output === undefined ? { node: at } : { node: at, output })
    reached.add(at)
    const next = leaving(at, output)
    if (next === undefined) return { node: at, content: await contentOf(node), steps, faults }
    at = next.to
  }

  async function contentOf(node: WorkflowNode): Promise<unknown> {
    switch (node.type) {
      case 'json': {
        const values: Record<string, unknown> = {}
        for (const [name, binding] of Object.entries(node.bindings ?? {})) {
          const mode = template.variables.find((variable) => variable.name === name)?.type
          const wanted =
            'value' in binding || binding.field === undefined || mode === 'scalar'
              ? binding
              : mode === 'array'
                ? { node: binding.node, field: binding.field, all: true }
                : { node: binding.node, field: binding.field, row: 1 }
          const value = await read(wanted)
          const isAbsent = value === undefined || value === null || value === ''
          if (value !== failure && !isAbsent && !(Array.isArray(value) && value.length === 0))
            values[name] = value
        }
        if (Object.keys(values).length === 0) return undefined
        return JSON.parse(
          JSON.stringify({
            title: values.title ?? null,
            price: values.price ?? null,
            day: values.day ?? null,
          }),
        )
      }
      case 'html':
        return textOf(await read(node.bindings?.text as Binding))
      case 'image':
      case 'redirect': {
        const value = await read(node.bindings?.text as Binding)
        return value === failure ? undefined : encodeURIComponent(textOf(value))
      }
      default:
        return undefined
    }
  }
}

function textOf(value: unknown): string {
  if (value === failure || value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What the interpreter computes of a content, read off the compiled one. */
function comparable({ content, output }: Outcome): unknown {
  if (content === undefined) return undefined
  switch (content.kind) {
    case 'json':
      return JSON.parse(content.body)
    case 'html':
      return content.body.slice('<p>'.length, -'</p>'.length)
    case 'image':
      return /^https:\/\/images\.example\.com\/(.*)\.png$/.exec(content.location)?.[1]
    case 'redirect':
      return /^https:\/\/example\.com\/(.*)$/.exec(content.location)?.[1]
    case 'empty':
      expect(['json', 'empty']).toContain(output?.output)
      return undefined
  }
}

const texts = fc.constantFrom('x', 'y', 'Lyon')
const events = fc.array(
  texts.map(
    (color): PersonEvent => ({
      name: 'x',
      time: new Date(runnerTime - 1_000),
      datasourceId: known.tracking,
      url: '',
      ids: [],
      labels: { color },
    }),
  ),
  { maxLength: 3 },
)
const rows = fc.array(
  fc.record({ title: texts, price: fc.constantFrom(1, 2.5), day: fc.constant('2026-01-01') }),
  { maxLength: 4 },
)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const maybeNever = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 3, arbitrary: maybe(arbitrary) },
    { weight: 1, arbitrary: fc.constant('never' as const) },
  )
const answeringWorlds: fc.Arbitrary<World> = fc.record({
  rows: maybe(rows),
  events: maybe(events),
  isMember: maybe(fc.boolean()),
  isLater: fc.boolean(),
  city: maybe(texts),
  client: maybe(fc.constantFrom('ada', 'eve', 'joe')),
  locale: maybe(fc.constant('fr_FR')),
})

const worlds: fc.Arbitrary<World> = fc
  .tuple(answeringWorlds, maybeNever(rows), maybeNever(events))
  .map(([world, rows, events]) => ({ ...world, rows, events }))

const titleIs = (node: string, title: string): ConditionRule => ({
  value: { node, field: 'title' },
  type: 'text',
  operator: 'equals',
  to: [{ value: title }],
})

const quiet: World = {
  rows: [],
  events: [],
  isMember: false,
  isLater: false,
  city: undefined,
  client: undefined,
  locale: undefined,
}

/** Runs of a definition are as it is interpreted, where the interpreter needs nothing that never comes. */
async function expectAgreement(definition: WorkflowDefinition, world: World): Promise<void> {
  const executable = compile(definition)
  const { branchesInfos } = analyzeDefinition(definition, noOverrides, knownResources)
  for (const entrypointId of Object.keys(definition.entrypoints)) {
    const expected = await interpret(definition, entrypointId, world).catch((error: unknown) => {
      if (!(error instanceof Stuck)) throw error
    })
    if (expected === undefined) continue
    const outcome = await run(executable, entrypointId, world)
    expect(outcome.output?.node).toBe(expected.node)
    const taken = Object.entries(branchesInfos).find(
      ([, { steps }]) => JSON.stringify(steps) === JSON.stringify(expected.steps),
    )
    expect(outcome.branch?.id).toBe(taken?.[0])
    expect(taken).toBeDefined()
    expect(comparable(outcome)).toEqual(
      outcome.content?.kind === 'html'
        ? String(expected.content).replaceAll('"', '&quot;')
        : expected.content,
    )
    expect(outcome.returnCode).toBe(
      outcome.content === undefined ? '3501' : expected.faults.size > 0 ? '3502' : '',
    )
  }
}

test('a compiled definition takes the branch that its graph says, with the same content', async () => {
  await fc.assert(fc.asyncProperty(soundDefinitions, worlds, expectAgreement), {
    numRuns: times(3_000, 150),
  })
})

const tables = ['one', 'two', 'three'] as const

/** A look-up in each of the tables, conditions on their titles, and outputs that show the title of one of them. */
const gates: fc.Arbitrary<WorkflowDefinition> = fc
  .tuple(
    fc.array(
      fc.record({
        match: fc.constantFrom('and' as const, 'or' as const),
        rules: fc.array(fc.tuple(fc.constantFrom(...tables), texts), { minLength: 1, maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    fc.constantFrom(...tables, undefined),
  )
  .map(([cases, shown]) => {
    const ids = [...cases.keys()].map((place) => `case${place}`)
    const text = shown === undefined ? { value: 'shown' } : { node: shown, field: 'title' }
    const gate: WorkflowNodeOf<'conditions'> = {
      type: 'conditions',
      cases: cases.map(({ match, rules }, place) => ({
        id: `case${place}`,
        match,
        rules: rules.map(([node, value]) => titleIs(node, value)),
      })),
    }
    return {
      entrypoints: { zone: htmlZone },
      nodes: {
        ...Object.fromEntries(tables.map((id) => [id, { type: 'datasource', datasourceId: id }] as const)),
        gate,
        ...Object.fromEntries(
          [...ids, 'default'].map(
            (id) => [`out-${id}`, { type: 'html', html: '<p>{{text}}</p>', bindings: { text } }] as const,
          ),
        ),
      },
      edges: edgesOf(
        'zone>one',
        'one>two',
        'two>three',
        'three>gate',
        ...[...ids, 'default'].map((id) => `gate.${id}>out-${id}`),
      ),
    }
  })

test('conditions wait for what decides them, and count the faults of that alone', async () => {
  const table = maybeNever(texts.map((title) => [{ title }]))
  const tableWorlds = fc.record({ one: table, two: table, three: table })
  await fc.assert(
    fc.asyncProperty(gates, tableWorlds, fc.boolean(), (definition, answers, isLater) =>
      expectAgreement(definition, { ...quiet, isLater, tables: answers }),
    ),
    { numRuns: times(3_000, 300) },
  )
})

test('whatever graph it is given, a run ends and nothing is thrown', async () => {
  await fc.assert(
    fc.asyncProperty(anyDefinitions, answeringWorlds, async (definition, world) => {
      const executable = compile(definition)
      for (const entrypointId of Object.keys(definition.entrypoints)) {
        const { content, returnCode, faults } = await run(executable, entrypointId, world)
        if (content === undefined) expect([returnCode, faults.length > 0]).toEqual(['3501', true])
      }
    }),
    { numRuns: times(3_000, 150) },
  )
})

const split = (groups: { id: string; share: number }[]): WorkflowDefinition => ({
  nodes: {
    parts: { type: 'split', groups },
    ...Object.fromEntries(groups.map(({ id }) => [`out${id}`, { type: 'empty' as const }])),
  },
  entrypoints: { zone: jsonZone },
  edges: edgesOf('zone>parts', ...groups.map(({ id }) => `parts.${id}>out${id}`)),
})

describe('groups of a split', () => {
  const groups = [
    { id: 'A', share: 50 },
    { id: 'B', share: 30 },
    { id: 'C', share: 20 },
  ]

  test('have their shares of many persons', async () => {
    const executable = compile(split(groups))
    const counts = new Map<string, number>()
    const persons = times(100_000, 10_000)
    for (let i = 0; i < persons; i++) {
      const { output } = await run(executable, 'zone', { ...quiet, client: `person ${i}` })
      counts.set(output?.node ?? '', (counts.get(output?.node ?? '') ?? 0) + 1)
    }
    for (const { id, share } of groups) {
      const expected = (persons * share) / 100
      const deviation = Math.sqrt(expected * (1 - share / 100))
      expect(Math.abs((counts.get(`out${id}`) ?? 0) - expected)).toBeLessThan(5 * deviation)
    }
  })

  test('stay the same for a person over versions, and differ between nodes', async () => {
    const first = compile(split(groups))
    const second = compile({ ...split(groups), entrypoints: { zone: { ...jsonZone, name: 'Hero' } } })
    let same = 0
    for (let i = 0; i < 500; i++) {
      const world = { ...quiet, client: `person ${i}` }
      const before = (await run(first, 'zone', world)).output?.node
      expect((await run(second, 'zone', world)).output?.node).toBe(before)
      const { nodes, ...rest } = split(groups)
      const { parts, ...others } = nodes
      const renamed = JSON.parse(
        JSON.stringify({ nodes: { ...others, other: parts }, ...rest }).replaceAll('"parts"', '"other"'),
      )
      if ((await run(compile(renamed), 'zone', world)).output?.node === before) same++
    }
    expect(same).toBeLessThan(300)
  })
})

describe('an experiment', () => {
  const definition = {
    nodes: {
      test: { type: 'experiment', experimentId: known.experiment },
      a: { type: 'empty' },
      b: { type: 'empty' },
    },
    entrypoints: { zone: jsonZone },
    edges: edgesOf('zone>test', 'test.control>a', 'test.treatment>b'),
  } as WorkflowDefinition

  const outputOf = async (changes: Partial<RunnableExperiment>, client = 'ada') => {
    const environment = { ...environmentOf(quiet), findExperiment: () => ({ ...experiment, ...changes }) }
    return (await run(compile(definition), 'zone', { ...quiet, client }, { environment })).output?.node
  }

  test('assigns while it runs, shows what was decided, and the baseline otherwise', async () => {
    for (const client of ['ada', 'eve', 'joe', 'zoe']) {
      const assigned = assignVariant('salt', client, experiment.variants).id === 'control' ? 'a' : 'b'
      expect(await outputOf({}, client)).toBe(assigned)
      expect(await outputOf({ status: 'decided', routingVariantId: 'treatment' }, client)).toBe('b')
      expect(await outputOf({ status: 'archived', routingVariantId: 'treatment' }, client)).toBe('b')
      for (const status of ['draft', 'scheduled', 'ended', 'archived'] as const)
        expect(await outputOf({ status }, client)).toBe('a')
    }
  })

  test('that is not there shows the first variant, with 3502', async () => {
    const environment = { ...environmentOf(quiet), findExperiment: () => undefined }
    const outcome = await run(compile(definition), 'zone', quiet, { environment })
    expect([outcome.output?.node, outcome.returnCode]).toEqual(['a', '3502'])
  })
})

describe('conditions', () => {
  const rule = (node: string) => titleIs(node, 'x')
  const output = (node?: string) => ({
    type: 'html' as const,
    html: 'shown{{x}}',
    bindings: { x: node === undefined ? { value: '' } : { node, field: 'title' } },
  })

  /** Look-ups `one` and `two`, then a node that leads to outputs called after its cases. */
  function gate(cases: WorkflowNodeOf<'conditions'>['cases'], first = output()): WorkflowDefinition {
    const lookUp = (datasourceId: string) => ({ type: 'datasource' as const, datasourceId })
    return {
      entrypoints: { zone: htmlZone },
      nodes: {
        one: lookUp('one'),
        two: lookUp('two'),
        gate: { type: 'conditions', cases },
        outFirst: first,
        outSecond: output(),
        outDefault: output(),
      },
      edges: edgesOf(
        'zone>one',
        'one>two',
        'two>gate',
        'gate.first>outFirst',
        'gate.second>outSecond',
        'gate.default>outDefault',
      ),
    }
  }
  const first = { id: 'first', match: 'and' as const, rules: [rule('one')] }
  const second = { id: 'second', match: 'and' as const, rules: [rule('two')] }
  const inOrder = gate([first, second])

  type Rows = ReturnType<RunEnvironment['readRows']>
  const rowsOf = (title: string): Rows => [{ title }]
  const broken = (): Rows => Promise.reject(new Error('it is down'))

  /** A run whose look-ups answer what `answers` says, and which of them it has asked for. */
  function start(definition: WorkflowDefinition, answers: () => Record<string, Rows>, timeLimitMs = 60_000) {
    const asked: string[] = []
    const trace: TracedStep[] = []
    const answered = answers()
    const environment: RunEnvironment = {
      ...environmentOf(quiet),
      readRows({ datasourceId }) {
        asked.push(datasourceId)
        return answered[datasourceId] ?? []
      },
    }
    const outcome = run(compile(definition), 'zone', quiet, {
      environment,
      timeLimitMs,
      trace: (step) => trace.push(step),
    })
    return { asked, trace, outcome }
  }

  test('take the first case that matches without waiting for the data of later ones, which is asked for all the same', async () => {
    const { asked, trace, outcome } = start(inOrder, () => ({
      one: Promise.resolve(rowsOf('x')),
      two: unanswered(),
    }))
    expect(asked).toEqual(['one', 'two'])
    expect(await outcome).toMatchObject({ output: { node: 'outFirst' }, returnCode: '', faults: [] })
    expect(trace.map(({ node, skipped }) => [node, skipped])).toEqual([
      ['one', false],
      ['gate', false],
      ['two', true],
      ['outFirst', false],
    ])
    expect(trace[1]?.input).toEqual(['x', null])
  })

  test('wait for the data of a case although that of a later one is there and matches', async () => {
    const slow = Promise.withResolvers<readonly DataRow[]>()
    const { trace, outcome } = start(inOrder, () => ({ one: slow.promise, two: rowsOf('x') }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(trace).toEqual([])
    slow.resolve([{ title: 'x' }])
    expect(await outcome).toMatchObject({ output: { node: 'outFirst' }, returnCode: '' })
  })

  test('go on to the next case once the data of one is there and does not match', async () => {
    const { outcome } = start(inOrder, () => ({
      one: Promise.resolve(rowsOf('y')),
      two: Promise.resolve(rowsOf('x')),
    }))
    expect(await outcome).toMatchObject({ output: { node: 'outSecond' }, returnCode: '' })
  })

  test.each([
    ['and', 'y', 'outDefault'],
    ['or', 'x', 'outFirst'],
  ] as const)('of rules joined by "%s" wait for no more than decide the case', async (match, title, node) => {
    const definition = gate([{ id: 'first', match, rules: [rule('one'), rule('two')] }])
    const { outcome } = start(definition, () => ({ one: Promise.resolve(rowsOf(title)), two: unanswered() }))
    expect(await outcome).toMatchObject({ output: { node }, returnCode: '' })
  })

  test('count the faults of the data that they used, and no others', async () => {
    const unused = start(inOrder, () => ({ one: rowsOf('x'), two: broken() }))
    expect(await unused.outcome).toMatchObject({ output: { node: 'outFirst' }, returnCode: '', faults: [] })
    const used = start(inOrder, () => ({ one: broken(), two: rowsOf('x') }))
    expect(await used.outcome).toMatchObject({
      output: { node: 'outSecond' },
      returnCode: '3502',
      faults: [{ node: 'one' }],
    })
  })

  test('leave the data that they did not use to what follows, with its fault', async () => {
    const later = gate([first, second], output('two'))
    const slow = Promise.withResolvers<readonly DataRow[]>()
    const shown = start(later, () => ({ one: rowsOf('x'), two: slow.promise }))
    slow.resolve([{ title: 'y' }])
    expect(await shown.outcome).toMatchObject({ content: { body: 'showny' }, returnCode: '' })
    expect(shown.asked).toEqual(['one', 'two'])
    const failing = start(later, () => ({ one: rowsOf('x'), two: broken() }))
    expect(await failing.outcome).toMatchObject({
      content: { body: 'shown' },
      returnCode: '3502',
      faults: [{ node: 'two' }],
    })
  })

  test('decide by the data that is there once the time is used up', async () => {
    const { outcome } = start(inOrder, () => ({ one: unanswered(), two: rowsOf('x') }), 10)
    expect(await outcome).toMatchObject({ output: { node: 'outSecond' }, returnCode: '3501' })
  })

  test('let go of what they asked for and nothing waits for', async () => {
    const reason = Promise.withResolvers<unknown>()
    const definition = gate([
      first,
      { ...second, rules: [{ ...rule('two'), value: { node: 'two', field: 'name' } }] },
    ])
    const seen: WorkflowDefinition = {
      ...definition,
      nodes: { ...definition.nodes, two: { type: 'events', lookBackHours: 1 } },
    }
    const environment: RunEnvironment = {
      ...environmentOf(quiet),
      readRows: () => [{ title: 'x' }],
      persons: {
        isMember: async () => false,
        readPerson: ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reason.resolve(signal.reason)
              reject(signal.reason)
            })
          }),
      },
    }
    const outcome = await run(compile(seen), 'zone', { ...quiet, client: 'ada' }, { environment })
    expect(outcome).toMatchObject({ output: { node: 'outFirst' }, returnCode: '' })
    expect(String(await reason.promise)).toContain('the run has ended')
    expect(outcome.faults).toEqual([])
  })
})

describe('data nodes', () => {
  const source = (field: string) => ({
    type: 'datasource' as const,
    datasourceId: known.datasource,
    filters: [{ field: 'title', operator: '$eq', value: { value: field } }],
  })
  const html = { type: 'html' as const, html: '{{x}}' }

  test('run only when something asks for them', async () => {
    const definition = straight({ type: 'web', format: 'embed-html' }, html, { one: source('a') })
    let asked = 0
    const environment = {
      ...environmentOf(quiet),
      readRows: () => {
        asked++
        return []
      },
    }
    await run(compile(definition), 'zone', quiet, { environment })
    expect(asked).toBe(0)
  })

  test('that do not need each other are asked at once, each once', async () => {
    const bindings = { x: { node: 'one', field: 'title' }, y: { node: 'two', field: 'title' } }
    const output = { ...html, html: '{{x}}{{y}}', bindings }
    const definition = straight({ type: 'web', format: 'embed-html' }, output, {
      one: source('a'),
      two: source('b'),
    })
    let underWay = 0
    let most = 0
    let asked = 0
    const environment = {
      ...environmentOf(quiet),
      async readRows() {
        asked++
        underWay++
        most = Math.max(most, underWay)
        await new Promise((resolve) => setImmediate(resolve))
        underWay--
        return [{ title: 'x' }]
      },
    }
    const { content } = await run(compile(definition), 'zone', quiet, { environment })
    expect(content).toEqual({ kind: 'html', body: 'xx' })
    expect([asked, most]).toEqual([2, 2])
  })

  test('are told when the time is used up, and not waited for', async () => {
    const bindings = { x: { node: 'seen', field: 'name' } }
    const definition = straight(
      { type: 'web', format: 'embed-html' },
      { ...html, bindings },
      {
        seen: { type: 'events', lookBackHours: 1 },
      },
    )
    let reason: unknown
    const environment: RunEnvironment = {
      ...environmentOf(quiet),
      persons: {
        isMember: async () => false,
        readPerson: ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reason = signal.reason
              reject(signal.reason)
            })
          }),
      },
    }
    const outcome = await run(
      compile(definition),
      'zone',
      { ...quiet, client: 'ada' },
      { environment, timeLimitMs: 10 },
    )
    expect(outcome).toMatchObject({ content: { kind: 'html', body: '' }, returnCode: '3501' })
    expect(String(reason)).toContain('within 10 ms')
  })

  test('show the time that was waited for them, and what is kept is still used afterwards', async () => {
    const bindings = { x: { node: 'one', field: 'title' } }
    const definition = {
      ...straight(
        { type: 'web', format: 'embed-html' },
        { ...html, bindings },
        {
          seen: { type: 'events', lookBackHours: 1 },
          gate: {
            type: 'conditions',
            cases: [
              {
                id: 'has',
                match: 'and',
                rules: [
                  {
                    value: { node: 'seen', field: 'name' },
                    type: 'text',
                    operator: 'equals',
                    to: [{ value: 'x' }],
                  },
                ],
              },
            ],
          },
          one: source('a'),
        },
      ),
      edges: edgesOf('zone>seen', 'seen>gate', 'gate.has>one', 'gate.default>one', 'one>out'),
    } as WorkflowDefinition
    const environment: RunEnvironment = {
      ...environmentOf(quiet),
      readRows: () => [{ title: 'kept' }],
      persons: { isMember: async () => false, readPerson: () => new Promise(() => {}) },
    }
    const trace: TracedStep[] = []
    const outcome = await run(
      compile(definition),
      'zone',
      { ...quiet, client: 'ada' },
      { environment, timeLimitMs: 30, trace: (step) => trace.push(step) },
    )
    expect(outcome).toMatchObject({ content: { kind: 'html', body: 'kept' }, returnCode: '3501' })
    const seen = trace.find(({ node }) => node === 'seen')
    expect(seen?.fault).toContain('within 30 ms')
    expect(seen?.milliseconds).toBeGreaterThan(25)
  })

  test('are shown in the trace with input, output and fault, and those that nothing asked for as skipped', async () => {
    const bindings = { x: { node: 'one', field: 'title' } }
    const definition = straight(
      { type: 'web', format: 'embed-html' },
      { ...html, bindings },
      {
        one: source('a'),
        idle: { type: 'context' },
      },
    )
    const trace: TracedStep[] = []
    await run(
      compile(definition),
      'zone',
      { ...quiet, rows: undefined },
      { trace: (step) => trace.push(step) },
    )
    expect(trace.map(({ node, skipped, fault }) => [node, skipped, fault])).toEqual([
      ['one', false, 'it is down'],
      ['idle', true, undefined],
      ['out', false, undefined],
    ])
    expect(trace[0]?.input).toMatchObject({ filters: [{ field: 'title', value: 'a' }] })
  })

  test('in an order of each person’s own, or of ten seconds, lose no row', async () => {
    const stored = Array.from({ length: 12 }, (_, i) => ({ title: 't', price: i }))
    const definition = (ordering: 'person' | 'shuffled') =>
      straight(
        { type: 'web', format: 'embed-html' },
        { ...html, bindings: { x: { node: 'one', field: 'price', all: true } } },
        { one: { ...source('t'), ordering, limit: 12 } },
      )
    const order = async (ordering: 'person' | 'shuffled', client: string, now = runnerTime) => {
      const world = { ...quiet, rows: stored, client }
      const { content } = await run(compile(definition(ordering)), 'zone', world, {
        request: { ...requestOf(world), now },
      })
      const numbers = (content?.kind === 'html' ? content.body : '').split(', ').map(Number)
      expect(numbers.toSorted((a, b) => a - b)).toEqual(stored.map(({ price }) => price))
      return numbers.join()
    }
    expect(await order('person', 'ada')).toBe(await order('person', 'ada', runnerTime + 60_000))
    expect(await order('person', 'ada')).not.toBe(await order('person', 'eve'))
    expect(await order('shuffled', 'ada')).toBe(await order('shuffled', 'eve', runnerTime + 9_999))
    expect(await order('shuffled', 'ada')).not.toBe(await order('shuffled', 'ada', runnerTime + 10_000))
  })
})
