import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import {
  type AttachmentInput,
  type Experiment,
  type ExperimentAction,
  type ExperimentCreation,
  type ExperimentOutcome,
  type ExperimentUpdate,
  experimentLimits,
  type Variant,
} from '@millrace/contract/resources/experiment.ts'
import { changesOf, definedOf } from '../../platform/changes.ts'
import type { Clock } from '../../platform/clock.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import { type Listed, mapListed, type Page } from '../../platform/paging.ts'
import {
  found,
  type ResourceContext,
  recorderOf,
  refusing,
  requireRoom,
} from '../../platform/resources/resource.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { RequireResourceGroups } from '../identity/people/teams/resource-groups.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import type { SystemTagKeys } from '../tag-keys/system-tag-keys.ts'
import { numbersOf, type ReadResults } from './decision.ts'
import { defineExperiment, namesOf } from './experiment-definition.ts'
import { assertAllowed, fieldsOf, redefined, refuseFixed } from './experiment-states.ts'
import {
  createExperimentStore,
  type ExperimentFields,
  type ExperimentFilter,
  type StoredExperiment,
  toExperiment,
} from './experiment-store.ts'
import { type MeasuredExperiment, measuredOf } from './measured-experiment.ts'

export interface ExperimentServiceDependencies extends ResourceContext {
  readonly requireResourceGroups: RequireResourceGroups
  readonly tagKeys: SystemTagKeys
  /** @throws {DomainError} `unknownWorkflow` for those that are no workflows of the company */
  readonly requireWorkflows: (tx: Queries, companyId: string, ids: readonly string[]) => Promise<void>
  readonly readResults: ReadResults
  /** A new salt; 128 random bits. */
  readonly newSalt?: () => string
  readonly clock: Clock
}

/** How far ahead a start may be scheduled. */
const maxAheadMs = 366 * 86_400_000

export type ExperimentService = ReturnType<typeof createExperimentService>

