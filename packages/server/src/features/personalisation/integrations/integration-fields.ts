import type { Fault } from '@millrace/contract/failure-data.ts'
import type {
  IntegrationCreation,
  IntegrationFilters,
  IntegrationUpdate,
} from '@millrace/contract/resources/workflow-integration.ts'
import { integrationLimits } from '@millrace/contract/resources/workflow-integration.ts'
import { faultOfCode } from './code.ts'
import { faultOfSelector } from './selector.ts'

type Body = IntegrationCreation | IntegrationUpdate

/** Fields that a script in a page reads, and no other channel has. */
const webFields = [
  'code',
  'selector',
  'includeContext',
  'includeDatalayerPath',
  'waitForEvents',
  'filters',
  'emplacement',
] as const
type WebField = (typeof webFields)[number]

const withoutValues = new Set(['empty', 'nempty'])

/** Host names as they are registered; the last part is no number, which an IP address would have. */
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,126}[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** A host name in the form in which hosts are compared; undefined for what is none. */
export function hostOf(text: string): string | undefined {
  if (/[\s/\\@?#:%]/.test(text)) return undefined
  const address = `https://${text}/`
  if (!URL.canParse(address)) return undefined
  const { hostname } = new URL(address)
  return hostname.length <= 253 && hostPattern.test(hostname) ? hostname : undefined
}

/** What the shapes of the contract do not say of names of parameters. */
export function faultsOfNames(names: readonly string[], pathOf: (place: number) => string): Fault[] {
  const seen = new Set<string>()
  return names.flatMap((name, place): Fault[] => {
    const path = pathOf(place)
    const message = faultOfName(name) ?? (seen.has(name) ? 'must differ from the names before it' : undefined)
    seen.add(name)
    return message === undefined ? [] : [{ path, message }]
  })
}

function faultOfName(name: string): string | undefined {
  const { parameterName } = integrationLimits
  if (name === '' || [...name].length > parameterName || /[\p{Cc}\p{Cs}]/u.test(name)) {
    return `must be named by 1 to ${parameterName} characters without control characters`
  }
  return name === 'mode' ? 'must not be "mode", by which the runner knows clicks' : undefined
}

function faultsOfFilters({ conditions }: NonNullable<IntegrationCreation['filters']>): Fault[] {
  return conditions.flatMap(({ operator, values = [] }, place) => {
    const path = `filters.conditions.${place}.values`
    if (withoutValues.has(operator)) {
      return values.length > 0
        ? [{ path, message: `must be left out: ${operator} compares with nothing` }]
        : []
    }
    return values.length === 0 ? [{ path, message: `must name at least one value for ${operator}` }] : []
  })
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)

/** Why code cannot be kept. Code that stays as it is stored is not looked at: it may be older than this rule. */
export function faultsOfCode(code: string | null | undefined, stored?: string | null): Fault[] {
  const message = code && code !== stored ? faultOfCode(code) : undefined
  return message === undefined ? [] : [{ path: 'code', message }]
}

/** What is wrong with the fields of an integration beyond their shapes, except for the syntax of its code. */
export function faultsOfFields(body: Body): Fault[] {
  const faults = faultsOfNames(Object.keys(body.parameters ?? {}), (place) =>
    ['parameters', Object.keys(body.parameters ?? {})[place]].join('.'),
  )
  const { domain, selector, code, filters } = body
  if (domain && hostOf(domain) === undefined) {
    const message = 'must be a host name, as shop.example, without scheme, port and path'
    faults.push({ path: 'domain', message })
  }
  if (selector) {
    const message = faultOfSelector(selector)
    if (message !== undefined) faults.push({ path: 'selector', message })
  }
  if (code && Buffer.byteLength(code) > integrationLimits.codeBytes) {
    faults.push({ path: 'code', message: `must have at most ${integrationLimits.codeBytes} bytes` })
  }
  if (filters) faults.push(...faultsOfFilters(filters))
  return faults
}

/** Fields of web pages that are set for a channel that is none. */
export function faultsOfChannel(fields: { readonly [F in WebField]?: unknown }, channel: string): Fault[] {
  if (channel === 'web') return []
  return webFields
    .filter((field) => isSet(fields[field]))
    .map((path) => ({ path, message: `is for the channel web alone, and the entrypoint is ${channel}` }))
}

/** Conditions as they are stored: each with its values. */
export function storedFilters(filters: NonNullable<IntegrationCreation['filters']>): IntegrationFilters {
  return {
    type: filters.type,
    conditions: filters.conditions.map(({ operator, field, values = [] }) => ({ operator, field, values })),
  }
}
