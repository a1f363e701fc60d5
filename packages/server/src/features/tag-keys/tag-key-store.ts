import type { Cardinality, TagKey, TagValue } from '@millrace/contract/resources/tag-key.ts'
import { tagKeys, tagKeyTeams, tagValues } from '../../database/tables/tag-key.ts'
import type { Range } from '../../platform/paging.ts'
import { and, asc, eq, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

/** A name as it is shown, and the hash by which it is compared. */
interface Named {
  readonly name: string
  readonly nameHash: Buffer
}

export interface NewTagKey extends Named {
  readonly id: string
  readonly companyId: string
  readonly description: string
  readonly cardinality: Cardinality
  /** `custom` when absent. */
  readonly assignmentMode?: 'system'
}

export interface NewTagValue extends Named {
  readonly id: string
  readonly description: string
}

/** What a key is without its values. */
export interface StoredTagKey {
  readonly id: string
  readonly companyId: string
  readonly name: string
  readonly description: string
  readonly cardinality: Cardinality
  readonly assignmentMode: 'custom' | 'system'
  readonly resourceGroupIds: readonly string[]
}

export type TagKeyReference = Pick<StoredTagKey, 'companyId' | 'id'>

const resourceGroupIds = sql<string[]>`array(
  select t.team_id from tag_key_teams t where t.tag_key_id = "tag_keys"."id" order by t.team_id)`

const keyColumns = {
  id: tagKeys.id,
  companyId: tagKeys.companyId,
  name: tagKeys.name,
  description: tagKeys.description,
  cardinality: tagKeys.cardinality,
  assignmentMode: tagKeys.assignmentMode,
  resourceGroupIds,
}

const columns = {
  ...keyColumns,
  values: sql<TagValue[]>`(
    select coalesce(
      json_agg(json_build_object('_id', v.id, 'name', v.name, 'description', v.description) order by v.position),
      '[]')
    from tag_values v where v.tag_key_id = "tag_keys"."id")`,
  createdAt: tagKeys.createdAt,
  updatedAt: tagKeys.updatedAt,
}

const valueColumns = { _id: tagValues.id, name: tagValues.name, description: tagValues.description }

type Row = StoredTagKey & { readonly values: TagValue[]; readonly createdAt: Date; readonly updatedAt: Date }

const toTagKey = (row: Row): TagKey => ({
  id: row.id,
  companyId: row.companyId,
  resourceGroupIds: [...row.resourceGroupIds],
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  type: 'Tag',
  definition: {
    name: row.name,
    assignmentMode: row.assignmentMode,
    cardinality: row.cardinality,
    values: row.values,
    description: row.description,
  },
})

/** Tag keys with their values; given a transaction it works inside it. */
export function createTagKeyStore(db: Queries) {
  const one = (companyId: string, id: string) => and(eq(tagKeys.companyId, companyId), eq(tagKeys.id, id))
  const of = ({ companyId, id }: TagKeyReference) =>
    and(eq(tagValues.companyId, companyId), eq(tagValues.tagKeyId, id))
  const matching = (companyId: string, includeSystem: boolean) =>
    and(eq(tagKeys.companyId, companyId), includeSystem ? undefined : eq(tagKeys.assignmentMode, 'custom'))

  return {
    /** The oldest first. */
    async list(companyId: string, includeSystem: boolean, { limit, offset }: Range): Promise<TagKey[]> {
      const rows = await db
        .select(columns)
        .from(tagKeys)
        .where(matching(companyId, includeSystem))
        .orderBy(asc(tagKeys.createdAt), asc(tagKeys.id))
        .limit(limit)
        .offset(offset)
      return rows.map(toTagKey)
    },

    async count(companyId: string, includeSystem: boolean): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(tagKeys)
        .where(matching(companyId, includeSystem))
      return row?.count ?? 0
    },

    async find(companyId: string, id: string): Promise<TagKey | undefined> {
      const [row] = await db.select(columns).from(tagKeys).where(one(companyId, id))
      return row && toTagKey(row)
    },

    /** Locked with its values until the transaction ends: what changes or uses them locks the key first. */
    async findForUpdate(companyId: string, id: string): Promise<StoredTagKey | undefined> {
      const [row] = await db.select(keyColumns).from(tagKeys).where(one(companyId, id)).for('update')
      return row
    },

    async insert(key: NewTagKey): Promise<void> {
      await db.insert(tagKeys).values(key)
    },

    /** Its time of change moves too, also where no field of its own is another one. */
    async update(
      { companyId, id }: TagKeyReference,
      fields: Partial<Omit<NewTagKey, 'id' | 'companyId'>>,
    ): Promise<void> {
      await db
        .update(tagKeys)
        .set({ ...fields, updatedAt: sql`now()` })
        .where(one(companyId, id))
    },

    async replaceTeams(
      { companyId, id: tagKeyId }: TagKeyReference,
      teamIds: readonly string[],
    ): Promise<void> {
      await db.delete(tagKeyTeams).where(eq(tagKeyTeams.tagKeyId, tagKeyId))
      if (teamIds.length === 0) return
      await db.insert(tagKeyTeams).values(teamIds.map((teamId) => ({ companyId, tagKeyId, teamId })))
    },

    /** With its values. */
    async delete({ companyId, id }: TagKeyReference): Promise<void> {
      await db.delete(tagKeys).where(one(companyId, id))
    },

    async countValues(key: StoredTagKey): Promise<number> {
      const [row] = await db.select({ count: sql<number>`count(*)::int` }).from(tagValues).where(of(key))
      return row?.count ?? 0
    },

    /** In the order in which they were added. */
    async listValues(key: TagKeyReference): Promise<TagValue[]> {
      return db.select(valueColumns).from(tagValues).where(of(key)).orderBy(asc(tagValues.position))
    },

    async findValue(key: StoredTagKey, id: string): Promise<TagValue | undefined> {
      const [row] = await db
        .select(valueColumns)
        .from(tagValues)
        .where(and(of(key), eq(tagValues.id, id)))
      return row
    },

    /** In this order. */
    async insertValues(
      { companyId, id: tagKeyId }: TagKeyReference,
      values: readonly NewTagValue[],
    ): Promise<void> {
      if (values.length === 0) return
      await db.insert(tagValues).values(values.map((value) => ({ ...value, companyId, tagKeyId })))
    },

    async updateValue(
      key: TagKeyReference,
      id: string,
      fields: Partial<Omit<NewTagValue, 'id'>>,
    ): Promise<void> {
      await db
        .update(tagValues)
        .set(fields)
        .where(and(of(key), eq(tagValues.id, id)))
    },

    async deleteValue(key: TagKeyReference, id: string): Promise<void> {
      await db.delete(tagValues).where(and(of(key), eq(tagValues.id, id)))
    },
  }
}
