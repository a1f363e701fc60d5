import { newId } from '../../src/platform/ids.ts'
import { addAutomaticReport, addReport } from './permission-rows-reports.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { exhausted, nobody, type RefusalRows, refused } from './refusal-row.ts'

const address = '/v2/statistics/reports'
const guided = { path: address, body: { guidedAnalysis: 'revenue' } }

/** As many reports as there may be, by one statement. */
const fill = ({ relational }: PermissionWorld, { companyId }: Person) =>
  relational.pool.query(
    `insert into reports (id, company_id, created_by, requested_type, origin_type, timezone, locale)
     select substr(md5($2::text || n), 1, 24), $1, 'platform', 'platform', 'free-form', 'UTC', 'en'
     from generate_series(1, 10000) n`,
    [companyId, newId()],
  )

const regenerate = (id: string) => ({ path: `${address}/${id}/regenerate` })

export const reportRefusals: RefusalRows = {
  createReport: {
    savedQueryNotFound: refused(() => ({
      path: address,
      body: { dashboardPath: `/v2/statistics/query/${nobody}`, dashboardTitle: 'Sales' },
    })),
    tooManyReports: refused(async (founder, world) => {
      await fill(world, founder)
      return guided
    }),
    tooManyRequests: exhausted(30, () => guided),
  },
  regenerateReport: {
    reportGenerates: refused(async (founder, world) => {
      const id = await addAutomaticReport(world, founder)
      await world.relational.pool.query(
        `insert into report_generations (id, company_id, report_id, kind, question, requested_type, due_at)
         values ($1, $2, $3, 'initial', 'Why?', 'platform', now() + interval '1 day')`,
        [newId(), founder.companyId, id],
      )
      return regenerate(id)
    }),
    reportNotAutomatic: refused(async (founder, world) => regenerate(await addReport(world, founder))),
    reportSuperseded: refused(async (founder, world) => {
      const id = await addAutomaticReport(world, founder)
      await world.relational.pool.query('update reports set superseded_by_id = $2 where id = $1', [
        id,
        nobody,
      ])
      return regenerate(id)
    }),
    tooManyReports: refused(async (founder, world) => {
      const id = await addAutomaticReport(world, founder)
      await fill(world, founder)
      return regenerate(id)
    }),
    tooManyRequests: refused(async (founder, world) => {
      await world.relational.pool.query(
        `insert into report_generations (id, company_id, report_id, kind, question, requested_type, requested_by, state)
         select substr(md5($1::text || n), 1, 24), $2, $3, 'initial', 'Why?', 'user', $4, 'done'
         from generate_series(1, 30) n`,
        [newId(), founder.companyId, await addReport(world, founder), founder.userId],
      )
      return regenerate(await addAutomaticReport(world, founder))
    }),
  },
}
