import type { WorkflowVersion } from '@millrace/contract/resources/workflow-version.ts'
import {
  versionLimits,
  type WorkflowVersionSummary,
} from '@millrace/contract/resources/workflow-version-save.ts'
import {
  type ReferenceKind,
  workflowPublications,
  workflowReferences,
  workflows,
  workflowVersions,
} from '../../../database/tables/workflow.ts'
import { type Listed, mapListed, type Page, pageOf } from '../../../platform/paging.ts'
import { type Key, touched } from '../../../platform/resources/company-rows.ts'
import { and, asc, desc, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

export type StoredVersion = typeof workflowVersions.$inferSelect
export type NewVersion = Omit<typeof workflowVersions.$inferInsert, 'createdAt' | 'updatedAt'>
export type VersionFields = Partial<
  Omit<StoredVersion, 'id' | 'companyId' | 'workflowId' | 'number' | 'revision' | 'createdAt' | 'updatedAt'>
>
export type VersionKey = Pick<StoredVersion, 'id' | 'companyId' | 'workflowId'>

export type { ReferenceKind } from '../../../database/tables/workflow.ts'

/** What a version took with it when it was published. */
export type Publication = Pick<typeof workflowPublications.$inferSelect, 'definition' | 'templates'>

/** An object of the service that a version names. */
export interface VersionReference {
  readonly kind: ReferenceKind
  readonly resourceId: string
}

/** Which workflows that use an object are listed. */
interface UseFilter {
  readonly publishedOnly: boolean
  /** Only those of none of these teams. */
  readonly outsideTeams?: readonly string[] | undefined
  readonly limit: number
}

const { definition, analyze, analyzeOverrides, metadata, ...head } = {
  id: workflowVersions.id,
  createdAt: workflowVersions.createdAt,
  updatedAt: workflowVersions.updatedAt,
  state: workflowVersions.state,
  number: workflowVersions.number,
  revision: workflowVersions.revision,
  publishedAt: workflowVersions.publishedAt,
  lastSavedBy: workflowVersions.lastSavedBy,
  changeDescription: workflowVersions.changeDescription,
  complexityScore: workflowVersions.complexityScore,
  definition: workflowVersions.definition,
  analyze: workflowVersions.analyze,
  analyzeOverrides: workflowVersions.analyzeOverrides,
  metadata: workflowVersions.metadata,
}

type Head = Pick<StoredVersion, keyof typeof head>

export function toVersionSummary(stored: Head): WorkflowVersionSummary {
  const { id, createdAt, updatedAt, publishedAt, lastSavedBy, changeDescription } = stored
  return {
    id,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    state: stored.state,
    number: stored.number,
    revision: stored.revision,
    ...(publishedAt !== null && { publishedAt: publishedAt.toISOString() }),
    ...(lastSavedBy !== null && { lastSavedBy }),
    ...(changeDescription !== null && { changeDescription }),
    complexityScore: stored.complexityScore,
  }
}

export function toVersion(stored: StoredVersion): WorkflowVersion {
  return {
    ...toVersionSummary(stored),
    definition: stored.definition,
    analyze: stored.analyze,
    metadata: stored.metadata,
    analyzeOverrides: stored.analyzeOverrides,
  }
}

/** Versions of workflows, what they name and what was published of them; given a transaction it works inside it. */
export function createVersionStore(db: Queries) {
  const ofWorkflow = ({ companyId, id }: Key) =>
    and(eq(workflowVersions.companyId, companyId), eq(workflowVersions.workflowId, id))
  const one = ({ companyId, workflowId, id }: VersionKey) =>
    and(ofWorkflow({ companyId, id: workflowId }), eq(workflowVersions.id, id))

  return {
    /** The newest first. */
    async list(workflow: Key, page: Page): Promise<Listed<WorkflowVersionSummary>> {
      const where = ofWorkflow(workflow)
      const query = db.select(head).from(workflowVersions).where(where).orderBy(desc(workflowVersions.number))
      return mapListed(await pageOf(query, db.$count(workflowVersions, where), page), toVersionSummary)
    },

    /** What a workflow shows: the draft, the live one and those before it, as far as they fit; the newest first. */
    async listShown(workflow: Key): Promise<StoredVersion[]> {
      const { rows } = await db.execute<{ id: string }>(sql`
        select id from (
          select id, state, row_number() over newest as place, sum(bytes) over newest as total
          from ${workflowVersions}
          where company_id = ${workflow.companyId} and workflow_id = ${workflow.id}
          window newest as (order by number desc)
        ) as ranked
        where state in ('draft', 'live')
          or (place <= ${versionLimits.shown} and total <= ${versionLimits.shownBytes})`)
      return db
        .select()
        .from(workflowVersions)
        .where(
          and(
            ofWorkflow(workflow),
            inArray(
              workflowVersions.id,
              rows.map(({ id }) => id),
            ),
          ),
        )
        .orderBy(desc(workflowVersions.number))
    },

    async find(key: VersionKey): Promise<StoredVersion | undefined> {
      const [row] = await db.select().from(workflowVersions).where(one(key))
      return row
    },

    async findInState(workflow: Key, state: 'draft' | 'live'): Promise<StoredVersion | undefined> {
      const [row] = await db
        .select()
        .from(workflowVersions)
        .where(and(ofWorkflow(workflow), eq(workflowVersions.state, state)))
      return row
    },

    /** Counts on from the versions of the workflow, which the caller has locked. */
    async insert(version: Omit<NewVersion, 'number'>): Promise<void> {
      const number = sql<number>`(
        select coalesce(max(v.number), 0) + 1 from workflow_versions v where v.workflow_id = ${version.workflowId})`
      await db.insert(workflowVersions).values({ ...version, number: number as never })
    },

    /** A save: `updatedAt` and the revision only grow. */
    async update(key: VersionKey, fields: VersionFields): Promise<void> {
      await db
        .update(workflowVersions)
        .set({
          ...fields,
          ...touched(workflowVersions),
        })
        .where(one(key))
    },

    async replaceReferences(
      { companyId, workflowId, id: versionId }: VersionKey,
      references: readonly VersionReference[],
    ): Promise<void> {
      await db.delete(workflowReferences).where(eq(workflowReferences.versionId, versionId))
      if (references.length === 0) return
      await db
        .insert(workflowReferences)
        .values(references.map((reference) => ({ ...reference, companyId, workflowId, versionId })))
    },

    async insertPublication(
      { companyId, workflowId, id: versionId }: VersionKey,
      published: Publication & { readonly publishedBy: string },
    ): Promise<void> {
      await db.insert(workflowPublications).values({ companyId, workflowId, versionId, ...published })
    },

    /** What the version took with it when it was published; undefined for a draft. */
    async findPublication({ companyId, id }: VersionKey): Promise<Publication | undefined> {
      const [row] = await db
        .select({ definition: workflowPublications.definition, templates: workflowPublications.templates })
        .from(workflowPublications)
        .where(and(eq(workflowPublications.companyId, companyId), eq(workflowPublications.versionId, id)))
      return row
    },

    /** What runs of a published version from now on: a system change, such as of a tag that was deleted. */
    async updatePublication(
      { companyId, id }: VersionKey,
      definition: Publication['definition'],
    ): Promise<void> {
      await db
        .update(workflowPublications)
        .set({ definition })
        .where(and(eq(workflowPublications.companyId, companyId), eq(workflowPublications.versionId, id)))
    },

    /** What a published workflow runs; undefined for one that is not published. */
    async findPublished({ companyId, id }: Key) {
      const [row] = await db
        .select({
          versionId: workflowVersions.id,
          definition: workflowPublications.definition,
          analyze: workflowVersions.analyze,
          revision: workflowVersions.revision,
          templates: workflowPublications.templates,
        })
        .from(workflows)
        .innerJoin(workflowVersions, eq(workflowVersions.id, workflows.publishedVersionId))
        .innerJoin(workflowPublications, eq(workflowPublications.versionId, workflowVersions.id))
        .where(
          and(eq(workflows.companyId, companyId), eq(workflows.id, id), eq(workflows.status, 'published')),
        )
      return row
    },

    /**
     * Workflows of the company of which a version names the object: those that are published with it, or all whose
     * draft or live version does. By name, at most `limit`.
     */
    async listUses(
      companyId: string,
      { kind, resourceId }: VersionReference,
      { publishedOnly, outsideTeams, limit }: UseFilter,
    ): Promise<{ id: string; name: string }[]> {
      return db
        .select({ id: workflows.id, name: workflows.name })
        .from(workflows)
        .where(
          and(
            eq(workflows.companyId, companyId),
            publishedOnly ? eq(workflows.status, 'published') : undefined,
            sql`exists (
              select 1 from workflow_references r
              where r.company_id = ${companyId} and r.kind = ${kind} and r.resource_id = ${resourceId}
                and r.workflow_id = "workflows"."id"
                and (${!publishedOnly} or r.version_id = "workflows"."published_version_id"))`,
            outsideTeams &&
              sql`not exists (
                select 1 from workflow_teams t
                where t.workflow_id = "workflows"."id" and t.team_id = any(${sql.param(outsideTeams)}))`,
          ),
        )
        .orderBy(asc(workflows.name), asc(workflows.id))
        .limit(limit)
    },

    /** Draft and live versions that name the object; their workflows are locked, in the order of ids. */
    async listNamingForUpdate(companyId: string, reference: VersionReference): Promise<VersionKey[]> {
      const naming = sql`exists (
        select 1 from workflow_references r
        where r.company_id = ${companyId} and r.kind = ${reference.kind}
          and r.resource_id = ${reference.resourceId} and r.workflow_id = "workflows"."id")`
      await db
        .select({ id: workflows.id })
        .from(workflows)
        .where(and(eq(workflows.companyId, companyId), naming))
        .orderBy(workflows.id)
        .for('update')
      return db
        .select({
          id: workflowReferences.versionId,
          companyId: workflowReferences.companyId,
          workflowId: workflowReferences.workflowId,
        })
        .from(workflowReferences)
        .where(
          and(
            eq(workflowReferences.companyId, companyId),
            eq(workflowReferences.kind, reference.kind),
            eq(workflowReferences.resourceId, reference.resourceId),
          ),
        )
        .orderBy(workflowReferences.workflowId, workflowReferences.versionId)
    },
  }
}
