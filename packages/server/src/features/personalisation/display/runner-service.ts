import type { ReturnCode } from '@millrace/contract/resources/workflow-preview.ts'
import { LRUCache } from 'lru-cache'
import { createLoadingCache } from '../../../platform/cache/loading-cache.ts'
import type { Clock } from '../../../platform/clock.ts'
import { newId } from '../../../platform/ids.ts'
import { createSharedTimeout } from '../../../platform/limits/shared-timeout.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { PersonEvent } from '../../analytics/persons/person.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import type {
  CompiledEntrypoint,
  ListExperiments,
  PersonSource,
  RowSource,
  RunEnvironment,
} from '../compile/executable.ts'
import type { WallClock } from '../compile/values.ts'
import { createComputingLimits } from '../run/computing-limits.ts'
import { execute, type Outcome } from '../run/execute.ts'
import { type Query, readRunRequest } from '../run/read-request.ts'
import { createRowCache } from '../run/row-cache.ts'
import type { RunnerSender } from '../run/run-request.ts'
import type { FindZone } from '../runnable-zone.ts'
import { createClicks } from './clicks.ts'
import { clickAddressOf } from './reply/click-address.ts'
import { locationOf } from './reply/destination.ts'
import { deadClick, defaultReply, notFound, type RunnerReply, replyByAccept, replyOf } from './reply/reply.ts'
import { eventOfRun, type RunnerEvent } from './reply/run-event.ts'
import type { ReadCompany } from './runner-store.ts'
import { createZoneCache, type ReadyZone } from './zone-cache.ts'

/** A user, or a workflow, which reads what its teams see. */
export type Viewer = Pick<Principal, 'companyId' | 'teamIds'>

/** Datasources of the company that one of the teams sees. */
export type ListSeenDatasources = (viewer: Viewer) => Promise<readonly string[]>

export interface RunnerDependencies extends Pick<ServiceContext, 'publicUrl' | 'clock' | 'log'> {
  readonly findZone: FindZone
  readonly readCompany: ReadCompany
  readonly listExperiments: ListExperiments
  readonly listSeenDatasources: ListSeenDatasources
  readonly rows: RowSource
  readonly persons: PersonSource
  readonly readSender: (userAgent: string | undefined) => RunnerSender
  readonly openZone: (timezone: string) => WallClock
  /** Makes an event durable; of a crawler that it came. @throws where the event log takes none */
  readonly record: (event: RunnerEvent) => Promise<void>
  /** Milliseconds that a run may wait for its data. */
  readonly timeLimitMs: number
  /** By which what is remembered grows old; the same clock when absent. */
  readonly steadyClock?: Clock
  readonly metrics?: RunnerMetrics
}

/** Where the runner's counts go. */
export interface RunnerMetrics {
  counter(name: string, help: string, read: () => number): void
  readonly runnerSeconds: { observe(labels: { readonly mode: 'display' | 'click' }, seconds: number): void }
}

/** A request for an address, as HTTP has it. */
export interface RunnerRequest {
  readonly shortId: string
  readonly query: Query
  readonly userAgent: string | undefined
  readonly referer: string | undefined
  readonly accept: string | undefined
  readonly address: string
  /** False for a request that only looks, as HEAD does: nothing of it is recorded. */
  readonly counts: boolean
}

export interface RunnerAnswer {
  readonly reply: RunnerReply
  /** Undefined where nothing ran. */
  readonly runId: string | undefined
}

/** What is counted since the process started, by the name of its metric. */
const counted = {
  displays: 'Contents of workflows that were displayed',
  clicks: 'Clicks on contents of workflows',
  fallbacks_3501: 'Runs that ended before an output or used up their time',
  fallbacks_3502: 'Runs in which a node failed',
  fallbacks_3503: 'Clicks without a destination',
  unknown: 'Requests for addresses that no integration has',
  unpublished: 'Requests for workflows that are not published or switched off',
  unavailable: 'Requests that could not be looked up',
  lost: 'Displays and clicks that were answered without being recorded',
}
type Counted = keyof typeof counted

export type RunnerService = ReturnType<typeof createRunnerService>

/** Shapes that short identifiers may have; others are unknown without a look. */
const shortIdPattern = /^[A-Za-z0-9_-]{4,40}$/
/** For how long a reply waits for its event to be on disk. */
const eventTimeout = { timeoutMs: 2_000, stepMs: 1_000, message: 'the event was not on disk in time' }
const quietMs = 60_000
/** For how long what teams see is taken for the present state. */
const readableMs = 800
const rememberedFaults = 5_000
/** That a run may compute, in which nobody else is answered. */
const maxComputingMs = 100

