/**
 * Guided analyses of a shop of 60 days, from the request until the report stands: all queries, findings and texts.
 * Run: `npm run bench -- analyses [--events 10000000] [--data DIRECTORY] [--rounds 1] [--settle 20]` (a directory is
 * kept and used again).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Report } from '@millrace/contract/resources/report.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { fillWithShop } from './support/fill.ts'
import { median, printTable, type Row } from './support/machine.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000000' },
    data: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    settle: { type: 'string', default: '20' },
  },
})
const kept = values.data
const service = await startService(kept === undefined ? {} : { dataDirectory: kept })
const path = '/v2/statistics/reports'

/** The report once its generation has ended. */
async function makeReport(guidedAnalysis: string): Promise<Report> {
  const { id } = await service.dataOf<{ id: string }>('POST', '/statistics/reports', { guidedAnalysis })
  for (;;) {
    const report = await service.dataOf<Report>('GET', `/statistics/reports/${id}`)
    const { lastGenerationFailure: failure } = report
    if (failure) throw new Error(`${path}: ${failure.code}: ${failure.message}`)
    if (!report.activeGeneration) return report
    await sleep(100)
  }
}

const rows: Row[] = []
try {
  const filled = await fillWithShop(service, Number(values.events), 60)
  // Merges of what was just loaded would share the cores with the queries.
  await sleep(Number(values.settle) * 1000)
  rows.push(['events stored', filled.toLocaleString('en-US'), '', ''])
  for (const analysis of ['revenue', 'impact', 'engagement', 'retention']) {
    const took: number[] = []
    let queries = 0
    for (let round = 0; round < Number(values.rounds); round++) {
      const started = performance.now()
      const { evidence } = await makeReport(analysis)
      took.push(performance.now() - started)
      queries = evidence.length
    }
    rows.push([`${analysis}, ${queries} queries`, `${(median(took) / 1000).toFixed(1)} s`, '', '< 10 s'])
  }
  printTable('Analyses', rows)
} finally {
  await service.stop()
  if (kept === undefined) removeData(service)
}