/** Experiments of a company and their states (docs/experiments.md, Life). */
export function createExperimentService(dependencies: ExperimentServiceDependencies) {
  const { relational, lockCompany, requireResourceGroups, tagKeys, readResults, clock } = dependencies
  const record = recorderOf('experiment', dependencies.recordAudit)
  const { newSalt = randomSalt, requireWorkflows } = dependencies

  const get = async (queries: Queries, companyId: string, id: string): Promise<StoredExperiment> =>
    found(
      await createExperimentStore(queries).find({ companyId, id: normalizeId(id) }),
      'experimentNotFound',
      id,
    )

  /** Changes one that is locked meanwhile, and gives it as it is afterwards. */
  function change(
    caller: Caller,
    id: string,
    work: (tx: Queries, experiment: StoredExperiment) => Promise<void>,
  ): Promise<Experiment> {
    const { companyId } = caller.principal
    return relational.transaction(async (tx) => {
      const held = await createExperimentStore(tx).findForUpdate({ companyId, id: normalizeId(id) })
      await work(tx, found(held, 'experimentNotFound', id))
      return toExperiment(await get(tx, companyId, id))
    })
  }

  /** Takes it to the state to which the action leads, with further fields. */
  function transition(
    caller: Caller,
    id: string,
    { action, audit, fields = {}, details = {}, also }: Transition,
  ): Promise<Experiment> {
    return change(caller, id, async (tx, experiment) => {
      assertAllowed(experiment, action)
      await createExperimentStore(tx).update(experiment, { ...fieldsOf(action, clock.now()), ...fields })
      await also?.(tx, experiment)
      const from = experiment.status
      await record(tx, caller, audit, experiment, { from, ...details })
    })
  }

  async function insertVariants(
    tx: Queries,
    experiment: Pick<StoredExperiment, 'id' | 'companyId' | 'tagKeyId'>,
    variants: readonly Variant[],
  ): Promise<void> {
    const { companyId, tagKeyId } = experiment
    if (tagKeyId === null) throw new Error('a draft has a tag key')
    const store = createExperimentStore(tx)
    // Variants refer to their values, which are replaced meanwhile.
    await store.deleteVariants(experiment)
    const valueIds = await tagKeys.replaceValues(tx, { companyId, id: tagKeyId }, variants.map(toTagValue))
    await store.replaceVariants(
      experiment,
      variants.map((variant, i) => ({ ...variant, tagValueId: valueIds[i] as string })),
    )
  }

  /** What is attached already stays, also where it is gone since. */
  async function requireAttached(
    tx: Queries,
    companyId: string,
    wanted: readonly AttachmentInput[] = [],
    present: StoredExperiment['attachments'],
  ): Promise<void> {
    const ids = new Set(wanted.map(({ resourceId }) => normalizeId(resourceId)))
    for (const { resourceId } of present) ids.delete(resourceId)
    await requireWorkflows(tx, companyId, [...ids])
  }

  return {
    async list({ companyId }: Principal, filter: ExperimentFilter, page: Page): Promise<Listed<Experiment>> {
      return mapListed(await createExperimentStore(relational.db).list(companyId, filter, page), toExperiment)
    },

    /** Operation 8. @throws {DomainError} `experimentNotFound` */
    async read({ companyId }: Principal, id: string): Promise<Experiment> {
      return toExperiment(await get(relational.db, companyId, id))
    },

    /** What results are computed from. @throws {DomainError} `experimentNotFound` */
    async readMeasured({ companyId }: Principal, id: string): Promise<MeasuredExperiment> {
      return measuredOf(await get(relational.db, companyId, id))
    },

    /** @throws {DomainError} `validation`, `tooManyExperiments` or `unknownTeam` */
    async create(caller: Caller, body: ExperimentCreation): Promise<Experiment> {
      const { companyId, userId } = caller.principal
      const { variants, ...definition } = defineExperiment(body)
      const id = newId()
      const name = body.name.trim()
      return refusing(failuresOf(body), () =>
        relational.transaction(async (tx) => {
          const store = createExperimentStore(tx)
          await lockCompany(tx, companyId)
          requireRoom('tooManyExperiments', experimentLimits.perCompany, await store.count(companyId))
          const teamIds = (await requireResourceGroups(tx, companyId, body.resourceGroupIds)) ?? []
          await requireAttached(tx, companyId, body.attachments, [])
          const values = variants.map(toTagValue)
          const key = await tagKeys.insert(tx, { companyId, name: tagKeyName(id, name), values })
          await store.insert({
            ...definition,
            metrics: [...definition.metrics],
            id,
            companyId,
            name,
            hypothesis: body.hypothesis ?? '',
            createdBy: userId,
            salt: newSalt(),
            attachments: attachmentsOf(body.attachments ?? [], [], clock.now()),
            tagKeyId: key.id,
          })
          await store.replaceVariants(
            { companyId, id },
            variants.map((variant, i) => ({ ...variant, tagValueId: key.valueIds[i] as string })),
          )
          await store.replaceTeams({ companyId, id }, teamIds)
          const details = { type: definition.type, variants: variants.length, resourceGroupIds: teamIds }
          await record(tx, caller, 'experiment-create', { id, name }, details)
          return toExperiment(await get(tx, companyId, id))
        }),
      )
    },

    /** @throws {DomainError} `validation`, `experimentNotFound`, `experimentFixed`, `tagKeyNameTaken` or `unknownTeam` */
    async update(caller: Caller, id: string, body: ExperimentUpdate): Promise<Experiment> {
      return refusing(failuresOf(body), () =>
        change(caller, id, async (tx, experiment) => {
          const definition = redefined(experiment, body)
          await requireAttached(tx, experiment.companyId, body.attachments, experiment.attachments)
          const wanted = {
            name: body.name?.trim(),
            hypothesis: body.hypothesis,
            attachments:
              body.attachments && attachmentsOf(body.attachments, experiment.attachments, clock.now()),
            resourceGroupIds: await requireResourceGroups(tx, experiment.companyId, body.resourceGroupIds),
            ...definition,
          }
          const changes = changesOf(experiment, wanted)
          if (changes.changed.length === 0) return
          refuseFixed(experiment, changes.changed)
          const { resourceGroupIds, variants, metrics, ...fields } = wanted
          const store = createExperimentStore(tx)
          await store.update(experiment, definedOf({ ...fields, metrics: metrics && [...metrics] }))
          if (resourceGroupIds) await store.replaceTeams(experiment, resourceGroupIds)
          if (changes.changed.includes('variants')) await insertVariants(tx, experiment, variants ?? [])
          if (wanted.name !== undefined && changes.changed.includes('name') && experiment.tagKeyId !== null) {
            const key = { companyId: experiment.companyId, id: experiment.tagKeyId }
            await tagKeys.rename(tx, key, tagKeyName(experiment.id, wanted.name))
          }
          await record(tx, caller, 'experiment-update', experiment, { ...changes })
        }),
      )
    },

    /**
     * @param scheduledAt null makes it a draft again
     * @throws {DomainError} `validation`, `experimentNotFound` or `experimentTransition`
     */
    async schedule(caller: Caller, id: string, scheduledAt: string | null): Promise<Experiment> {
      const audit = 'experiment-schedule'
      const details = { scheduledAt }
      if (scheduledAt === null) {
        return transition(caller, id, {
          action: 'unschedule',
          audit,
          fields: { scheduledAt: null },
          details,
        })
      }
      const at = Date.parse(scheduledAt)
      if (!(at > clock.now())) throw invalid('scheduledAt', 'must be in the future')
      if (at > clock.now() + maxAheadMs) throw invalid('scheduledAt', 'must be at most a year ahead')
      return transition(caller, id, {
        action: 'schedule',
        audit,
        fields: { scheduledAt: new Date(at) },
        details,
      })
    },

    /** @throws {DomainError} `experimentNotFound` or `experimentTransition` */
    start(caller: Caller, id: string): Promise<Experiment> {
      return transition(caller, id, { action: 'start', audit: 'experiment-start' })
    },

    /** @throws {DomainError} `experimentNotFound` or `experimentTransition` */
    markRead(caller: Caller, id: string): Promise<Experiment> {
      return change(caller, id, async (tx, experiment) => {
        assertAllowed(experiment, 'read')
        if (experiment.readAt !== null) return
        await createExperimentStore(tx).update(experiment, fieldsOf('read', clock.now()))
        await record(tx, caller, 'experiment-read', experiment, { status: experiment.status })
      })
    },

    /** @throws {DomainError} `experimentNotFound` or `experimentTransition` */
    end(caller: Caller, id: string): Promise<Experiment> {
      return transition(caller, id, { action: 'end', audit: 'experiment-end' })
    },

    /**
     * @throws {DomainError} `validation`, `experimentNotFound` or `experimentTransition`, and the failures of queries
     */
    async decide(
      caller: Caller,
      id: string,
      routingVariantId: string,
      signal: AbortSignal,
    ): Promise<Experiment> {
      const { companyId, userId } = caller.principal
      const experiment = await get(relational.db, companyId, id)
      assertAllowed(experiment, 'decide')
      if (!experiment.variants.some((variant) => variant.id === routingVariantId)) {
        throw invalid('routingVariantId', `must be one of ${namesOf(experiment.variants)}`)
      }
      // Before the lock: what decides the numbers is fixed, and reading them can take seconds.
      const results = await readResults(measuredOf(experiment), { userId, signal })
      const { baselineVariantId } = experiment
      const numbers = numbersOf(
        results,
        routingVariantId === baselineVariantId ? undefined : routingVariantId,
      )
      const outcome: ExperimentOutcome = {
        status: 'decided',
        routingVariantId,
        decidedBy: { type: 'user', userId },
        ...numbers,
      }
      const details = { routingVariantId, validated: numbers.validated }
      return transition(caller, id, {
        action: 'decide',
        audit: 'experiment-decide',
        fields: { outcome },
        details,
      })
    },

    /** @throws {DomainError} `experimentNotFound` or `experimentTransition` */
    archive(caller: Caller, id: string): Promise<Experiment> {
      return transition(caller, id, {
        action: 'archive',
        audit: 'experiment-archive',
        async also(tx, experiment) {
          const { companyId, tagKeyId, startedAt } = experiment
          // Statistics of the past name the key of one that ran.
          if (startedAt !== null || tagKeyId === null) return
          const store = createExperimentStore(tx)
          await store.clearTags(experiment)
          await store.update(experiment, { tagKeyId: null })
          await tagKeys.delete(tx, { companyId, id: tagKeyId })
        },
      })
    },
  }
}

