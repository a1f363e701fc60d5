import type { Operation, ReplyDocument } from '../operation.ts'
import { example } from '../operation-builders.ts'
import {
  SegmentAlias,
  SegmentBatch,
  SegmentGroup,
  SegmentIdentify,
  SegmentPage,
  SegmentReply,
  SegmentTrack,
} from '../resources/segment-call.ts'

/**
 * What the operations in the Segment shape have in common. The body is not validated by schema: the collector answers
 * by its own rules, call by call (docs/migrating.md).
 */
const inSegmentShape = {
  method: 'POST',
  scope: 'collector',
  tag: 'Collector',
  errors: [
    'emptyEvents',
    'malformedEvents',
    'invalidDatasourceId',
    'writeKeyMissing',
    'datasourceNotFound',
    'eventsTooLarge',
    'unsupportedMediaType',
    'eventsNotDurable',
    'collectorOverloaded',
  ],
  consumes: ['application/json', 'text/plain'],
  replies: {
    200: { description: 'The events are on disk' },
    202: { description: 'Dropped as the traffic of a crawler, by the `User-Agent`' },
  } as Readonly<Record<number, ReplyDocument>>,
  schema: { response: { 200: SegmentReply, 202: SegmentReply } },
} as const satisfies Partial<Operation>

const order = {
  event: 'Order Completed',
  userId: 'customer-42',
  anonymousId: 'k3v9x1',
  messageId: '0b0f7e0e-6f0c-4a57-9d0c-6f6b4f0f2c11',
  timestamp: '2026-01-31T12:00:00.000Z',
  properties: {
    order_id: 'A-1001',
    total: 59.9,
    currency: 'EUR',
    products: [{ product_id: 'sku-1' }, { product_id: 'sku-2' }],
  },
  context: { page: { url: 'https://shop.example/checkout' } },
}

const page = {
  name: 'Home',
  anonymousId: 'k3v9x1',
  messageId: '5f6d1c52-3f7e-4a2f-8a3c-8f3d1c0e7a01',
  properties: { url: 'https://shop.example/', title: 'Welcome' },
}

const identified = {
  userId: 'customer-42',
  anonymousId: 'k3v9x1',
  messageId: '9c1a4a51-5f0e-4f0b-8e0a-1d2c3b4a5f6e',
  traits: { plan: 'premium' },
}

const authentication =
  'The write key is the identifier of a datasource: the user name of Basic authentication, with an empty password, or `writeKey` in the body.'
const mapping =
  'What becomes of each call and each field is in docs/migrating.md. What is wrong with single calls or fields is in the log of the datasource, never in the answer.'
const retrying =
  'Send again only after transport failures and 5xx answers, with the same `messageId`: a call counts once within 7 days.'

export const sendSegmentBatch = {
  ...inSegmentShape,
  id: 'sendSegmentBatch',
  url: '/v1/batch',
  summary: 'Send calls in the Segment shape',
  description: `Takes up to 2,000 calls in a body of at most 5 MB, as the client libraries for Segment send them: a sender changes its host and its write key. \`/v1/b\` is the same.

${authentication}

200 means that the events are on disk. ${mapping}

${retrying}`,
  described: { body: SegmentBatch },
  examples: {
    several: example('A page, an identity and an order', {
      writeKey: '65f0c0ffee5ca1ab1e0ddba2',
      sentAt: '2026-01-31T12:00:01.000Z',
      batch: [
        { type: 'page', ...page },
        { type: 'identify', ...identified },
        { type: 'track', ...order },
      ],
    }),
  },
} as const satisfies Operation

export const importSegmentBatch = {
  ...inSegmentShape,
  id: 'importSegmentBatch',
  url: '/v1/import',
  summary: 'Send calls in the Segment shape, as older clients do',
  description: `The same as \`/v1/batch\`, under the address that some client libraries use.

${authentication}`,
  described: { body: SegmentBatch },
  examples: {
    order: example('An order', {
      writeKey: '65f0c0ffee5ca1ab1e0ddba2',
      batch: [{ type: 'track', ...order }],
    }),
  },
} as const satisfies Operation

export const sendSegmentTrack = {
  ...inSegmentShape,
  id: 'sendSegmentTrack',
  url: '/v1/track',
  summary: 'Send one track call in the Segment shape',
  description: `An event. \`Order Completed\` becomes \`purchase\`, \`Product Viewed\` \`product_page\`, \`Product List Viewed\` \`category_view\`, \`Product Added\` \`add_cart\`, \`Product Clicked\` \`product_hover\`; any other keeps its name. \`/v1/t\` is the same.

${authentication}

${mapping}`,
  described: { body: SegmentTrack },
  examples: { order: example('An order', order) },
} as const satisfies Operation

export const sendSegmentPage = {
  ...inSegmentShape,
  id: 'sendSegmentPage',
  url: '/v1/page',
  summary: 'Send one page call in the Segment shape',
  description: `A view of a page: the event \`page_view\`. \`/v1/p\` is the same.

${authentication}

${mapping}`,
  described: { body: SegmentPage },
  examples: { home: example('A page', page) },
} as const satisfies Operation

export const sendSegmentScreen = {
  ...inSegmentShape,
  id: 'sendSegmentScreen',
  url: '/v1/screen',
  summary: 'Send one screen call in the Segment shape',
  description: `A view of a screen of an app: the event \`page_view\` with the name of the screen as its address. \`/v1/s\` is the same.

${authentication}

${mapping}`,
  described: { body: SegmentPage },
  examples: {
    cart: example('A screen', { name: 'Cart', anonymousId: 'k3v9x1', messageId: 'screen-1' }),
  },
} as const satisfies Operation

export const sendSegmentIdentify = {
  ...inSegmentShape,
  id: 'sendSegmentIdentify',
  url: '/v1/identify',
  summary: 'Send one identify call in the Segment shape',
  description: `Binds \`anonymousId\` to \`userId\`: the event \`identify\`. Its traits are stored as labels of that event, so send only those that users of statistics may see. \`/v1/i\` is the same.

${authentication}

${mapping}`,
  described: { body: SegmentIdentify },
  examples: { known: example('A person who signed in', identified) },
} as const satisfies Operation

export const sendSegmentGroup = {
  ...inSegmentShape,
  id: 'sendSegmentGroup',
  url: '/v1/group',
  summary: 'Send one group call in the Segment shape',
  description: `The group of a person: the custom event \`group\` with \`groupId\` and the traits as labels. \`/v1/g\` is the same.

${authentication}

${mapping}`,
  described: { body: SegmentGroup },
  examples: {
    company: example('A person and their company', {
      groupId: 'company-7',
      userId: 'customer-42',
      messageId: 'group-1',
      traits: { plan: 'team' },
    }),
  },
} as const satisfies Operation

export const sendSegmentAlias = {
  ...inSegmentShape,
  id: 'sendSegmentAlias',
  url: '/v1/alias',
  summary: 'Send one alias call in the Segment shape',
  description: `Binds \`previousId\` to \`userId\`: the event \`identify\` with \`previousId\` as the device. \`/v1/a\` is the same.

${authentication}

${mapping}`,
  described: { body: SegmentAlias },
  examples: {
    signedUp: example('A person who signed up', {
      previousId: 'k3v9x1',
      userId: 'customer-42',
      messageId: 'alias-1',
    }),
  },
} as const satisfies Operation
