import type { Cardinality } from '@millrace/contract/resources/tag-key.ts'
import { tagKeys } from '../../../database/tables/tag-key.ts'
import { workflows } from '../../../database/tables/workflow.ts'
import { branchCategories } from '../../../database/tables/workflow-settings.ts'
import { and, asc, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

/** A workflow as dimensions show it. */
export interface NamedWorkflow {
  readonly id: string
  readonly name: string
  /** Names of the teams that it is shared with. */
  readonly teams: readonly string[]
}

/** A category of branches. */
export interface NamedCategory {
  readonly id: string
  readonly name: string
  /** The category above it; null for one on level 1. */
  readonly parentId: string | null
}

export interface NamedTagKey {
  readonly id: string
  readonly name: string
}

export interface TagKeyValues {
  readonly id: string
  readonly cardinality: Cardinality
  readonly values: readonly NamedTagKey[]
}

/** Tag keys that the metadata shows; all can be queried. */
const shownTagKeys = 500

const teams = sql<string[]>`array(
  select t.name from workflow_teams w join teams t on t.id = w.team_id and t.company_id = w.company_id
  where w.workflow_id = "workflows"."id")`

const values = sql<NamedTagKey[]>`(
  select coalesce(json_agg(json_build_object('id', v.id, 'name', v.name)), '[]')
  from tag_values v where v.tag_key_id = "tag_keys"."id")`

/** Names of what the identifiers of facts stand for. */
export function createDefinitionStore(db: Queries) {
  return {
    /** @param limit so many at most, those that were changed last */
    async listWorkflows(companyId: string, limit: number): Promise<NamedWorkflow[]> {
      return await db
        .select({ id: workflows.id, name: workflows.name, teams })
        .from(workflows)
        .where(eq(workflows.companyId, companyId))
        .orderBy(sql`${workflows.updatedAt} desc`, asc(workflows.id))
        .limit(limit)
    },

    /** @param limit so many at most, those that were made first */
    async listCategories(companyId: string, limit: number): Promise<NamedCategory[]> {
      return await db
        .select({ id: branchCategories.id, name: branchCategories.name, parentId: branchCategories.parentId })
        .from(branchCategories)
        .where(eq(branchCategories.companyId, companyId))
        .orderBy(asc(branchCategories.createdAt), asc(branchCategories.id))
        .limit(limit)
    },

    /** In the order in which they were made. */
    async listTagKeys(companyId: string): Promise<NamedTagKey[]> {
      return await db
        .select({ id: tagKeys.id, name: tagKeys.name })
        .from(tagKeys)
        .where(eq(tagKeys.companyId, companyId))
        .orderBy(asc(tagKeys.createdAt), asc(tagKeys.id))
        .limit(shownTagKeys)
    },

    /** Those of the company; others are not found. */
    async findTagKeys(companyId: string, ids: readonly string[]): Promise<TagKeyValues[]> {
      if (ids.length === 0) return []
      return await db
        .select({ id: tagKeys.id, cardinality: tagKeys.cardinality, values })
        .from(tagKeys)
        .where(and(eq(tagKeys.companyId, companyId), inArray(tagKeys.id, [...ids])))
    },
  }
}

export type DefinitionStore = ReturnType<typeof createDefinitionStore>