interface Transition {
  readonly action: ExperimentAction
  readonly audit: AuditAction
  readonly fields?: ExperimentFields
  readonly details?: Readonly<Record<string, unknown>>
  readonly also?: (tx: Queries, experiment: StoredExperiment) => Promise<void>
}

const randomSalt = (): string => crypto.randomUUID().replaceAll('-', '')

/** Unique, because it names the experiment. */
const tagKeyName = (id: string, name: string): string => `Experiment ${id}: ${name}`

const toTagValue = ({ tagValueId, name }: Variant, i: number) => ({
  id: tagValueId,
  name,
  path: `variants.${i}.name`,
})

const failuresOf = ({ resourceGroupIds = [] }: Pick<ExperimentUpdate, 'resourceGroupIds'>) =>
  ({ experiment_teams_team: ['unknownTeam', { teamIds: resourceGroupIds }] }) as const

/** An attachment that is there already keeps its time. */
function attachmentsOf(
  wanted: readonly AttachmentInput[],
  present: StoredExperiment['attachments'],
  now: number,
): StoredExperiment['attachments'] {
  const keyOf = ({ surface, resourceId }: AttachmentInput) => `${surface} ${normalizeId(resourceId)}`
  const byKey = new Map(wanted.map((each) => [keyOf(each), each]))
  return [...byKey].map(([key, { surface, resourceId }]) => {
    const known = present.find((each) => `${each.surface} ${each.resourceId}` === key)
    return known ?? { surface, resourceId: normalizeId(resourceId), attachedAt: new Date(now).toISOString() }
  })
}
