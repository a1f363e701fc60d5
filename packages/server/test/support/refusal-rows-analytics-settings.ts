import type { TagKey } from '@millrace/contract/resources/tag-key.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { nobody, type RefusalRows, refused } from './refusal-row.ts'

const tags = '/v2/statistics/analytics/settings/tags'
const aliases = '/v2/statistics/analytics/settings/event-aliases'

/** A tag key of the founder with the values Spring and Summer. */
async function addKey({ token }: Person, { make }: PermissionWorld, name = 'Season') {
  const values = [{ name: 'Spring' }, { name: 'Summer' }]
  const { id, definition } = await make<TagKey>('POST', tags, { definition: { name, values } }, token)
  const key = `${tags}/${id}`
  return { id, key, value: `${key}/values/${definition.values[0]?._id}` }
}

/** The same, as the service makes one. */
async function addSystemKey(founder: Person, world: PermissionWorld) {
  const made = await addKey(founder, world)
  await world.relational.pool.query(`update tag_keys set assignment_mode = 'system' where id = $1`, [made.id])
  return made
}

/** As many rows as there may be, by one statement. */
const fill = ({ relational }: PermissionWorld, statement: string, values: unknown[]) =>
  relational.pool.query(statement, values)

const rename = { definition: { name: 'Anything' } }

export const analyticsSettingsRefusals: RefusalRows = {
  setEventAlias: {
    eventAliasChain: refused(async ({ token }, { make }) => {
      await make('PUT', `${aliases}/first`, { alias: 'second' }, token)
      return { path: `${aliases}/second`, body: { alias: 'third' } }
    }),
    tooManyEventAliases: refused(async ({ companyId }, world) => {
      const statement = `insert into event_aliases (company_id, name, alias)
        select $1, 'event ' || n, 'alias' from generate_series(1, 200) n`
      await fill(world, statement, [companyId])
      return { path: `${aliases}/first`, body: { alias: 'second' } }
    }),
  },
  createTagKey: {
    tagKeyNameTaken: refused(async (founder, world) => {
      await addKey(founder, world)
      return { path: tags, body: { definition: { name: ' SEASON ' } } }
    }),
    tagValueNameTaken: refused(() => ({
      path: tags,
      body: { definition: { name: 'Season', values: [{ name: 'Spring' }, { name: 'spring' }] } },
    })),
    tooManyTagKeys: refused(async ({ companyId }, world) => {
      await fill(
        world,
        `insert into tag_keys (id, company_id, name, name_hash)
         select substr(md5($1::text || n), 1, 24), $1, n::text, sha256(n::text::bytea)
         from generate_series(1, 200) n`,
        [companyId],
      )
      return { path: tags, body: { definition: { name: 'One more' } } }
    }),
    unknownTeam: refused(() => ({
      path: tags,
      body: { definition: { name: 'Season' }, resourceGroupIds: [nobody] },
    })),
  },
  updateTagKey: {
    tagKeyNameTaken: refused(async (founder, world) => {
      await addKey(founder, world, 'Other')
      return { path: (await addKey(founder, world)).key, body: { definition: { name: 'OTHER' } } }
    }),
    systemTagKey: refused(async (founder, world) => ({
      path: (await addSystemKey(founder, world)).key,
      body: rename,
    })),
    unknownTeam: refused(async (founder, world) => ({
      path: (await addKey(founder, world)).key,
      body: { resourceGroupIds: [nobody] },
    })),
  },
  deleteTagKey: {
    tagKeyInUse: 'ext-tag-keys: G03: a tag key that is used stays, and the failure names what uses it',
    systemTagKey: refused(async (founder, world) => ({ path: (await addSystemKey(founder, world)).key })),
  },
  createTagValue: {
    tagValueNameTaken: refused(async (founder, world) => ({
      path: `${(await addKey(founder, world)).key}/values`,
      body: { name: 'spring' },
    })),
    tooManyTagValues: refused(async (founder, world) => {
      const { id, key } = await addKey(founder, world)
      await fill(
        world,
        `insert into tag_values (id, company_id, tag_key_id, name, name_hash)
         select substr(md5($2::text || n), 1, 24), $1, $2, n::text, sha256(n::text::bytea)
         from generate_series(1, 998) n`,
        [founder.companyId, id],
      )
      return { path: `${key}/values`, body: { name: 'One more' } }
    }),
    systemTagKey: refused(async (founder, world) => ({
      path: `${(await addSystemKey(founder, world)).key}/values`,
      body: { name: 'Autumn' },
    })),
  },
  updateTagValue: {
    tagValueNotFound: refused(async (founder, world) => ({
      path: `${(await addKey(founder, world)).key}/values/${nobody}`,
      body: { name: 'Autumn' },
    })),
    tagValueNameTaken: refused(async (founder, world) => ({
      path: (await addKey(founder, world)).value,
      body: { name: 'SUMMER' },
    })),
    systemTagKey: refused(async (founder, world) => ({
      path: (await addSystemKey(founder, world)).value,
      body: { name: 'Autumn' },
    })),
  },
  deleteTagValue: {
    tagValueNotFound: refused(async (founder, world) => ({
      path: `${(await addKey(founder, world)).key}/values/${nobody}`,
    })),
    tagValueInUse: '09-delete-tag-value: G03: a value that a running experiment uses stays',
    systemTagKey: refused(async (founder, world) => ({ path: (await addSystemKey(founder, world)).value })),
  },
}
