import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'

type Filters = NonNullable<PageIntegration['filters']>
type Operator = Filters['conditions'][number]['operator']

const isOneOf = (value: string, values: readonly string[]) => values.indexOf(value) >= 0
const holdsOneOf = (value: string, values: readonly string[]) =>
  values.some((each) => value.indexOf(each) >= 0)

const operators: Readonly<Record<Operator, (value: string, values: readonly string[]) => boolean>> = {
  eq: isOneOf,
  ne: (value, values) => !isOneOf(value, values),
  contains: holdsOneOf,
  notcontains: (value, values) => !holdsOneOf(value, values),
  empty: (value) => value === '',
  nempty: (value) => value !== '',
}

/** Whether an integration is for this page and this user; an operator that is not known holds nowhere. */
export function passes(filters: Filters | undefined, page: URL, clientId: string): boolean {
  if (!filters) return true
  const textOf = (field: string): string => {
    if (field === 'url') return page.href
    if (field === 'trk-u') return clientId
    if (field === 'isLogged') return String(clientId !== '')
    return page.searchParams.get(field) || ''
  }
  const { type, conditions } = filters
  const holds = ({ operator, field, values }: Filters['conditions'][number]): boolean =>
    operators[operator]?.(textOf(field), values) ?? false
  return type === 'or' ? conditions.some(holds) : conditions.every(holds)
}

/** Whether a host is the one of the site, or below it. */
export const isWithin = (host: string, domain: string | undefined): boolean =>
  !domain || host === domain || host.slice(-domain.length - 1) === `.${domain}`
