import type {
  PreviewStep,
  WorkflowPreview,
  WorkflowPreviewRequest,
} from '@millrace/contract/resources/workflow-preview.ts'
import { DomainError } from '../../../platform/errors.ts'
import { normalizeId } from '../../../platform/ids.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import { compileDefinition } from '../compile/compile-definition.ts'
import type { RunEnvironment, RunnableExperiment } from '../compile/executable.ts'
import type { PreviewableVersion, ReadVersion } from '../previewable-version.ts'
import { execute } from '../run/execute.ts'
import { readRunRequest } from '../run/read-request.ts'
import type { TracedStep } from '../run/run.ts'
import { clickAddressOf } from './reply/click-address.ts'
import { locationOf } from './reply/destination.ts'
import { defaultReply, type RunnerReply, replyOf } from './reply/reply.ts'
import type { RunnerDependencies, RunnerService } from './runner-service.ts'
import { createShownValues } from './shown-values.ts'

export interface PreviewDependencies
  extends Pick<
    RunnerDependencies,
    | 'readCompany'
    | 'listExperiments'
    | 'listSeenDatasources'
    | 'readSender'
    | 'openZone'
    | 'publicUrl'
    | 'timeLimitMs'
    | 'clock'
  > {
  readonly readVersion: ReadVersion
  readonly environmentOf: RunnerService['environmentOf']
}

export type PreviewService = ReturnType<typeof createPreviewService>

const maxFaults = 50
/** What a run must not wait for, a user who looks for the slow step can. */
const minTimeLimitMs = 3_000

/** Runs versions for users who want to see what they do; nothing of it is counted. */
export function createPreviewService(dependencies: PreviewDependencies) {
  const { readVersion, readCompany, listExperiments, listSeenDatasources, environmentOf } = dependencies
  const { timeLimitMs, publicUrl, clock } = dependencies

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
   * A draft may name any datasource, and the reply shows what is read, of whichever person is asked for: nothing is read
   * that the user does not see, nor what the workflow could not read once it is published.
   */
  async function environmentFor(
    principal: Principal,
    teamIds: readonly string[],
    experiments: readonly RunnableExperiment[],
  ): Promise<RunEnvironment> {
    const { companyId } = principal
    const [ofUser, ofWorkflow] = await Promise.all([
      listSeenDatasources(principal),
      listSeenDatasources({ companyId, teamIds }),
    ])
    const byUser = new Set(ofUser)
    const byWorkflow = new Set(ofWorkflow)
    const readable = new Set(ofUser.filter((id) => byWorkflow.has(id)))
    const known = { experiments: new Map(experiments.map((each) => [each.id, each])) }
    const environment = environmentOf(known, companyId, () => readable)
    return {
      ...environment,
      readRows(query) {
        const { datasourceId } = query
        if (!byUser.has(datasourceId)) throw new Error(`none of your teams sees a datasource ${datasourceId}`)
        if (!byWorkflow.has(datasourceId))
          throw new Error(`none of the workflow's teams sees the datasource ${datasourceId}`)
        return environment.readRows(query)
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
      const environment = await environmentFor(principal, version.teamIds, experiments)
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
      const shown = createShownValues()
      const outcome = await execute({
        executable,
        entrypoint,
        request,
        environment,
        timeLimitMs: Math.max(timeLimitMs, minTimeLimitMs),
        clickAddress: () => clickAddressOf(`${publicUrl()}/r/preview`, request, undefined),
        trace: (step) => steps.push(toStep(step, shown)),
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

function toStep(step: TracedStep, shown: (value: unknown) => unknown): PreviewStep {
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
