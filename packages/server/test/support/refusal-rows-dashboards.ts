import { dashboardBody, dashboardsPath } from './permission-rows-dashboards.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { nobody, type RefusalRows, refused } from './refusal-row.ts'

async function add({ token }: Person, { make }: PermissionWorld): Promise<string> {
  const { id } = await make<{ id: string }>('POST', dashboardsPath, dashboardBody(), token)
  return `${dashboardsPath}/${id}`
}

/** As many as there may be, by one statement. */
const fill = ({ companyId }: Person, { relational }: PermissionWorld, count: number) =>
  relational.pool.query(
    `insert into dashboards (id, company_id, name, description, tiles, filters, comparison)
     select substr(md5($1::text || n), 1, 24), $1, n::text, '', '[]', '[]', 'none'
     from generate_series(1, $2) n`,
    [companyId, count],
  )

const askedBy = (query: object) =>
  dashboardBody({
    tiles: [
      {
        id: 'a',
        title: '',
        x: 0,
        y: 0,
        w: 6,
        h: 4,
        kind: 'query',
        view: 'table',
        query: { measures: [], dimensions: [], filters: [], timeDimensions: [], ...query },
      },
    ],
  })
const apart = () => askedBy({ measures: ['sessions.count'], dimensions: ['events.path'] })
const byVirtual = () =>
  askedBy({
    measures: ['events.count'],
    filters: [{ member: 'events.perPerson', operator: 'gt', values: ['1'] }],
  })

const ofUnknownTeam = () => dashboardBody({ resourceGroupIds: [nobody] })

export const dashboardRefusals: RefusalRows = {
  createDashboard: {
    incompatibleMembers: refused(() => ({ path: dashboardsPath, body: apart() })),
    virtualMeasureFilter: refused(() => ({ path: dashboardsPath, body: byVirtual() })),
    unknownTeam: refused(() => ({ path: dashboardsPath, body: ofUnknownTeam() })),
    tooManyDashboards: refused(async (founder, world) => {
      await fill(founder, world, 1_000)
      return { path: dashboardsPath, body: dashboardBody() }
    }),
  },
  replaceDashboard: {
    incompatibleMembers: refused(async (founder, world) => ({
      path: await add(founder, world),
      body: apart(),
    })),
    virtualMeasureFilter: refused(async (founder, world) => ({
      path: await add(founder, world),
      body: byVirtual(),
    })),
    unknownTeam: refused(async (founder, world) => ({
      path: await add(founder, world),
      body: ofUnknownTeam(),
    })),
    savedMeanwhile: refused(async (founder, world) => ({
      path: await add(founder, world),
      body: dashboardBody(),
      ifMatch: '"0"',
    })),
  },
  deleteDashboard: {
    savedMeanwhile: refused(async (founder, world) => ({ path: await add(founder, world), ifMatch: '"0"' })),
  },
  duplicateDashboard: {
    tooManyDashboards: refused(async (founder, world) => {
      const path = await add(founder, world)
      await fill(founder, world, 999)
      return { path: `${path}/duplicate` }
    }),
  },
}
