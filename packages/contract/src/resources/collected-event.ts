import { type Static, Type } from 'typebox'
import { id, mapOf, text } from './formats.ts'

/**
 * The envelope of an event as senders should write it (docs/interface.md, Collected event). The collector validates
 * events one by one and field by field with the rules of `events/`, never with this schema: it describes.
 */
export const CollectedEvent = Type.Object(
  {
    key: id('Company identifier'),
    name: text(
      'What happened: `identify`, `page_view`, `product_page`, `product_hover`, `category_view`, ' +
        '`brand_view`, `add_cart`, `purchase`, `purchase_references`, or any other name',
      'purchase',
      { minLength: 1 },
    ),
    url: text('Page address or app screen', 'https://shop.example/checkout'),
    referrer: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'Address of the page that led here, as `document.referrer` has it; its host is kept, unless it is that of `url`',
        examples: ['https://www.example.org/articles/7'],
      }),
    ),
    tmpId: text('Anonymous identity of the device, always set', 'k3v9x1', { minLength: 1 }),
    clientId: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Known identity of the person; null and the empty text mean absent',
        examples: ['customer-42'],
      }),
    ),
    data: mapOf(Type.Unknown(), {
      description:
        'Free map. Reserved: `ids` (texts), `value` (number, cut to two decimals), `transId` (text); every ' +
        'other key becomes a label',
      examples: [{ ids: ['sku-1', 'sku-2'], value: 59.9, transId: 'A-1001' }],
    }),
    eventId: text(
      'Made by the sender, unique per event: the same one counts once within 7 days',
      '0b0f7e0e-6f0c-4a57-9d0c-6f6b4f0f2c11',
      { minLength: 1 },
    ),
    v: Type.Literal(1, { description: 'Version of the envelope' }),
    timestamp: Type.Optional(
      Type.Number({
        description: 'Epoch milliseconds; the time of reception when absent',
        examples: [1767225600000],
      }),
    ),
    consent: Type.Optional(
      Type.Boolean({
        description:
          'Whether the person has consented: a datasource with `consent` `require` takes events with true alone. It is not stored',
      }),
    ),
  },
  { title: 'CollectedEvent', description: 'Unknown fields are ignored' },
)
export type CollectedEvent = Static<typeof CollectedEvent>
