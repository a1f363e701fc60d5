import { Type } from 'typebox'
import { mapOf, optionals, text } from './formats.ts'

// The Segment shape as senders write it. The collector reads calls by rules of its own (docs/migrating.md), never with
// these schemas: they describe.

const time = (description: string) =>
  Type.Optional(text(description, '2026-01-31T12:00:00.000Z', { format: 'date-time' }))

const common = {
  ...optionals({
    messageId: text(
      'Unique per call: the same one counts once within 7 days',
      'ajs-0b0f7e0e-6f0c-4a57-9d0c-6f6b4f0f2c11',
    ),
    anonymousId: text('Identity of the device; `userId` stands for it where it is absent', 'k3v9x1'),
    userId: text('Known identity of the person', 'customer-42'),
  }),
  timestamp: time('When it happened, by the clock of the sender; the time of reception when absent'),
  sentAt: time(
    'When the request was sent, by the same clock: one that is wrong by a minute or more is corrected',
  ),
  context: Type.Optional(
    mapOf(Type.Unknown(), {
      description: 'Where it happened: `page.url` and `page.referrer`; most of the rest becomes labels',
      examples: [{ page: { url: 'https://shop.example/checkout' }, locale: 'fr-FR' }],
    }),
  ),
}

const writeKey = {
  writeKey: Type.Optional(
    text(
      'Identifier of the datasource, where Basic authentication does not name it as the user',
      '65f0c0ffee5ca1ab1e0ddba2',
    ),
  ),
}

const properties = Type.Optional(
  mapOf(Type.Unknown(), {
    description: 'Free map; it becomes the `data` of the event',
    examples: [{ order_id: 'A-1001', total: 59.9, products: [{ product_id: 'sku-1' }] }],
  }),
)
const traits = Type.Optional(
  mapOf(Type.Unknown(), {
    description: 'Free map; each trait becomes a label of the event',
    examples: [{ plan: 'premium' }],
  }),
)
const name = Type.Optional(text('Of the page or screen', 'Checkout'))
const unknownFields = 'Unknown fields are ignored'

const trackFields = {
  event: text('What happened', 'Order Completed'),
  properties,
}
const pageFields = {
  name,
  category: Type.Optional(text('Of the page', 'Checkout')),
  properties,
}
const identifyFields = { traits }
const groupFields = {
  groupId: text('The group that the person belongs to', 'company-7'),
  traits,
}
const aliasFields = {
  previousId: text('Identity of the device until now', 'k3v9x1'),
}

export const SegmentTrack = Type.Object(
  { ...trackFields, ...common, ...writeKey },
  { title: 'SegmentTrack', description: unknownFields },
)
export const SegmentPage = Type.Object(
  { ...pageFields, ...common, ...writeKey },
  { title: 'SegmentPage', description: unknownFields },
)
export const SegmentIdentify = Type.Object(
  { ...identifyFields, ...common, ...writeKey },
  { title: 'SegmentIdentify', description: unknownFields },
)
export const SegmentGroup = Type.Object(
  { ...groupFields, ...common, ...writeKey },
  { title: 'SegmentGroup', description: unknownFields },
)
export const SegmentAlias = Type.Object(
  { ...aliasFields, ...common, ...writeKey },
  { title: 'SegmentAlias', description: unknownFields },
)

const typed = <const T extends string>(type: T) => ({ type: Type.Literal(type) })

export const SegmentBatch = Type.Object(
  {
    batch: Type.Array(
      Type.Union([
        Type.Object({ ...typed('track'), ...trackFields, ...common }),
        Type.Object({ ...typed('page'), ...pageFields, ...common }),
        Type.Object({ ...typed('screen'), ...pageFields, ...common }),
        Type.Object({ ...typed('identify'), ...identifyFields, ...common }),
        Type.Object({ ...typed('group'), ...groupFields, ...common }),
        Type.Object({ ...typed('alias'), ...aliasFields, ...common }),
      ]),
      { minItems: 1, maxItems: 2_000, description: 'Calls, each validated on its own' },
    ),
    sentAt: common.sentAt,
    context: Type.Optional(
      mapOf(Type.Unknown(), {
        description: 'Of all calls that have none of their own',
        examples: [{ locale: 'fr-FR' }],
      }),
    ),
    ...writeKey,
  },
  { title: 'SegmentBatch', description: unknownFields },
)

export const SegmentReply = Type.Object(
  { success: Type.Literal(true) },
  { additionalProperties: false, title: 'SegmentReply' },
)
