import { type Static, Type } from 'typebox'
import {
  bodyOf,
  extension,
  filled,
  flag,
  keyPattern,
  like,
  listOf,
  mapOf,
  named,
  nameText,
  nullable,
  oneOf,
  optionals,
  storablePattern,
  text,
} from './formats.ts'

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

const IntegrationCondition = named('IntegrationCondition', {
  operator: oneOf(conditionOperators),
  field: filled(
    'Parameter of the page’s address, `url`, `trk-u` (the user), or `isLogged`',
    integrationLimits.parameterName,
    'utm_source',
  ),
  values: Type.Array(Type.String({ maxLength: integrationLimits.parameterValue, pattern: storablePattern }), {
    maxItems: integrationLimits.values,
    description: 'One of them is enough, for `not…` and `ne` none may; none for `empty` and `nempty`',
  }),
})

const filters = named('IntegrationFilters', {
  type: oneOf(['and', 'or']),
  conditions: Type.Array(IntegrationCondition, { maxItems: integrationLimits.conditions }),
})
export type IntegrationFilters = Static<typeof filters>

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: storablePattern }), {
    maxItems: integrationLimits.listed,
    uniqueItems: true,
    description,
  })

/** How a workflow reaches one place: its addresses, and on a web page where and when it is put in. */
export const Integration = named('Integration', {
  id: Type.String(),
  workflowId: Type.String(),
  shortId: text('Part of the addresses, never another one', 'k3v9X1pQ0z'),
  name: Type.Optional(extension(text('Name of the place'))),
  entrypointId: extension(text('Entrypoint that it shows')),
  entrypointState: extension(
    oneOf(
      entrypointStates,
      'Whether the live version has the entrypoint, or the draft alone; `absent`: neither has, so that nothing is shown',
    ),
  ),
  type: text('Channel of the entrypoint; of one that is absent, what it was', 'web'),
  format: text('What the channel embeds', 'embed-image'),
  outputTypes: listOf(like('json'), 'Kinds of output that the live version can answer with, else the draft'),
  parameters: AddressParameters,
  display: text(
    'Address that gives the content, with the parameters of the integration and of the workflow’s variable profile',
    'https://millrace.example/r/k3v9X1pQ0z?trk-u={{contact.id}}',
  ),
  click: text('Address behind the content'),
  domain: Type.Optional(
    text('Host of the site: `trk-redirect` may lead to it and to those below it', 'shop.example'),
  ),
  code: Type.Optional(text('Script that runs after the content was put in')),
  selector: Type.Optional(text('CSS selector of the place', '#hero')),
  enabled: flag('Whether it shows anything'),
  includeContext: Type.Optional(flag('Whether the parameters of the page’s address are passed on')),
  includeDatalayerPath: Type.Optional(
    names('Paths into the data layer whose values are passed on, each under the last part of its path'),
  ),
  waitForEvents: Type.Optional(
    names('Events of the data layer: the content is put in once one of them was seen'),
  ),
  filters: Type.Optional(filters),
  emplacement: Type.Optional(oneOf(emplacements, 'In place of what the selector finds, or beside it')),
  createdAt: extension(Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })),
  updatedAt: extension(Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })),
})
export type Integration = Static<typeof Integration>

const condition = named('IntegrationConditionInput', {
  ...IntegrationCondition.properties,
  values: Type.Optional(IntegrationCondition.properties.values),
})

const entrypointId = text('Entrypoint of the live version or of the draft', 'hero', { pattern: keyPattern })
const writable = {
  name: nameText('Name of the place', 200, { examples: ['Home page'] }),
  parameters: AddressParameters,
  domain: filled('Host name without scheme, port and path', 253, 'shop.example'),
  code: Type.String({
    maxLength: integrationLimits.codeBytes,
    pattern: storablePattern,
    description:
      'For `web`: script (no module) that runs after the content was put in, up to 20 kB; a syntax error is refused with its line and column',
  }),
  selector: filled('For `web`: CSS selector of the place', integrationLimits.selector, '#hero'),
  enabled: flag('Whether it shows anything'),
  includeContext: flag('For `web`: whether the parameters of the page’s address are passed on'),
  includeDatalayerPath: names('For `web`: paths into the data layer whose values are passed on'),
  waitForEvents: names('For `web`: events of the data layer, of which one is waited for'),
  filters: named(
    'IntegrationFiltersInput',
    {
      type: oneOf(['and', 'or']),
      conditions: Type.Array(condition, { minItems: 1, maxItems: integrationLimits.conditions }),
    },
    'For `web`: pages on which it is shown',
  ),
  emplacement: oneOf(emplacements, 'For `web`; `replace` when absent'),
}

const creation = {
  entrypointId,
  ...optionals(writable),
  enabled: Type.Optional(flag('Whether it shows anything; true when absent')),
}

export const IntegrationCreation = bodyOf('IntegrationCreation', Integration, creation)
export type IntegrationCreation = Static<typeof IntegrationCreation>

const update = {
  ...creation,
  entrypointId: Type.Optional(entrypointId),
  name: Type.Optional(nullable(writable.name, 'Name of the place; null: none')),
  domain: Type.Optional(nullable(writable.domain, 'Host name; null: none')),
  code: Type.Optional(nullable(writable.code, 'For `web`; null: none')),
  selector: Type.Optional(nullable(writable.selector, 'For `web`; null: none')),
  enabled: Type.Optional(writable.enabled),
  filters: Type.Optional(nullable(writable.filters, 'For `web`; null: every page')),
}

/** Partial: a field that is absent stays as it is; lists and maps are replaced as a whole. */
export const IntegrationUpdate = bodyOf('IntegrationUpdate', Integration, update)
export type IntegrationUpdate = Static<typeof IntegrationUpdate>

export const IntegrationSnippet = named('IntegrationSnippet', {
  html: text('HTML to paste into the mail or page'),
})
export type IntegrationSnippet = Static<typeof IntegrationSnippet>
