import {
  readAnalyticsSettings,
  updateAnalyticsSettings,
} from '@millrace/contract/operations/analytics-settings.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { AnalyticsSettingsService } from './analytics-settings-service.ts'

/** Settings of statistics, for the authenticated scope. */
export function registerAnalyticsSettingsRoutes(
  scope: FastifyInstance,
  service: AnalyticsSettingsService,
): void {
  route(scope, readAnalyticsSettings, ({ principal }) => service.read(principal))
  route(scope, updateAnalyticsSettings, ({ caller, body }) => service.update(caller, body))
}
