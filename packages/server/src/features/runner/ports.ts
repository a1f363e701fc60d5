import type {
  Binding,
  Expression,
  WorkflowDefinition,
} from '@millrace/contract/resources/workflow-definition.ts'
import type { Analyze } from '@millrace/contract/resources/workflow-version.ts'
import type { Principal } from '../identity/sessions/principal.ts'

/** A JSON template as it was when the version was published. */
export interface RunnableTemplate {
  readonly definition: unknown
  readonly variables: readonly {
    readonly name: string
    readonly type: 'scalar' | 'array' | 'fixed'
    /** Row of a `fixed` one, from 0. */
    readonly index?: number | undefined
  }[]
  /** The variable whose value is the destination of a click. */
  readonly redirectVariable?: string | undefined
}

/** A version of a workflow as it runs. */
export interface RunnableVersion {
  readonly versionId: string
  readonly definition: WorkflowDefinition
  readonly analyze: Analyze
  /** By id. */
  readonly templates: Readonly<Record<string, RunnableTemplate>>
  /** Changes whenever any of the other fields does. */
  readonly revision: string
}

/** What stands behind one address of the runner. */
export interface RunnableZone {
  readonly companyId: string
  readonly workflowId: string
  readonly workflowName: string
  readonly teamIds: readonly string[]
  readonly integration: {
    readonly id: string
    readonly shortId: string
    readonly enabled: boolean
    /** By name. */
    readonly parameters: Readonly<Record<string, unknown>>
    /** Channel and format of the entrypoint. */
    readonly type: string
    readonly format: string
    /** Host to which `trk-redirect` may lead, with those below it. */
    readonly domain?: string | undefined
  }
  readonly entrypointId: string
  /** Absent where the workflow is not published, or archived. */
  readonly published?: RunnableVersion | undefined
}

export type FindZone = (shortId: string) => Promise<RunnableZone | undefined>

/** A version that a user previews, also of a draft. */
export interface PreviewableVersion extends Omit<RunnableVersion, 'revision'> {
  readonly workflowId: string
  /** Of the workflow. */
  readonly teamIds: readonly string[]
  /** What keeps the version from running; empty where it can. */
  readonly faults: readonly { readonly path: string; readonly message: string }[]
}

/**
 * The version, or the draft where none is named.
 * @throws {DomainError} `workflowNotFound`, also where none of the caller's teams sees the workflow;
 *   `workflowVersionNotFound`
 */
export type ReadVersion = (
  principal: Principal,
  workflowId: string,
  versionId: string | undefined,
) => Promise<PreviewableVersion>

/** A user, or a workflow, which reads what its teams see. */
export type Viewer = Pick<Principal, 'companyId' | 'teamIds'>

/** Identifiers of the datasources that may be read. */
export type Sight = ReadonlySet<string>

/** Datasources of the company that one of the teams sees. */
export type ListSeenDatasources = (viewer: Viewer) => Promise<readonly string[]>

/** What runs need to know of a company. */
export interface RunnerCompany {
  /** IANA name. */
  readonly timezone: string
  /** Whether the country of a sender is kept. */
  readonly countries: boolean
  /** Datasource of workflow events; made with the company's first workflow. */
  readonly eventsDatasourceId: string | undefined
  /** What addresses of clicks are signed with in every process; undefined where it cannot be opened. */
  readonly clickKey: Buffer | undefined
}

export type ReadCompany = (companyId: string) => Promise<RunnerCompany | undefined>

/** What assigns an experiment's variants. */
export interface RunnableExperiment {
  readonly id: string
  readonly status: 'draft' | 'scheduled' | 'running' | 'ended' | 'decided' | 'archived'
  readonly unit: 'user' | 'device'
  readonly salt: string
  readonly variants: readonly { readonly id: string; readonly allocation: number }[]
  readonly baselineVariantId: string
  /** Of a decided one: what all are shown. */
  readonly routingVariantId: string | undefined
}

/** Those of the company; unknown ids are left out. */
export type ListExperiments = (
  companyId: string,
  ids: readonly string[],
) => Promise<readonly RunnableExperiment[]>

export type DataRow = Readonly<Record<string, unknown>>

export interface RowQuery {
  readonly companyId: string
  readonly datasourceId: string
  readonly match: 'and' | 'or'
  readonly filters: readonly { readonly field: string; readonly operator: string; readonly value: unknown }[]
  readonly sort?: { readonly field: string; readonly order: 'asc' | 'desc' } | undefined
  readonly limit: number
}

/** Rows of the live version of a datasource. */
export interface RowSource {
  queryRows(
    query: RowQuery & { readonly signal: AbortSignal },
  ): Promise<{ readonly rows: readonly DataRow[]; readonly revision: string }>
  /** Changes whenever the rows do; undefined where there is no live version. */
  revisionOf(companyId: string, datasourceId: string): Promise<string | undefined>
}

/** Who a content is shown to; neither is given where nothing is known. */
export interface PersonKey {
  readonly device?: string | undefined
  readonly client?: string | undefined
}

export interface PersonEvent {
  readonly name: string
  readonly time: Date
  readonly datasourceId: string
  readonly url: string
  readonly ids: readonly string[]
  readonly value?: number | undefined
  readonly labels: Readonly<Record<string, string>>
}

/** What persons have done. */
export interface PersonSource {
  /** The newest first, at most 1,000. */
  readPerson(
    asked: PersonKey & { readonly companyId: string; readonly since: Date; readonly signal: AbortSignal },
  ): Promise<{ readonly events: readonly PersonEvent[] }>
  isMember(
    asked: PersonKey & {
      readonly companyId: string
      readonly cohortId: string
      readonly signal: AbortSignal
    },
  ): Promise<boolean>
}

/**
 * Computes a transform. `lookUp` gives the value of a node; `assertTime` throws where the time is used up, or
 * would be by so many steps of 40 ns.
 * @throws where it has none
 */
export type EvaluateExpression = (
  expression: Expression,
  lookUp: (reference: Extract<Binding, { readonly node: string }>) => unknown,
  assertTime: (steps?: number) => void,
) => unknown

/** The object that a template gives with the values of its variables. */
export type FillTemplate = (template: RunnableTemplate, values: ReadonlyMap<string, unknown>) => unknown

/** What a user-agent names. */
export interface RunnerSender {
  readonly deviceType: string
  readonly os: string
  readonly browser: string
}

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

/**
 * Makes an event durable; of a crawler that it came.
 * @throws where the event log takes none
 */
export type RecordEvent = (event: RunnerEvent) => Promise<void>

/** The company's wall clock. */
export interface WallClock {
  /** Milliseconds as if the reading were UTC. */
  localOf(instant: number): number
  instantOf(local: number): number
}
