import { languages } from '@millrace/contract/languages.ts'
import { scimUserAttributes } from '../../../../database/tables/provisioning.ts'
import { teamMembers, teams } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import { type SQL, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { SqlAttribute, SqlAttributes, SqlValues } from '../filter-sql.ts'
import type { Attribute } from '../protocol/schema/attribute.ts'
import { enterpriseSchema } from '../protocol/schema/schemas.ts'
import { enterpriseAttributes, userAttributes } from '../protocol/schema/user-schema.ts'

type Entry = readonly [name: string, attribute: SqlAttribute | SqlValues]

const text = (value: SQL): SqlAttribute => ({ type: 'text', value })

/** What the identity provider has sent about a user: the table must be joined where users are listed. */
const sent = sql`${scimUserAttributes.attributes}`
const extension = sql`(${sent} -> ${enterpriseSchema}::text)`
const fullName = sql`nullif(concat_ws(' ', nullif(${users.firstName}, ''), nullif(${users.lastName}, '')), '')`

const workValue = (value: SQL): SQL =>
  sql`jsonb_build_array(jsonb_build_object('value', ${value}, 'type', 'work', 'primary', true))`

/** The language tag that was sent counts while the account has that language. */
const sentLanguage = sql`(${sent} ->> 'preferredLanguage')`
const languagePattern = sql.raw(`'^(${languages.join('|')})(?![a-z0-9])'`)
const language = sql`case when coalesce(substring(lower(${sentLanguage}) from ${languagePattern}), '')
  = coalesce(${users.language}, '') then ${sentLanguage} else ${users.language} end`

/** Values that are shown in another form than sent, as `toUserResource` shows them. */
const lists: ReadonlyMap<string, SQL> = new Map([
  ['emails', sql`coalesce(${sent} -> 'emails', ${workValue(sql`${users.email}`)})`],
  [
    'phoneNumbers',
    sql`case when ${users.phone} = '' then '[]'
      when ${sent} -> 'phoneNumbers' @> jsonb_build_array(jsonb_build_object('value', ${users.phone}))
        then ${sent} -> 'phoneNumbers'
      else ${workValue(sql`${users.phone}`)} end`,
  ],
])

function partOf({ name, type, caseExact }: Attribute, element: SQL): Entry & readonly [string, SqlAttribute] {
  const value = sql`(${element} ->> ${name}::text)`
  const key = name.toLowerCase()
  if (type === 'boolean') return [key, { type, value: sql`${value}::boolean` }]
  return [key, { type: caseExact ? 'exactText' : 'text', value }]
}

function valuesOf(attribute: Attribute): Entry {
  const { name, subAttributes = [] } = attribute
  const list = lists.get(name) ?? sql`(${sent} -> ${name}::text)`
  const table = sql`jsonb_array_elements(${list}) with ordinality as item(element, position)`
  const parts = new Map(subAttributes.map((each) => partOf(each, sql`item.element`)))
  const value = parts.get('value')
  const first = value && {
    type: value.type,
    value: sql`(select ${value.value} from ${table}
      order by coalesce((item.element ->> 'primary')::boolean, false) desc, item.position limit 1)`,
  }
  return [name.toLowerCase(), { type: 'values', table, parts, ...(first && { first }) }]
}

/** An attribute that is shown as it was sent. */
function sentEntries(attribute: Attribute, document: SQL): Entry[] {
  const { name, type, multiValued, subAttributes = [] } = attribute
  if (multiValued) return [valuesOf(attribute)]
  if (type !== 'complex') return [partOf(attribute, document)]
  const inside = sql`(${document} -> ${name}::text)`
  return subAttributes.map((each) => {
    const [part, found] = partOf(each, inside)
    return [`${name.toLowerCase()}.${part}`, found]
  })
}

/** Those that accounts have. */
const ofAccount: readonly Entry[] = [
  ['id', { type: 'lowerText', value: sql`${users.id}` }],
  ['externalid', { type: 'exactText', value: sql`${users.externalId}` }],
  ['username', { type: 'lowerText', value: sql`${users.email}` }],
  ['name.givenname', text(sql`nullif(${users.firstName}, '')`)],
  ['name.familyname', text(sql`nullif(${users.lastName}, '')`)],
  ['name.formatted', text(sql`coalesce(${sent} -> 'name' ->> 'formatted', ${fullName})`)],
  ['displayname', text(sql`coalesce(${sent} ->> 'displayName', ${fullName}, ${users.email})`)],
  ['title', text(sql`nullif(${users.jobTitle}, '')`)],
  ['preferredlanguage', text(sql`(${language})`)],
  ['active', { type: 'boolean', value: sql`(${users.status} <> 'disabled')` }],
  ['meta.created', { type: 'time', value: sql`date_trunc('milliseconds', ${users.createdAt})` }],
  ['meta.lastmodified', { type: 'time', value: sql`date_trunc('milliseconds', ${users.updatedAt})` }],
]

const userTeams = sql`${teamMembers} as member join ${teams} as team
  on team.id = member.team_id and member.user_id = ${users.id}`
const noTeams = sql`(select null::text as id, null::text as name where false) as team`

const groups = (hasGroups: boolean): Entry => [
  'groups',
  {
    type: 'values',
    table: hasGroups ? userTeams : noTeams,
    parts: new Map<string, SqlAttribute>([
      ['value', { type: 'lowerText', value: sql`team.id` }],
      ['display', text(sql`team.name`)],
    ]),
  },
]

const shown: ReadonlyMap<string, SqlAttribute | SqlValues> = new Map<string, SqlAttribute | SqlValues>([
  ...userAttributes.flatMap((each) => sentEntries(each, sent)),
  ...enterpriseAttributes.flatMap((each) => sentEntries(each, extension)),
  ...ofAccount,
])

const attributesWith = (hasGroups: boolean): SqlAttributes => new Map([...shown, groups(hasGroups)])
const withGroups = attributesWith(true)
const withoutGroups = attributesWith(false)

/** Attributes that users are filtered and sorted by. @param hasGroups whether groups are among them */
export const userSqlAttributes = (hasGroups: boolean): SqlAttributes =>
  hasGroups ? withGroups : withoutGroups
