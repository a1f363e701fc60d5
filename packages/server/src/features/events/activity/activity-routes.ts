import { watchDatasource } from '@millrace/contract/operations/datasources.ts'
import type { FastifyInstance } from 'fastify'
import { readBearer } from '../../../platform/http/bearer-token.ts'
import { rawRoute } from '../../../platform/http/route.ts'
import type { ActivityService } from './activity-service.ts'

/** The live feed, for the authenticated scope. */
export function registerActivityRoutes(scope: FastifyInstance, activity: ActivityService): void {
  rawRoute(scope, watchDatasource, {
    async handler(request, reply) {
      const { principal, params, ip: address } = request
      const body = await activity.watch({ principal, token: readBearer(request) ?? '', address }, params.id)
      // HEAD has no body whose end would close it: it would keep its place among the streams.
      if (request.method === 'HEAD') body.destroy()
      return reply
        .headers({
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store, no-transform',
          // nginx would wait for a full buffer.
          'x-accel-buffering': 'no',
        })
        .send(body)
    },
  })
  // An open stream would hold the server up until it is cut off.
  scope.addHook('preClose', async () => activity.close())
}
