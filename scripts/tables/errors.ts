import type { ErrorRow } from '../../packages/contract/src/error-row.ts'
import { type ErrorName, errorTable } from '../../packages/contract/src/errors.ts'
import { type EventRule, eventRules } from '../../packages/contract/src/events/rules.ts'
import type { Operation } from '../../packages/contract/src/operation.ts'
import { errorsOf } from '../../packages/contract/src/operation-errors.ts'
import { table } from './markdown.ts'

const areas = [
  { title: 'General', from: 1, to: 999 },
  { title: 'Datasources and collector', from: 1000, to: 1999 },
  { title: 'Accounts, sign-in, single sign-on and provisioning', from: 2000, to: 2999 },
  { title: 'Workflows', from: 3000, to: 8999 },
  { title: 'Statistics, experiments, tags and reports', from: 9000, to: 9999 },
]

/** Operations that are named where a failure is theirs; one of more is general. */
const namedOperations = 4

interface SchemaLike {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

/** The fields of `data`; those that may be absent have a question mark. */
function fieldsOf({ data }: ErrorRow): string {
  const { properties = {}, required = [] } = data as SchemaLike
  const names = Object.keys(properties).map((name) => `\`${name}\`${required.includes(name) ? '' : '?'}`)
  return names.join(', ')
}

/** Every failure of the contract with its code, status, message, data and the operations that answer it. */
export function errorTables(operations: readonly Operation[]): string {
  const answering = new Map<ErrorName, Operation[]>()
  for (const operation of operations)
    for (const name of errorsOf(operation)) answering.set(name, [...(answering.get(name) ?? []), operation])
  const answeredBy = (name: ErrorName): string => {
    const those = answering.get(name) ?? []
    if (those.length === 0) return 'any address, or a page'
    if (those.length > namedOperations) return `${those.length} operations`
    return those.map(({ id, summary }) => `[${summary}](/docs#${id})`).join(', ')
  }
  const rows = (Object.entries(errorTable) as [ErrorName, ErrorRow][]).toSorted(
    ([, a], [, b]) => a.errorCode - b.errorCode || a.status - b.status,
  )
  const sections = areas.flatMap(({ title, from, to }) => [
    `### ${title}`,
    table(
      ['code', 'status', 'name', 'message', 'data', 'answered by'],
      rows
        .filter(([, { errorCode }]) => errorCode >= from && errorCode <= to)
        .map(([name, row]) => [
          String(row.errorCode),
          String(row.status),
          `\`${name}\``,
          row.message,
          fieldsOf(row),
          answeredBy(name),
        ]),
    ),
  ])
  return `\n${sections.join('\n\n')}\n`
}

/** The rules by which the collector validates events. */
export function ruleTable(): string {
  return table(
    ['rule', 'effect', 'what is wrong', 'what to do', 'what became of the event'],
    Object.entries<EventRule>(eventRules).map(([id, { title, effect, fix, outcome }]) => [
      `\`${id}\``,
      effect,
      title,
      fix,
      outcome,
    ]),
  )
}
