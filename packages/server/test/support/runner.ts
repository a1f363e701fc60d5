import type {
  Edge,
  WorkflowDefinition,
  WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import type { Entrypoint } from '@millrace/contract/resources/workflow-entrypoint.ts'
import type { PersonEvent } from '../../src/features/analytics/persons/person.ts'
import type {
  DataRow,
  RowQuery,
  RunnableExperiment,
} from '../../src/features/personalisation/compile/executable.ts'
import type { WallClock } from '../../src/features/personalisation/compile/values.ts'
import { analyzeDefinition } from '../../src/features/personalisation/definition/analyze-definition.ts'
import type { KnownTemplate } from '../../src/features/personalisation/definition/definition-resources.ts'
import type { RunnerEvent } from '../../src/features/personalisation/display/reply/run-event.ts'
import { runnerRoutes } from '../../src/features/personalisation/display/runner-routes.ts'
import {
  createRunnerService,
  type RunnerDependencies,
} from '../../src/features/personalisation/display/runner-service.ts'
import type { RunnableZone } from '../../src/features/personalisation/runnable-zone.ts'
import { createHttpServer } from '../../src/platform/http/server.ts'
import { silentLogger } from '../../src/platform/logger.ts'

export const runnerCompany = '65f0c0ffee5ca1ab1e0ddba1'
export const runnerWorkflow = '65f0c0ffee5ca1ab1e0ddc01'
export const runnerDatasource = '65f0c0ffee5ca1ab1e0ddd01'
export const runnerTemplate = '65f0c0ffee5ca1ab1e0dde01'
export const runnerTags = { key: '65f0c0ffee5ca1ab1e0ddf01', value: '65f0c0ffee5ca1ab1e0ddf02' }
export const runnerCategory = '65f0c0ffee5ca1ab1e0ddf03'
/** That of every process. */
export const runnerClickKey = Buffer.alloc(32, 7)
export const eventsDatasource = '65f0c0ffee5ca1ab1e0dda01'
/** A Thursday. */
export const runnerTime = Date.UTC(2026, 0, 15, 12, 30)

export const utcClock: WallClock = { localOf: (instant) => instant, instantOf: (local) => local }

/** Edges written as `from>to` or `from.output>to`. */
export function edgesOf(...texts: readonly (string | readonly [string, Partial<Edge>])[]) {
  return Object.fromEntries(
    texts.map((entry, place): [string, Edge] => {
      const [text, qualifiers] = typeof entry === 'string' ? [entry, {}] : entry
      const [source = '', to = ''] = text.split('>')
      const [from = '', output] = source.split('.')
      return [`e${place}`, { from, to, ...(output !== undefined && { output }), ...qualifiers }]
    }),
  )
}

export const jsonZone: Entrypoint = { type: 'web', format: 'json' }
export const mailZone: Entrypoint = { type: 'email', format: 'embed-image' }
export const htmlZone: Entrypoint = { type: 'web', format: 'embed-html' }
export const pageZone: Entrypoint = { type: 'landing', format: 'page' }

/** From one entrypoint, `zone`, straight to an output. */
export function straight(
  entrypoint: Entrypoint,
  output: WorkflowNode,
  data: Record<string, WorkflowNode> = {},
): WorkflowDefinition {
  const ids = ['zone', ...Object.keys(data), 'out']
  const texts = ids.slice(1).map((id, place) => `${ids[place]}>${id}`)
  return { nodes: { ...data, out: output }, entrypoints: { zone: entrypoint }, edges: edgesOf(...texts) }
}

/** What analysis needs to know of; ids beyond these mean nothing. */
const resources = {
  datasources: new Map(),
  trackingDatasources: new Set<string>(),
  templates: new Map(),
  cohorts: new Set<string>(),
  experiments: new Map(),
  tagKeys: new Map([
    [
      runnerTags.key,
      {
        cardinality: 'single' as const,
        assignmentMode: 'custom' as const,
        valueIds: new Set([runnerTags.value]),
      },
    ],
  ]),
  categories: new Set([runnerCategory]),
}

export const noOverrides = {
  vertexIndividualizedScore: {},
  customVertexNames: [],
  branchCategoryIds: {},
  branchLoopWindows: {},
  branchTags: [],
}

export const analysisOf = (definition: WorkflowDefinition) =>
  analyzeDefinition(definition, noOverrides, resources)

export interface ZoneParts extends Partial<Omit<RunnableZone, 'integration' | 'published'>> {
  readonly definition: WorkflowDefinition
  readonly templates?: Readonly<Record<string, KnownTemplate>>
  readonly revision?: string
  readonly integration?: Partial<RunnableZone['integration']>
  readonly published?: false
}

/** A published zone, `zone` of the definition. */
export function zoneOf(parts: ZoneParts): RunnableZone {
  const { definition, templates = {}, revision = '1', integration, published, ...rest } = parts
  const entrypointId = rest.entrypointId ?? 'zone'
  const { type = 'web', format = 'json' } = definition.entrypoints[entrypointId] ?? {}
  return {
    companyId: runnerCompany,
    workflowId: runnerWorkflow,
    workflowName: 'Welcome',
    teamIds: [],
    entrypointId,
    ...rest,
    integration: {
      id: '65f0c0ffee5ca1ab1e0ddc11',
      shortId: 'abcdef1234',
      enabled: true,
      parameters: {},
      type,
      format,
      ...integration,
    },
    ...(published !== false && {
      published: {
        versionId: '65f0c0ffee5ca1ab1e0ddc21',
        definition,
        analyze: analysisOf(definition),
        templates,
        revision,
      },
    }),
  }
}

/** Everything that a runner asks, in the hands of a test. */
export function createRunnerWorld(overrides: Partial<RunnerDependencies> = {}) {
  const zones = new Map<string, RunnableZone>()
  const experiments: RunnableExperiment[] = []
  const rows: DataRow[] = []
  const events: PersonEvent[] = []
  /** Events as they are stored: with all labels together. */
  const recorded: Omit<RunnerEvent, 'fixed'>[] = []
  let revisions = 0
  const warnings: { readonly fields: object; readonly message: string }[] = []
  const world = {
    now: runnerTime,
    down: false,
    logDown: false,
    revision: '1',
    rowDelay: 0,
    asked: { zones: 0, rows: 0, revisions: 0, persons: 0, members: 0 },
    lastQuery: undefined as RowQuery | undefined,
    members: new Set<string>(),
    failRows: undefined as Error | undefined,
    failPersons: undefined as Error | undefined,
  }
  const after = <T>(ms: number, signal: AbortSignal, value: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(value()), ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
    })
  const dependencies: RunnerDependencies = {
    async findZone(shortId) {
      world.asked.zones++
      if (world.down) throw new Error('the database is down')
      return zones.get(shortId)
    },
    readCompany: async () => ({
      timezone: 'UTC',
      countries: true,
      eventsDatasourceId: eventsDatasource,
      clickKey: runnerClickKey,
    }),
    listSeenDatasources: async () => events.map(({ datasourceId }) => datasourceId),
    listExperiments: async (_, ids) => experiments.filter(({ id }) => ids.includes(id)),
    rows: {
      async queryRows(query) {
        world.asked.rows++
        world.lastQuery = query
        if (world.failRows) throw world.failRows
        const matches = (row: DataRow) =>
          query.filters.every(({ field, operator, value }) =>
            operator === '$ne' ? row[field] !== value : row[field] === value,
          )
        const answer = () => ({
          rows: rows.filter(matches).slice(0, query.limit),
          revision: world.revision,
        })
        return world.rowDelay === 0 ? answer() : after(world.rowDelay, query.signal, answer)
      },
      async revisionOf() {
        world.asked.revisions++
        if (world.failRows) throw world.failRows
        return world.revision
      },
    },
    persons: {
      async readPerson() {
        world.asked.persons++
        if (world.failPersons) throw world.failPersons
        return { events }
      },
      async isMember({ client, device }) {
        world.asked.members++
        if (world.failPersons) throw world.failPersons
        return world.members.has(client ?? device ?? '')
      },
    },
    readSender: () => ({ deviceType: 'desktop', os: 'macOS', browser: 'Safari' }),
    openZone: () => utcClock,
    async record({ fixed, data, ...event }) {
      if (world.logDown) throw new Error('the log takes nothing')
      recorded.push({ ...event, data: { ...fixed, ...data } })
    },
    publicUrl: () => 'https://millrace.example',
    timeLimitMs: 200,
    clock: { now: () => world.now },
    log: {
      info: () => {},
      warn: ((fields: object, message: string) => warnings.push({ fields, message })) as never,
      error: ((fields: object, message: string) => warnings.push({ fields, message })) as never,
    },
    ...overrides,
  }
  const runner = createRunnerService(dependencies)
  const app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  void app.register(runnerRoutes({ runner }))
  return {
    world,
    zones,
    experiments,
    rows,
    events,
    recorded,
    warnings,
    dependencies,
    runner,
    app,
    /** Puts a zone behind an address, and resolves once the change is read. */
    async publish(parts: ZoneParts, shortId = 'abcdef1234'): Promise<void> {
      revisions++
      zones.set(
        shortId,
        zoneOf({ revision: String(revisions), ...parts, integration: { shortId, ...parts.integration } }),
      )
      runner.drop(runnerWorkflow)
      await new Promise((resolve) => setImmediate(resolve))
    },
    get(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'OPTIONS' = 'GET') {
      return app.inject({ method, url: path, headers })
    },
  }
}
