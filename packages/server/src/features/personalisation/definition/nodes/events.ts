import { eventFields, type WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import type { PersonEvent } from '../../../analytics/persons/person.ts'
import type { DataRow } from '../../compile/executable.ts'
import { rowsOf } from '../bindings.ts'
import type { DataNodeKind } from './node-kind.ts'
import { typeOfFixed } from './value-type.ts'

function rowOf({ labels, time, ...event }: PersonEvent): DataRow {
  const row: Record<string, unknown> = { ...event, time: time.toISOString() }
  for (const [key, value] of Object.entries(labels)) row[`labels.${key}`] = value
  return row
}

/** What the person has done, the newest first. */
export const events: DataNodeKind<WorkflowNodeOf<'events'>> = {
  reference: { field: 'datasourceId', kind: 'trackingDatasources', noun: 'tracking datasource' },
  gives: 'rows',
  typeOf: (_, field) => (field?.startsWith('labels.') ? 'any' : typeOfFixed(eventFields, field)),
  fieldsOf: () => Object.keys(eventFields),
  isPersonal: () => true,
  scoreOf: () => 1,
  isForeign: () => true,

  compile(node) {
    const { datasourceId, lookBackHours } = node
    const names = node.names && new Set(node.names)
    const exceptNames = new Set(node.exceptNames)
    const isWanted = (event: PersonEvent): boolean =>
      (names === undefined || names.has(event.name)) &&
      !exceptNames.has(event.name) &&
      (datasourceId === undefined || event.datasourceId === datasourceId)
    return {
      inputOf: ({ request }) => ({ ...request.person, lookBackHours }),
      async compute({ request, environment, signal }) {
        const { device, client } = request.person
        // An unknown person has done nothing.
        if (device === undefined && client === undefined) return []
        const since = new Date(request.now - lookBackHours * 3_600_000)
        const { companyId } = environment
        const [{ events: done }, readable] = await Promise.all([
          environment.persons.readPerson({ companyId, device, client, since, signal }),
          environment.findReadable(),
        ])
        return done
          .filter((event) => event.time >= since && isWanted(event) && readable.has(event.datasourceId))
          .slice(0, rowsOf(node))
          .map(rowOf)
      },
    }
  },
}
