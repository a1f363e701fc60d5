import type { TagKey, TagValue } from '@millrace/contract/resources/tag-key.ts'
import { tagKeys, tagKeyTeams, tagValues } from '../../database/tables/tag-key.ts'
import { type Listed, mapListed, type Page } from '../../platform/paging.ts'
import { companyRows, type Key, type RowOf } from '../../platform/resources/company-rows.ts'
import { objectTeams } from '../../platform/resources/object-teams.ts'
import { and, asc, eq, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

/** A name as it is shown, and the hash by which it is compared. */
interface Named {
  readonly name: string
  readonly nameHash: Buffer
}

export interface NewTagValue extends Named {
  readonly id: string
  readonly description: string
}

const extras = {
  resourceGroupIds: sql<string[]>`array(
    select t.team_id from tag_key_teams t where t.tag_key_id = "tag_keys"."id" order by t.team_id)`,
  values: sql<TagValue[]>`(
    select coalesce(
      json_agg(json_build_object('_id', v.id, 'name', v.name, 'description', v.description) order by v.position),
      '[]')
    from tag_values v where v.tag_key_id = "tag_keys"."id")`,
}

export type StoredTagKey = RowOf<typeof tagKeys, typeof extras>

const valueColumns = { _id: tagValues.id, name: tagValues.name, description: tagValues.description }

export const toTagKey = (row: StoredTagKey): TagKey => ({
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
  const rows = companyRows(db, tagKeys, extras)
  const of = ({ companyId, id }: Key) => and(eq(tagValues.companyId, companyId), eq(tagValues.tagKeyId, id))
  const matching = (companyId: string, includeSystem: boolean) =>
    and(eq(tagKeys.companyId, companyId), includeSystem ? undefined : eq(tagKeys.assignmentMode, 'custom'))

  return {
    ...rows,
    replaceTeams: objectTeams(db, tagKeyTeams, 'tagKeyId').replace,

    /** The oldest first. */
    async list(companyId: string, includeSystem: boolean, page: Page): Promise<Listed<TagKey>> {
      const order = [asc(tagKeys.createdAt), asc(tagKeys.id)]
      return mapListed(await rows.page(matching(companyId, includeSystem), order, page), toTagKey)
    },

    /** Of those that were made by hand. */
    count: (companyId: string): Promise<number> => rows.count(matching(companyId, false)),

    countValues: (key: Key): Promise<number> => db.$count(tagValues, of(key)),

    /** In the order in which they were added. */
    async listValues(key: Key): Promise<TagValue[]> {
      return db.select(valueColumns).from(tagValues).where(of(key)).orderBy(asc(tagValues.position))
    },

    async findValue(key: Key, id: string): Promise<TagValue | undefined> {
      const [row] = await db
        .select(valueColumns)
        .from(tagValues)
        .where(and(of(key), eq(tagValues.id, id)))
      return row
    },

    /** In this order. */
    async insertValues({ companyId, id: tagKeyId }: Key, values: readonly NewTagValue[]): Promise<void> {
      if (values.length === 0) return
      await db.insert(tagValues).values(values.map((value) => ({ ...value, companyId, tagKeyId })))
    },

    async updateValue(key: Key, id: string, fields: Partial<Omit<NewTagValue, 'id'>>): Promise<void> {
      await db
        .update(tagValues)
        .set(fields)
        .where(and(of(key), eq(tagValues.id, id)))
    },

    async deleteValue(key: Key, id: string): Promise<void> {
      await db.delete(tagValues).where(and(of(key), eq(tagValues.id, id)))
    },
  }
}
