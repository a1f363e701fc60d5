import {
  createDatasource,
  listDatasourceLogs,
  listDatasources,
  readDatasourceCounters,
} from '@millrace/contract/operations/datasources.ts'
import type { DatasourceCreation } from '@millrace/contract/resources/datasource.ts'
import type { DatasourceLogEntry } from '@millrace/contract/resources/datasource-log.ts'
import type { FastifyInstance } from 'fastify'
import { paginated, success } from '../../platform/http/envelope.ts'
import type { Page } from '../../platform/paging.ts'
import type { DatasourceService } from './datasource-service.ts'

interface LogQuery extends Page {
  kind?: DatasourceLogEntry['kind']
  rule?: string
  from?: string
  to?: string
}

/** Datasources, their logs and their counters, for the authenticated scope. */
export function registerDatasourceRoutes(app: FastifyInstance, service: DatasourceService): void {
  app.route<{ Querystring: Page }>({
    ...listDatasources,
    async handler({ principal, query }) {
      return paginated({ ...(await service.list(principal, query)), ...query })
    },
  })

  app.route<{ Body: DatasourceCreation }>({
    ...createDatasource,
    async handler({ principal, body }) {
      return success(await service.create(principal, { name: body.name, teamIds: body.resourceGroupIds }))
    },
  })

  app.route<{ Params: { id: string }; Querystring: LogQuery }>({
    ...listDatasourceLogs,
    async handler({ principal, params, query }) {
      const { page, perPage, kind, rule } = query
      const filter = { kind, rule, from: instantOf(query.from), to: instantOf(query.to) }
      const listed = await service.listLogs(principal, params.id, filter, { page, perPage })
      return paginated({ ...listed, page, perPage })
    },
  })

  app.route<{ Params: { id: string } }>({
    ...readDatasourceCounters,
    async handler({ principal, params }) {
      return success(await service.readCounters(principal, params.id))
    },
  })
}

function instantOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
