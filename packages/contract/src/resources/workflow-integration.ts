import { type Static, Type } from 'typebox'
import {
  keyPattern,
  mapOf,
  nameText,
  nullable,
  oneOf,
  responseOnly,
  storablePattern,
  strict,
} from './formats.ts'

/** Beyond docs/interface.md. */
const extension = { 'x-millrace-extension': true } as const

/** Bounds of integrations (docs/workflows.md, Integrations). */
export const integrationLimits = {
  perWorkflow: 100,
  parameters: 50,
  parameterName: 100,
  parameterValue: 2_000,
  /** Bytes of `code`. */
  codeBytes: 20_480,
  selector: 1_000,
  conditions: 20,
  values: 20,
  listed: 20,
} as const

export const emplacements = ['replace', 'before', 'after'] as const
export const conditionOperators = ['contains', 'notcontains', 'empty', 'nempty', 'eq', 'ne'] as const
export const entrypointStates = ['live', 'draft', 'absent'] as const

/** Names and values of parameters of an address. */
export const AddressParameters = mapOf(
  Type.String({ maxLength: integrationLimits.parameterValue, pattern: storablePattern }),
  {
    maxProperties: integrationLimits.parameters,
    description: 'Parameters of the address, by name; placeholders of sending tools stay as they are',
    examples: [{ 'trk-u': '{{contact.id}}', utm_campaign: 'welcome' }],
  },
)

const IntegrationCondition = Type.Object(
  {
    operator: oneOf(conditionOperators),
    field: Type.String({
      minLength: 1,
      maxLength: integrationLimits.parameterName,
      description: 'Parameter of the page’s address, `url`, `trk-u` (the user), or `isLogged`',
      examples: ['utm_source'],
    }),
    values: Type.Array(
      Type.String({ maxLength: integrationLimits.parameterValue, pattern: storablePattern }),
      {
        maxItems: integrationLimits.values,
        description: 'One of them is enough, for `not…` and `ne` none may; none for `empty` and `nempty`',
      },
    ),
  },
  { ...strict, title: 'IntegrationCondition' },
)

const filters = Type.Object(
  {
    type: oneOf(['and', 'or']),
    conditions: Type.Array(IntegrationCondition, { maxItems: integrationLimits.conditions }),
  },
  { ...strict, title: 'IntegrationFilters' },
)
export type IntegrationFilters = Static<typeof filters>

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: storablePattern }), {
    maxItems: integrationLimits.listed,
    uniqueItems: true,
    description,
  })

/** How a workflow reaches one place: its addresses, and on a web page where and when it is put in. */
export const Integration = Type.Object(
  {
    id: Type.String(),
    workflowId: Type.String(),
    shortId: Type.String({
      description: 'Part of the addresses, never another one',
      examples: ['k3v9X1pQ0z'],
    }),
    name: Type.Optional(Type.String({ description: 'Name of the place', ...extension })),
    entrypointId: Type.String({ description: 'Entrypoint that it shows', ...extension }),
    entrypointState: oneOf(entrypointStates, {
      description:
        'Whether the live version has the entrypoint, or the draft alone; `absent`: neither has, so that nothing is shown',
      ...extension,
    }),
    type: Type.String({
      description: 'Channel of the entrypoint; of one that is absent, what it was',
      examples: ['web'],
    }),
    format: Type.String({ description: 'What the channel embeds', examples: ['embed-image'] }),
    outputTypes: Type.Array(Type.String({ examples: ['json'] }), {
      description: 'Kinds of output that the live version can answer with, else the draft',
    }),
    parameters: AddressParameters,
    display: Type.String({
      description:
        'Address that gives the content, with the parameters of the integration and of the workflow’s variable profile',
      examples: ['https://millrace.example/r/k3v9X1pQ0z?trk-u={{contact.id}}'],
    }),
    click: Type.String({ description: 'Address behind the content' }),
    domain: Type.Optional(
      Type.String({
        description: 'Host of the site: `trk-redirect` may lead to it and to those below it',
        examples: ['shop.example'],
      }),
    ),
    code: Type.Optional(Type.String({ description: 'Script that runs after the content was put in' })),
    selector: Type.Optional(Type.String({ description: 'CSS selector of the place', examples: ['#hero'] })),
    enabled: Type.Boolean({ description: 'Whether it shows anything' }),
    includeContext: Type.Optional(
      Type.Boolean({ description: 'Whether the parameters of the page’s address are passed on' }),
    ),
    includeDatalayerPath: Type.Optional(
      names('Paths into the data layer whose values are passed on, each under the last part of its path'),
    ),
    waitForEvents: Type.Optional(
      names('Events of the data layer: the content is put in once one of them was seen'),
    ),
    filters: Type.Optional(filters),
    emplacement: Type.Optional(
      oneOf(emplacements, { description: 'In place of what the selector finds, or beside it' }),
    ),
    createdAt: Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'], ...extension }),
    updatedAt: Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'], ...extension }),
  },
  { ...strict, title: 'Integration' },
)
export type Integration = Static<typeof Integration>

