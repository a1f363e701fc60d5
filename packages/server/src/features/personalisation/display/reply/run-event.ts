import type { ReturnCode } from '@millrace/contract/resources/workflow-preview.ts'
import type { CompiledBranch, CompiledEntrypoint } from '../../compile/executable.ts'
import { languageOf, messageOf, modeParameter, reservedPrefix } from '../../run/read-request.ts'
import type { RunRequest } from '../../run/run-request.ts'
import type { RunnableZone } from '../../runnable-zone.ts'
import type { RunnerCompany } from '../runner-store.ts'

/** An event of the runner, before the rules of the collector. */
export interface RunnerEvent {
  readonly name: 'workflow_display' | 'workflow_click'
  readonly companyId: string
  readonly datasourceId: string
  readonly countries: boolean
  readonly eventId: string
  readonly url: string
  readonly tmpId: string
  readonly clientId: string | undefined
  /** Labels that runs of one branch have in common: one object for all of them, so that it is written once. */
  readonly fixed: Readonly<Record<string, unknown>>
  /** The other labels. */
  readonly data: Readonly<Record<string, unknown>>
  readonly userAgent: string | undefined
  /** Of the sender, of which the country is kept and nothing else. */
  readonly address: string
}

export interface RecordedRun {
  readonly name: RunnerEvent['name']
  readonly zone: RunnableZone
  readonly company: RunnerCompany
  readonly datasourceId: string
  readonly runId: string
  readonly request: RunRequest
  readonly userAgent: string | undefined
  readonly address: string
  readonly mailClient: string
  /** Undefined where the version has it no more. */
  readonly entrypoint: CompiledEntrypoint | undefined
  readonly branch: CompiledBranch | undefined
  readonly outputType: string | undefined
  readonly returnCode: ReturnCode
  readonly milliseconds: number
  /** The address of the integration, without parameters. */
  readonly displayAddress: string
}

/** Parameters that are kept with an event; further ones are left out. */
const maxKeptParameters = 50

/** A run as an event of the company (docs/workflows.md, Events). */
export function eventOfRun(run: RecordedRun): RunnerEvent {
  const { zone, company, request } = run
  const data: Record<string, unknown> = {
    outputType: run.outputType,
    message: messageOf(request),
    language: languageOf(request),
    generationMs: Math.round(run.milliseconds * 1000) / 1000,
    returnCode: run.returnCode === '' ? undefined : run.returnCode,
    mailClient: run.mailClient === '' ? undefined : run.mailClient,
    runId: run.runId,
  }
  let kept = 0
  for (const [name, values] of request.parameters) {
    if (isOwn(name)) continue
    if (kept++ === maxKeptParameters) break
    data[`parameter.${name}`] = values.length === 1 ? values[0] : values.join(',')
  }
  return {
    name: run.name,
    companyId: zone.companyId,
    datasourceId: run.datasourceId,
    countries: company.countries,
    eventId: run.runId,
    url: request.page === '' ? addressWithoutIdentifiers(run.displayAddress, request) : request.page,
    tmpId: request.tmpId,
    clientId: request.person.client,
    fixed: fixedOf(run),
    data,
    userAgent: run.userAgent,
    address: run.address,
  }
}

type Fixed = RunnerEvent['fixed']

/** By what a zone is known as, and the branch. */
const known = new WeakMap<RunnableZone, Map<CompiledBranch | undefined, Fixed>>()

function fixedOf({ zone, entrypoint, branch }: RecordedRun): Fixed {
  let ofZone = known.get(zone)
  if (ofZone === undefined) {
    ofZone = new Map()
    known.set(zone, ofZone)
  }
  let fixed = ofZone.get(branch)
  if (fixed === undefined) {
    fixed = {
      workflowId: zone.workflowId,
      versionId: zone.published?.versionId,
      branchId: branch?.id,
      entrypointId: zone.entrypointId,
      zone: entrypoint?.zone,
      zoneType: entrypoint?.type ?? zone.integration.type,
      format: entrypoint?.format ?? zone.integration.format,
      individualized: String(branch?.individualized ?? false),
      categoryId: branch?.categoryId,
      tagValueIds: branch !== undefined && branch.tagValueIds.length > 0 ? branch.tagValueIds : undefined,
      integrationId: zone.integration.id,
    }
    ofZone.set(branch, fixed)
  }
  return fixed
}

const isOwn = (name: string): boolean => name === modeParameter || name.startsWith(reservedPrefix)

/** Texts that stand in an address as they are. */
const unreserved = /^[\w.~-]*$/

const encoded = (text: string): string =>
  unreserved.test(text) ? text : encodeURIComponent(text.toWellFormed())

function addressWithoutIdentifiers(address: string, { parameters }: RunRequest): string {
  let query = ''
  for (const [name, values] of parameters) {
    if (isOwn(name)) continue
    for (const value of values) {
      const part = `${encoded(name)}=${encoded(value)}`
      query += `${query === '' ? '?' : '&'}${part}`
    }
  }
  return address + query
}
