import {
  erasePerson,
  exportPerson,
  findPerson,
  listPersonErasures,
  readPersonErasure,
} from '@millrace/contract/operations/persons.ts'
import type { FastifyInstance } from 'fastify'
import { rawRoute, route, signalOfLeaving } from '../../../platform/http/route.ts'
import type { PersonDataService } from './person-data-service.ts'

/** What is stored of one person, for the authenticated scope. */
export function registerPersonDataRoutes(scope: FastifyInstance, persons: PersonDataService): void {
  route(scope, findPerson, ({ caller, body }, leaving) => persons.search(caller, body, leaving()))
  route(scope, erasePerson, ({ caller, body }, leaving) => persons.erase(caller, body, leaving()))
  route(scope, listPersonErasures, ({ principal, query }) => persons.listErasures(principal, query))
  route(scope, readPersonErasure, ({ principal, params }) => persons.readErasure(principal, params.id))
  rawRoute(scope, exportPerson, {
    async handler({ caller, body }, reply) {
      const rows = await persons.export(caller, body, signalOfLeaving(reply))
      return reply
        .headers({
          'content-type': 'application/x-ndjson; charset=utf-8',
          'content-disposition': 'attachment; filename="person.ndjson"',
          'cache-control': 'no-store',
        })
        .send(rows)
    },
  })
}
