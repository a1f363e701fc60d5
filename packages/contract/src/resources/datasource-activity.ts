import { type Static, Type } from 'typebox'
import { count, dateTime, id, integer, mapOf, named, object, oneOf, text } from './formats.ts'

/** What the collector did with an event as it came; whether it came before is known only when it is loaded. */
export const activityOutcomes = ['accepted', 'changed', 'dropped', 'bot', 'refused'] as const
export type ActivityOutcome = (typeof activityOutcomes)[number]

const rule = text('Which rule', 'purchase-value-joined')
const path = text('Field of the event, dotted; empty for the event as a whole', 'data.value')

/** `event: activity` of the live feed: one event as this process has taken it. */
export const DatasourceActivity = named('DatasourceActivity', {
  at: dateTime('When the request arrived'),
  outcome: oneOf(activityOutcomes),
  name: Type.Optional(text('Name of the event', 'product_view')),
  url: Type.Optional(
    text('Address of the page without query, fragment and credentials', 'https://shop.example/boots'),
  ),
  deviceType: Type.Optional(text('Kind of sender', 'mobile')),
  country: Type.Optional(text('Country of the sender', 'FR')),
  person: Type.Optional(
    text('Stands for the device or user: the same for the same one until the process ends', '9f86d081'),
  ),
  rule: Type.Optional(rule),
  path: Type.Optional(path),
  sample: Type.Optional(text('What stood there, masked as in the log; of a crawler its name', '"##,#"')),
  changes: Type.Optional(
    Type.Array(object({ rule, path }), { description: 'Of a changed event: what was changed' }),
  ),
})
export type DatasourceActivity = Static<typeof DatasourceActivity>

/** Every message of the live feed by its event name. */
export const activityMessages = {
  open: object({ datasourceId: id('Datasource'), maxPerSecond: count('Events shown within a second') }),
  activity: DatasourceActivity,
  sampled: object({
    from: dateTime('First instant of the second'),
    shown: count('Events of it that were sent'),
    seen: count('Events of it that came'),
    share: Type.Number({ minimum: 0, maximum: 1, description: '`shown` by `seen`' }),
    missed: mapOf(Type.Integer(), 'How many were not sent, by outcome'),
  }),
  skipped: object({ count: integer(1, Number.MAX_SAFE_INTEGER, 'Events that you were too slow for') }),
  end: object({ reason: oneOf(['unauthenticated', 'forbidden', 'gone', 'closing']) }),
}
type Messages = typeof activityMessages
export type ActivityMessages = { readonly [Name in keyof Messages]: Static<Messages[Name]> }
