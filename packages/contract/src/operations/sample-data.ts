import type { Operation } from '../operation.ts'
import { answers, operationsOf, succeeds } from '../operation-builders.ts'
import { Datasource } from '../resources/datasource.ts'

const operation = operationsOf('Datasources')
const url = '/v2/entities/company/sample-data'

export const createSampleData = {
  ...operation('createSampleData', 'POST', url, 'company:update'),
  summary: 'Fill a datasource with sample data',
  description:
    'Makes the tracking datasource "Sample shop", seen by your teams, and sends it about 30,000 events of 60 days that end now, by the same way and rules as every event: they are in the statistics some seconds later, beside your own. While it is there, it is answered as it is, and your teams see it too. Where it is deleted meanwhile, it is not found.',
  audit: { action: 'datasource-create', target: 'datasource' },
  idempotent: true,
  errors: ['datasourceNotFound', 'tooManyDatasources', 'collectorOverloaded', 'eventsNotDurable'],
  ...answers('The datasource, once all its events are on disk', Datasource),
} as const satisfies Operation

export const deleteSampleData = {
  ...operation('deleteSampleData', 'DELETE', url, 'company:update'),
  summary: 'Delete the sample data',
  description:
    'Deletes the datasource of the sample data with all its events, as the deletion of any datasource does. Where there is none, nothing happens.',
  audit: { action: 'datasource-delete', target: 'datasource' },
  errors: ['datasourceInUse'],
  ...succeeds('There is no sample data'),
} as const satisfies Operation
