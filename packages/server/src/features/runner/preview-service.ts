import type {
  PreviewStep,
  WorkflowPreview,
  WorkflowPreviewRequest,
} from '@millrace/contract/resources/workflow-preview.ts'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import { normalizeId } from '../../platform/ids.ts'
import type { Principal } from '../identity/sessions/principal.ts'
import { compileDefinition } from './compile/compile-definition.ts'
import type { RunEnvironment } from './compile/executable.ts'
import type {
  ListExperiments,
  ListSeenDatasources,
  PersonEvent,
  PreviewableVersion,
  ReadCompany,
  ReadVersion,
  RunnableExperiment,
  RunnerSender,
  WallClock,
} from './ports.ts'
import { clickAddressOf } from './reply/click-address.ts'
import { locationOf } from './reply/destination.ts'
import { defaultReply, type RunnerReply, replyOf } from './reply/reply.ts'
import { execute } from './run/execute.ts'
import { readRunRequest } from './run/read-request.ts'
import type { TracedStep } from './run/run.ts'

export interface PreviewDependencies {
  readonly readVersion: ReadVersion
  readonly readCompany: ReadCompany
  readonly listExperiments: ListExperiments
  readonly listSeenDatasources: ListSeenDatasources
  readonly environmentOf: (
    known: { readonly experiments: ReadonlyMap<string, RunnableExperiment> },
    companyId: string,
  ) => RunEnvironment
  readonly readSender: (userAgent: string | undefined) => RunnerSender
  readonly openZone: (timezone: string) => WallClock
  readonly publicUrl: () => string
  readonly budgetMs: number
  readonly clock: Clock
}

export type PreviewService = ReturnType<typeof createPreviewService>

/** Of a value as a preview shows it, as JSON. */
const maxShownLength = 20_000
const maxFaults = 50
/** What a run must not wait for, a user who looks for the slow step can. */
const minBudgetMs = 3_000

/** Runs versions for users who want to see what they do; nothing of it is counted. */
export function createPreviewService(dependencies: PreviewDependencies) {
  const { readVersion, readCompany, listExperiments, listSeenDatasources, environmentOf } = dependencies
  const { budgetMs, publicUrl, clock } = dependencies

  async function getVersion(
    principal: Principal,
    id: string,
    versionId: string | undefined,
  ): Promise<PreviewableVersion> {
    const version = await readVersion(principal, id, versionId)
    const { faults } = version
    if (faults.length === 0) return version
    const errors = faults.slice(0, maxFaults).map(({ path, message }) => ({ path, message }))
    throw new DomainError(
      'versionNotRunnable',
      { id, versionId: version.versionId, errors },
      { message: `The version cannot run yet: ${errors[0]?.message}` },
    )
  }

  /**
   * Reads nothing of datasources that the user does not see: a draft may name any, and the reply shows what is read,
   * of whichever person is asked for.
   */
  function seenBy(principal: Principal, environment: RunEnvironment): RunEnvironment {
    return {
      ...environment,
      async readRows(query) {
        const datasourceId = normalizeId(query.datasourceId)
        const seen = await listSeenDatasources(principal, [datasourceId])
        if (seen.length === 0) throw new Error(`none of your teams sees a datasource ${datasourceId}`)
        return environment.readRows(query)
      },
      persons: {
        isMember: (asked) => environment.persons.isMember(asked),
        async readPerson(asked) {
          const { events } = await environment.persons.readPerson(asked)
          const datasourceOf = (event: PersonEvent) => normalizeId(event.datasourceId)
          const seen = new Set(await listSeenDatasources(principal, [...new Set(events.map(datasourceOf))]))
          return { events: events.filter((event) => seen.has(datasourceOf(event))) }
        },
      },
    }
  }

  return {
    /** @throws {DomainError} workflowNotFound, workflowVersionNotFound, versionNotRunnable, unknownEntrypoint */
    async preview(
      principal: Principal,
      workflowId: string,
      asked: WorkflowPreviewRequest,
    ): Promise<WorkflowPreview> {
      const id = normalizeId(workflowId)
      const { entrypointId, parameters = {}, person = {} } = asked
      const version = await getVersion(principal, id, asked.versionId && normalizeId(asked.versionId))
      const executable = compileDefinition(version)
      const entrypoint = executable.entrypoints.get(entrypointId)
      if (!entrypoint) {
        const known = [...executable.entrypoints.keys()].join(', ') || 'none'
        const message = `The version has no entrypoint "${entrypointId}"; there are: ${known}`
        throw new DomainError('unknownEntrypoint', { id, entrypointId }, { message })
      }
      const { companyId } = principal
      const [company, experiments] = await Promise.all([
        readCompany(companyId),
        listExperiments(companyId, executable.experimentIds),
      ])
      if (!company) throw new DomainError('workflowNotFound', { id })
      const query = {
        ...parameters,
        ...(person.client === undefined ? {} : { 'trk-u': person.client }),
        ...(person.device === undefined ? {} : { 'trk-t': person.device }),
      }
      const asker = {
        userAgent: asked.userAgent,
        sender: dependencies.readSender(asked.userAgent),
        address: '',
        referer: undefined,
      }
      const now = asked.now === undefined ? clock.now() : Date.parse(asked.now)
      const request = readRunRequest(query, asker, now, dependencies.openZone(company.timezone))
      const steps: PreviewStep[] = []
      const outcome = await execute({
        executable,
        entrypoint,
        request,
        environment: seenBy(
          principal,
          environmentOf({ experiments: new Map(experiments.map((each) => [each.id, each])) }, companyId),
        ),
        budgetMs: Math.max(budgetMs, minBudgetMs),
        clickAddress: () => clickAddressOf(`${publicUrl()}/r/preview`, request),
        trace: (step) => steps.push(toStep(step)),
      })
      const { content, output, branch } = outcome
      const click = locationOf({
        parameters: request.parameters,
        destination: outcome.destination,
        hosts: executable.hosts,
        domain: undefined,
        workflowId: id,
        branchId: branch?.id,
      })
      return {
        workflowId: id,
        versionId: version.versionId,
        entrypointId,
        steps,
        branchId: branch?.id ?? null,
        individualized: branch?.individualized ?? false,
        output: {
          kind: output?.output ?? null,
          ...shownReply(content ? replyOf(content, entrypoint.format) : defaultReply(entrypoint.format)),
          ...(click !== undefined && { click }),
        },
        returnCode: outcome.returnCode,
        milliseconds: rounded(outcome.milliseconds),
      }
    },
  }
}

const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000

function toStep(step: TracedStep): PreviewStep {
  const { node, type, name, skipped, input, output, milliseconds, fault } = step
  return {
    node,
    type,
    ...(name !== undefined && { name }),
    ...(skipped && { skipped }),
    input: shown(input),
    output: shown(output),
    milliseconds: rounded(milliseconds),
    ...(fault !== undefined && { fault }),
  }
}

/** The value as JSON has it; a long one is cut as text, so that no preview is larger than its steps are many. */
function shown(value: unknown): unknown {
  const text = JSON.stringify(value ?? null)
  return text.length <= maxShownLength ? JSON.parse(text) : `${text.slice(0, maxShownLength)}…`
}

function shownReply(reply: RunnerReply): Omit<WorkflowPreview['output'], 'kind' | 'click'> {
  switch (reply.status) {
    case 200:
      return {
        status: reply.status,
        contentType: reply.contentType,
        ...(typeof reply.body === 'string' && { body: reply.body }),
      }
    case 302:
      return { status: reply.status, location: reply.location }
    default:
      return { status: reply.status }
  }
}
