import {
  analyzeDatasource,
  createDatasource,
  listDatasourceLogs,
  listDatasources,
  readDatasourceCounters,
} from '@millrace/contract/operations/datasources.ts'
import { createSampleData, deleteSampleData } from '@millrace/contract/operations/sample-data.ts'
import {
  deleteDatasource,
  listDeletedDatasources,
  listImports,
  pauseDatasource,
  publishDatasource,
  queryDatasource,
  readDatasource,
  refreshDatasource,
  restoreDatasource,
  resumeDatasource,
  updateDatasource,
  updateFields,
  uploadContent,
} from '@millrace/contract/operations/worker-datasources.ts'
import type { FastifyInstance } from 'fastify'
import { allowLongBody } from '../../platform/http/long-bodies.ts'
import { route } from '../../platform/http/route.ts'
import type { DatasourceService } from './datasource-service.ts'
import type { WorkerService } from './refreshes/worker-service.ts'
import type { SampleDataService } from './sample/sample-data-service.ts'

/** Datasources, their rows, logs and counters, for the authenticated scope. */
export function registerDatasourceRoutes(
  scope: FastifyInstance,
  {
    datasources: service,
    workerDatasources,
  }: { datasources: DatasourceService; workerDatasources: WorkerService },
): void {
  route(scope, listDatasources, ({ principal, query: { page, perPage, ...filter } }) =>
    service.list(principal, filter, { page, perPage }),
  )
  route(scope, createDatasource, ({ caller, body }) => service.create(caller, body))
  route(scope, readDatasource, ({ principal, params }) => service.read(principal, params.id))
  route(scope, updateDatasource, ({ caller, params, body }) => service.update(caller, params.id, body))
  route(scope, deleteDatasource, ({ caller, params, query: { purge, confirm } }) =>
    service.delete(caller, params.id, {
      isFinal: purge === 'now',
      ...(confirm !== undefined && { confirm }),
    }),
  )
  route(scope, listDeletedDatasources, ({ principal, query }) => service.listDeleted(principal, query))
  route(scope, restoreDatasource, ({ caller, params }) => service.restore(caller, params.id))
  route(scope, pauseDatasource, ({ caller, params }) => service.pause(caller, params.id))
  route(scope, resumeDatasource, ({ caller, params }) => service.resume(caller, params.id))
  route(scope, refreshDatasource, ({ caller, params }) => workerDatasources.refresh(caller, params.id))
  route(scope, updateFields, ({ caller, params, body }) =>
    workerDatasources.updateFields(caller, params.id, body),
  )
  route(scope, publishDatasource, ({ caller, params }) => workerDatasources.publish(caller, params.id))
  route(scope, listImports, ({ principal, params, query }) =>
    workerDatasources.listImports(principal, params.id, query),
  )
  route(scope, queryDatasource, ({ principal, body, query }) =>
    workerDatasources.query(principal, body, query),
  )
  route(scope, listDatasourceLogs, ({ principal, params, query }) => {
    const { page, perPage, kind, rule } = query
    const filter = { kind, rule, from: instantOf(query.from), to: instantOf(query.to) }
    return service.listLogs(principal, params.id, filter, { page, perPage })
  })
  route(scope, readDatasourceCounters, ({ principal, params }) => service.readCounters(principal, params.id))

  // Bodies of any content: none is parsed, and that of the analysis is not read at all.
  scope.register(async (bare) => {
    bare.removeAllContentTypeParsers()
    bare.addContentTypeParser('*', (_request, _payload, done) => done(null))
    route(bare, analyzeDatasource, ({ principal, params }, leaving) =>
      workerDatasources.analyze(principal, params.id, leaving()),
    )
    route(bare, uploadContent, ({ caller, params, query, raw, headers }) => {
      allowLongBody(raw)
      const { 'content-type': contentType, 'content-length': length } = headers
      return workerDatasources.upload(caller, params.id, {
        body: raw,
        declaredBytes: length === undefined ? undefined : Number(length),
        fileName: query.fileName,
        contentType,
      })
    })
  })
}

/** For processes that collect events: others have no way to send any. */
export function registerSampleDataRoutes(scope: FastifyInstance, sampleData: SampleDataService): void {
  route(scope, createSampleData, ({ caller }) => sampleData.create(caller))
  route(scope, deleteSampleData, ({ caller }) => sampleData.delete(caller))
}

function instantOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