const condition = Type.Object(
  {
    ...IntegrationCondition.properties,
    values: Type.Optional(IntegrationCondition.properties.values),
  },
  { ...strict, title: 'IntegrationConditionInput' },
)

const writable = {
  name: nameText('Name of the place', 200, { examples: ['Home page'] }),
  entrypointId: Type.String({
    pattern: keyPattern,
    description: 'Entrypoint of the live version or of the draft',
    examples: ['hero'],
  }),
  parameters: AddressParameters,
  domain: Type.String({
    minLength: 1,
    maxLength: 253,
    description: 'Host name without scheme, port and path',
    examples: ['shop.example'],
  }),
  code: Type.String({
    maxLength: integrationLimits.codeBytes,
    pattern: storablePattern,
    description:
      'For `web`: script (no module) that runs after the content was put in, up to 20 kB; a syntax error is refused with its line and column',
  }),
  selector: Type.String({
    minLength: 1,
    maxLength: integrationLimits.selector,
    description: 'For `web`: CSS selector of the place',
    examples: ['#hero'],
  }),
  enabled: Type.Boolean({ description: 'Whether it shows anything' }),
  includeContext: Type.Boolean({
    description: 'For `web`: whether the parameters of the page’s address are passed on',
  }),
  includeDatalayerPath: names('For `web`: paths into the data layer whose values are passed on'),
  waitForEvents: names('For `web`: events of the data layer, of which one is waited for'),
  filters: Type.Object(
    {
      type: oneOf(['and', 'or']),
      conditions: Type.Array(condition, { minItems: 1, maxItems: integrationLimits.conditions }),
    },
    { ...strict, title: 'IntegrationFiltersInput', description: 'For `web`: pages on which it is shown' },
  ),
  emplacement: oneOf(emplacements, { description: 'For `web`; `replace` when absent' }),
}

const creation = {
  entrypointId: writable.entrypointId,
  name: Type.Optional(writable.name),
  parameters: Type.Optional(writable.parameters),
  domain: Type.Optional(writable.domain),
  code: Type.Optional(writable.code),
  selector: Type.Optional(writable.selector),
  enabled: Type.Optional(Type.Boolean({ description: 'Whether it shows anything; true when absent' })),
  includeContext: Type.Optional(writable.includeContext),
  includeDatalayerPath: Type.Optional(writable.includeDatalayerPath),
  waitForEvents: Type.Optional(writable.waitForEvents),
  filters: Type.Optional(writable.filters),
  emplacement: Type.Optional(writable.emplacement),
}

export const IntegrationCreation = Type.Object(
  { ...creation, ...responseOnly(Integration, creation) },
  { ...strict, title: 'IntegrationCreation' },
)
export type IntegrationCreation = Static<typeof IntegrationCreation>

const update = {
  ...creation,
  entrypointId: Type.Optional(writable.entrypointId),
  name: Type.Optional(nullable(writable.name, { description: 'Name of the place; null: none' })),
  domain: Type.Optional(nullable(writable.domain, { description: 'Host name; null: none' })),
  code: Type.Optional(nullable(writable.code, { description: 'For `web`; null: none' })),
  selector: Type.Optional(nullable(writable.selector, { description: 'For `web`; null: none' })),
  enabled: Type.Optional(writable.enabled),
  filters: Type.Optional(nullable(writable.filters, { description: 'For `web`; null: every page' })),
}

/** Partial: a field that is absent stays as it is; lists and maps are replaced as a whole. */
export const IntegrationUpdate = Type.Object(
  { ...update, ...responseOnly(Integration, update) },
  { ...strict, title: 'IntegrationUpdate' },
)
export type IntegrationUpdate = Static<typeof IntegrationUpdate>

export const IntegrationSnippet = Type.Object(
  { html: Type.String({ description: 'HTML to paste into the mail or page' }) },
  { ...strict, title: 'IntegrationSnippet' },
)
export type IntegrationSnippet = Static<typeof IntegrationSnippet>