/** Runs published workflows for end users (docs/workflows.md, Runner). */
export function createRunnerService(dependencies: RunnerDependencies) {
  const { clock, log, publicUrl, timeLimitMs, record } = dependencies
  const { steadyClock = clock } = dependencies
  let isListening = false
  const zones = createZoneCache({ ...dependencies, clock: steadyClock, isListening: () => isListening })
  const rows = createRowCache({ source: dependencies.rows, clock: steadyClock, waitMs: timeLimitMs })
  const readable = createLoadingCache({
    load: async (viewer: Viewer): Promise<ReadonlySet<string>> =>
      new Set(await dependencies.listSeenDatasources(viewer)),
    keyOf: ({ companyId, teamIds }) => `${companyId} ${teamIds.join(' ')}`,
    clock: steadyClock,
    freshMs: readableMs,
    renewShare: 0.5,
    staleOnError: true,
    maxEntries: 1_000,
  })
  const computing = createComputingLimits({
    perRunMs: Math.min(timeLimitMs, maxComputingMs),
    clock: steadyClock,
  })
  const totals = Object.fromEntries(Object.keys(counted).map((name) => [name, 0])) as Record<Counted, number>
  for (const [name, help] of Object.entries(counted))
    dependencies.metrics?.counter(`millrace_runner_${name}_total`, help, () => totals[name as Counted])
  /** When a fault was logged last, by what it is about. */
  const logged = new LRUCache<string, number>({ max: rememberedFaults })

  function warn(about: string, fields: object, message: string): void {
    const now = steadyClock.now()
    const last = logged.get(about)
    if (last !== undefined && now - last < quietMs) return
    logged.set(about, now)
    log.warn(fields, message)
  }

  const clicks = createClicks({ persons: dependencies.persons, timeLimitMs, warn })

  const environmentOf = (
    ready: Pick<ReadyZone, 'experiments'>,
    companyId: string,
    findReadable: RunEnvironment['findReadable'],
  ): RunEnvironment => ({
    companyId,
    readRows: rows.read,
    persons: dependencies.persons,
    findReadable,
    computing,
    findExperiment: (id) => ready.experiments.get(id),
  })

  function logFaults({ zone }: ReadyZone, { faults, returnCode }: Outcome): void {
    const { workflowId, published } = zone
    for (const { node, error } of faults) {
      const fields = { err: error, workflowId, versionId: published?.versionId, node, returnCode }
      warn(`${published?.versionId} ${node}`, fields, 'a node of a workflow failed and fell back')
    }
  }

  const timeout = createSharedTimeout(eventTimeout)

  /** Resolves once the event is on disk, or cannot be brought there: an end user gets the content all the same. */
  async function keep(ready: ReadyZone, event: Parameters<typeof eventOfRun>[0] | undefined): Promise<void> {
    if (event === undefined) {
      totals.lost++
      warn(
        'datasource',
        { companyId: ready.zone.companyId },
        'a company has no datasource for workflow events',
      )
      return
    }
    try {
      await timeout.within(record(eventOfRun(event)))
    } catch (error) {
      totals.lost++
      warn('event', { err: error }, 'a display or click was answered without being recorded')
    }
  }

  async function run(ready: ReadyZone, request: RunnerRequest, isClick: boolean): Promise<RunnerAnswer> {
    const { zone, company, executable } = ready
    const { integration, workflowId } = zone
    const entrypoint = executable?.entrypoints.get(zone.entrypointId)
    const asker = { ...request, sender: dependencies.readSender(request.userAgent) }
    const runRequest = readRunRequest(
      request.query,
      asker,
      clock.now(),
      dependencies.openZone(company.timezone),
    )
    const displayAddress = `${publicUrl()}/r/${integration.shortId}`

    async function runFrom(first: CompiledEntrypoint['first']): Promise<Outcome> {
      if (executable === undefined || entrypoint === undefined)
        return fatal(new Error('the version has no such entrypoint'))
      const ran = await execute({
        executable,
        entrypoint: { ...entrypoint, first },
        request: runRequest,
        environment: environmentOf(ready, zone.companyId, () => readable.find(zone)),
        timeLimitMs,
        clickAddress: (shown) =>
          clickAddressOf(displayAddress, runRequest, clicks.sign(ready, runRequest, shown)),
      })
      if (ran.faults.length > 0) logFaults(ready, ran)
      return ran
    }

    /** The content that was displayed before, where the workflow cannot find it again. */
    async function afterFailure(ran: Outcome, display: PersonEvent | undefined): Promise<Outcome> {
      const end = display && clicks.endOf(ready, display)
      if (!end) return ran
      const { destination } = await runFrom(end.output)
      return { ...ran, ...end, destination }
    }

    const signed = isClick ? clicks.read(ready, runRequest) : undefined
    // A proxy hides the program of a mail from the click that follows.
    const isFromMail = isClick && integration.type === 'email' && runRequest.mailClient === ''
    const looked = isFromMail && !signed ? clicks.findDisplay(ready, runRequest) : undefined
    const ran: Outcome = signed
      ? { ...nothingRun, ...signed.content, returnCode: '' }
      : await runFrom(entrypoint?.first)
    const isLost = isClick && ran.returnCode !== ''
    const display = isLost ? await (looked ?? clicks.findDisplay(ready, runRequest)) : await looked
    const outcome = isLost ? await afterFailure(ran, display) : ran
    const format = entrypoint?.format ?? integration.format
    const location = isClick
      ? locationOf({
          parameters: runRequest.parameters,
          destination: outcome.destination,
          hosts: executable?.hosts ?? new Set(),
          domain: integration.domain,
          workflowId,
          branchId: outcome.branch?.id,
        })
      : undefined
    const returnCode: ReturnCode = isClick && location === undefined ? '3503' : outcome.returnCode
    const runId = newId()
    if (request.counts) {
      count(returnCode, isClick)
      const { eventsDatasourceId } = company
      await keep(
        ready,
        eventsDatasourceId === undefined
          ? undefined
          : {
              name: isClick ? 'workflow_click' : 'workflow_display',
              zone,
              company,
              datasourceId: eventsDatasourceId,
              runId,
              request: { ...runRequest, tmpId: signed?.anonymousId ?? runRequest.tmpId },
              userAgent: request.userAgent,
              address: request.address,
              mailClient: runRequest.mailClient || (display?.labels.mailClient ?? ''),
              entrypoint,
              branch: outcome.branch,
              outputType: outcome.output?.output,
              returnCode,
              milliseconds: outcome.milliseconds,
              displayAddress,
            },
      )
      dependencies.metrics?.runnerSeconds.observe(
        { mode: isClick ? 'click' : 'display' },
        outcome.milliseconds / 1000,
      )
    }
    if (!isClick)
      return { reply: outcome.content ? replyOf(outcome.content, format) : defaultReply(format), runId }
    if (location !== undefined) return { reply: { status: 302, location }, runId }
    return { reply: deadClick(format === 'json' || outcome.output?.output === 'json'), runId }
  }

  function count(returnCode: ReturnCode, isClick: boolean): void {
    totals[isClick ? 'clicks' : 'displays']++
    if (returnCode !== '') totals[`fallbacks_${returnCode}`]++
  }

  return {
    totals: totals as Readonly<Record<Counted, number>>,

    /** Something of a workflow has changed, or of any where none is named. */
    drop: zones.drop,

    /** Whether changes of workflows are being notified to this process; without, zones are read again more often. */
    setListening(is: boolean): void {
      isListening = is
    },

    environmentOf,

    /** Never rejects: an end user gets the content, what stands in its place, or nothing. */
    async answer(request: RunnerRequest): Promise<RunnerAnswer> {
      const isClick = request.query.mode === 'click'
      let ready: ReadyZone | undefined
      try {
        const found = shortIdPattern.test(request.shortId)
          ? zones.find(request.shortId, request.address)
          : undefined
        ready = found instanceof Promise ? await found : found
      } catch (error) {
        totals.unavailable++
        warn('zone', { err: error }, 'a workflow could not be looked up')
        return { reply: isClick ? notFound : replyByAccept(request.accept), runId: undefined }
      }
      if (ready === undefined) {
        totals.unknown++
        return { reply: notFound, runId: undefined }
      }
      const { zone } = ready
      if (!zone.integration.enabled || zone.published === undefined) {
        totals.unpublished++
        const { format } = zone.integration
        return { reply: isClick ? deadClick(format === 'json') : defaultReply(format), runId: undefined }
      }
      try {
        return await run(ready, request, isClick)
      } catch (error) {
        totals.fallbacks_3501++
        log.error({ err: error, workflowId: zone.workflowId }, 'a workflow could not be run')
        const { format } = zone.integration
        return { reply: isClick ? deadClick(format === 'json') : defaultReply(format), runId: undefined }
      }
    },
  }
}

const nothingRun: Outcome = {
  content: undefined,
  output: undefined,
  destination: undefined,
  branch: undefined,
  returnCode: '3501',
  milliseconds: 0,
  faults: [],
}

const fatal = (error: Error): Outcome => ({ ...nothingRun, faults: [{ node: undefined, error }] })
