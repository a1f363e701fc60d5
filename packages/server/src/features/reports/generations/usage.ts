import type { ReportUsage } from '@millrace/contract/resources/report.ts'

/** What two pieces of work took together. */
export const sumOfUsage = (a: ReportUsage, b: ReportUsage): ReportUsage => ({
  queryCount: a.queryCount + b.queryCount,
  rowCount: a.rowCount + b.rowCount,
  payloadBytes: a.payloadBytes + b.payloadBytes,
  agentTurns: a.agentTurns + b.agentTurns,
  durationMs: a.durationMs + b.durationMs,
})
