import type {
  Binding,
  Expression,
  WorkflowNode,
  WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import { definitionLimits } from '@millrace/contract/resources/workflow-definition.ts'
import type { DataRow, PersonEvent, RowQuery, WallClock } from '../ports.ts'
import { type CompiledBinding, compileBinding, type DataNumbers, needsOf } from './compile-binding.ts'
import type { DataNode, RunView } from './executable.ts'
import { seedOf, shuffled } from './shuffle.ts'
import { failed, isAbsent, readMoment, readNumber } from './values.ts'

type DataType = 'datasource' | 'parameter' | 'events' | 'transform' | 'context'
export type DataWorkflowNode = Extract<WorkflowNode, { type: DataType }>

type Compiled = Pick<DataNode, 'needs' | 'inputOf' | 'compute'>

/** Rows where a node names no number. */
const defaultRows = 20
/** For how long a shuffled order stands. */
const shuffleMs = 10_000

/** A node of which another one needs the value that it does not have. */
export class NoValue extends Error {}

function compileDatasource(node: WorkflowNodeOf<'datasource'>, id: string, numbers: DataNumbers): Compiled {
  const { datasourceId, match = 'and', limit = defaultRows } = node
  const ordering = node.ordering ?? (node.sort ? 'sorted' : 'stored')
  const filters = (node.filters ?? []).map(({ field, operator, value }) => ({
    field,
    operator: operator.startsWith('$') ? operator : `$${operator}`,
    binding: compileBinding(value, numbers),
  }))
  const isShuffled = ordering === 'shuffled' || ordering === 'person'

  function queryOf(run: RunView): RowQuery | undefined {
    const resolved: { field: string; operator: string; value: unknown }[] = []
    for (const { field, operator, binding } of filters) {
      const value = binding.read(run)
      if (value === failed) throw new NoValue(`the value of the filter on ${field} could not be had`)
      // A filter without a value matches nothing, rather than everything.
      if (!isAbsent(value) || operator === '$empty') resolved.push({ field, operator, value: value ?? true })
      else if (match === 'and') return undefined
    }
    if (filters.length > 0 && resolved.length === 0) return undefined
    return {
      companyId: run.environment.companyId,
      datasourceId,
      match,
      filters: resolved,
      sort: ordering === 'sorted' ? node.sort : undefined,
      limit: isShuffled ? definitionLimits.rows : limit,
    }
  }

  function order(rows: readonly DataRow[], { request }: RunView): readonly DataRow[] {
    if (!isShuffled) return rows
    const turn = ordering === 'person' ? request.unit : String(Math.floor(request.now / shuffleMs))
    return shuffled(rows, seedOf(`${id}:${turn}`)).slice(0, limit)
  }

  return {
    needs: needsOf(filters.map(({ binding }) => binding)),
    inputOf: (run) => queryOf(run) ?? null,
    compute(run) {
      const query = queryOf(run)
      if (query === undefined) return []
      const rows = run.environment.readRows(query)
      return rows instanceof Promise ? rows.then((read) => order(read, run)) : order(rows, run)
    },
  }
}

function compileParameter({ parameter, kind, default: fallback }: WorkflowNodeOf<'parameter'>): Compiled {
  const given = ({ request }: RunView): readonly string[] => {
    const sent = (request.parameters.get(parameter) ?? []).filter((value) => value !== '')
    return sent.length === 0 && fallback !== undefined && fallback !== '' ? [fallback] : sent
  }
  /** Repeated, or with commas. */
  const several = (run: RunView) =>
    given(run)
      .flatMap((value) => value.split(','))
      .map((value) => value.trim())
      .filter((value) => value !== '')
  return {
    needs: [],
    inputOf: (run) => run.request.parameters.get(parameter) ?? null,
    compute(run) {
      switch (kind) {
        case 'text':
          return given(run)[0]
        case 'number':
          return readNumber(given(run)[0])
        case 'date':
          return readMoment(given(run)[0], run.request.clock) && given(run)[0]
        case 'texts':
          return several(run)
        case 'numbers':
          return several(run).flatMap((value) => readNumber(value) ?? [])
      }
    },
  }
}

function rowOf({ labels, time, ...event }: PersonEvent): DataRow {
  const row: Record<string, unknown> = { ...event, time: time.toISOString() }
  for (const [key, value] of Object.entries(labels)) row[`labels.${key}`] = value
  return row
}

function compileEvents(node: WorkflowNodeOf<'events'>): Compiled {
  const { datasourceId, lookBackHours, limit = defaultRows } = node
  const names = node.names && new Set(node.names)
  const exceptNames = new Set(node.exceptNames)
  const isWanted = (event: PersonEvent): boolean =>
    (names === undefined || names.has(event.name)) &&
    !exceptNames.has(event.name) &&
    (datasourceId === undefined || event.datasourceId === datasourceId)
  return {
    needs: [],
    inputOf: ({ request }) => ({ ...request.person, lookBackHours }),
    async compute({ request, environment, signal }) {
      const { device, client } = request.person
      // An unknown person has done nothing.
      if (device === undefined && client === undefined) return []
      const since = new Date(request.now - lookBackHours * 3_600_000)
      const { companyId } = environment
      const [{ events }, sight] = await Promise.all([
        environment.persons.readPerson({ companyId, device, client, since, signal }),
        environment.findSight(),
      ])
      return events
        .filter((event) => event.time >= since && isWanted(event) && sight.has(event.datasourceId))
        .slice(0, limit)
        .map(rowOf)
    },
  }
}

/** Bindings of an expression, the nested ones too. */
export function bindingsOf(expression: Expression): Binding[] {
  return expression.arguments.flatMap((each) => ('function' in each ? bindingsOf(each) : [each]))
}

function compileTransform({ expression }: WorkflowNodeOf<'transform'>, numbers: DataNumbers): Compiled {
  const compiled = new Map<Binding, CompiledBinding>(
    bindingsOf(expression).map((binding) => [binding, compileBinding(binding, numbers)]),
  )
  const readOf = (run: RunView) => (binding: Binding) => {
    const value = compiled.get(binding)?.read(run)
    if (value === failed) throw new NoValue('a value that it computes with could not be had')
    return value
  }
  const bindings = [...compiled.values()]
  return {
    needs: needsOf(bindings),
    inputOf: (run) => bindings.map(({ read }) => previewOf(read(run))),
    compute: (run) => run.environment.evaluateExpression(expression, readOf(run), run.assertTime),
  }
}

interface LocalTime {
  readonly clock: WallClock
  /** Whole seconds since 1970-01-01 UTC. */
  readonly second: number
  /** `YYYY-MM-DD`. */
  readonly date: string
  readonly hour: number
  /** From Monday, 1, to Sunday, 7. */
  readonly weekday: number
}

/** The last one asked for: runs of one second on one clock have it in common. */
let lastTime: LocalTime | undefined

function localTimeOf(clock: WallClock, now: number): LocalTime {
  const second = Math.floor(now / 1000)
  if (lastTime?.second === second && lastTime.clock === clock) return lastTime
  const local = new Date(clock.localOf(now))
  lastTime = {
    clock,
    second,
    date: local.toISOString().slice(0, 10),
    hour: local.getUTCHours(),
    weekday: ((local.getUTCDay() + 6) % 7) + 1,
  }
  return lastTime
}

const compileContext = (): Compiled => ({
  needs: [],
  inputOf: () => null,
  compute({ request }) {
    const { person, sender, page, now, clock } = request
    const local = localTimeOf(clock, now)
    return {
      'user.id': person.client,
      'user.isAnonymous': person.client === undefined,
      'user.locale': request.locale,
      'device.type': sender.deviceType,
      'device.os': sender.os,
      'device.browser': sender.browser,
      'device.mailClient': request.mailClient,
      'time.now': new Date(now).toISOString(),
      'time.date': local.date,
      'time.hour': local.hour,
      'time.weekday': local.weekday,
      'page.url': page,
      'page.host': page === '' ? undefined : URL.parse(page)?.host,
    }
  },
})

/** A value as a preview shows it: what failed has none. */
export const previewOf = (value: unknown): unknown => (value === failed || value === undefined ? null : value)

export function compileData(
  node: DataWorkflowNode,
  id: string,
  number: number,
  numbers: DataNumbers,
): DataNode {
  const own = { node: id, type: node.type, name: node.name, number }
  switch (node.type) {
    case 'datasource':
      return { ...own, ...compileDatasource(node, id, numbers) }
    case 'parameter':
      return { ...own, ...compileParameter(node) }
    case 'events':
      return { ...own, ...compileEvents(node) }
    case 'transform':
      return { ...own, ...compileTransform(node, numbers) }
    case 'context':
      return { ...own, ...compileContext() }
  }
}
