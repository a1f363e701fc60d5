import { newId } from '../../src/platform/ids.ts'
import { type RefusalRows, refused } from './refusal-row.ts'

const path = '/v2/statistics/exports'

const ofQuery = (query: object) => ({
  table: 'query',
  query: { measures: [], dimensions: [], filters: [], timeDimensions: [], ...query },
})

export const exportRefusals: RefusalRows = {
  createExport: {
    incompatibleMembers: refused(() => ({
      path,
      body: ofQuery({ measures: ['purchases.count'], dimensions: ['events.name'] }),
    })),
    virtualMeasureFilter: refused(() => ({
      path,
      body: ofQuery({
        measures: ['events.perPerson'],
        filters: [{ dimension: 'events.perPerson', operator: 'gt', values: ['1'] }],
      }),
    })),
    tooManyExports: refused(async ({ companyId, userId }, { relational }) => {
      await relational.pool.query(
        `insert into statistics_exports (id, company_id, requested_by, table_name, format, from_day, state)
         select substr(md5($2::text || n), 1, 24), $1, $3, 'events', 'csv', '2026-03-01', 'done'
         from generate_series(1, 100) n`,
        [companyId, newId(), userId],
      )
      return { path, body: { table: 'events', from: '2026-03-01' } }
    }),
  },
  downloadExportFile: {
    exportFileNotFound: 'test/interface/ext-exports.test.ts',
    exportRangeInvalid: 'test/interface/ext-exports.test.ts',
  },
}
