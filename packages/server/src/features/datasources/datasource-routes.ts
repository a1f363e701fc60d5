import {
  createDatasource,
  listDatasourceLogs,
  listDatasources,
  readDatasourceCounters,
} from '@millrace/contract/operations/datasources.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../platform/http/route.ts'
import type { DatasourceService } from './datasource-service.ts'

/** Datasources, their logs and their counters, for the authenticated scope. */
export function registerDatasourceRoutes(scope: FastifyInstance, service: DatasourceService): void {
  route(scope, listDatasources, ({ principal, query }) => service.list(principal, query))
  route(scope, createDatasource, ({ principal, body }) =>
    service.create(principal, { name: body.name, teamIds: body.resourceGroupIds }),
  )
  route(scope, listDatasourceLogs, ({ principal, params, query }) => {
    const { page, perPage, kind, rule } = query
    const filter = { kind, rule, from: instantOf(query.from), to: instantOf(query.to) }
    return service.listLogs(principal, params.id, filter, { page, perPage })
  })
  route(scope, readDatasourceCounters, ({ principal, params }) => service.readCounters(principal, params.id))
}

function instantOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
