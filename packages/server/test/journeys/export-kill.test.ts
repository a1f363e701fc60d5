import { createHash, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type {
  StatisticsExport,
  StatisticsExportManifest,
} from '@millrace/contract/resources/statistics-export.ts'
import { afterAll, expect, test } from 'vitest'
import { silentLogger } from '../../src/platform/logger.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../../src/platform/stores/relational.ts'
import { times } from '../support/long.ts'
import { type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

const kills = times(50, 1)
const dataDirectory = mkdtempSync(join(tmpdir(), 'millrace-export-kill-'))
let service: Service | undefined

afterAll(async () => {
  await service?.stop()
  rmSync(dataDirectory, { recursive: true, force: true })
})

/** Other processes wait for the end of the lease of one that was killed: as if that time had passed. */
async function endLeases({ dataDirectory: path }: Service): Promise<void> {
  const { application } = embeddedAddresses(join(path, 'run'))
  const relational = openRelational({ address: application, logger: silentLogger, connections: 1 })
  await relational.pool.query(`update statistics_exports set lease_until = now() where state = 'running'`)
  await relational.close()
}

const read = (at: Service, id: string) =>
  at.dataOf<StatisticsExportManifest>('GET', `/statistics/exports/${id}`)

test(`an export is whole after ${kills} kills at any moment`, {
  timeout: 60_000 + 60_000 * kills,
}, async () => {
  let running = await startService({ dataDirectory })
  service = running
  await running.dataOf('POST', '/entities/company/sample-data')
  await running.loaded()
  for (let kill = 0; kill < kills; kill++) {
    const { id } = await running.dataOf<StatisticsExport>('POST', '/statistics/exports', {
      ...{ table: 'events', format: 'ndjson', from: '2000-01-01' },
    })
    await sleep(randomInt(0, 2_000))
    await running.stop('SIGKILL')
    running = await startService({ dataDirectory })
    service = running
    await endLeases(running)
    await until(async () => (await read(running, id)).state === 'done')
    const { files, rows } = await read(running, id)
    const [counted] = await running.query({
      ...{ measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] },
    })
    expect(rows).toBe(counted?.['events.count'])
    const folder = join(dataDirectory, 'exports', running.companyId, id)
    expect((await readdir(folder)).sort()).toEqual([...files.map(({ day }) => `dt=${day}`), 'manifest.json'])
    for (const { day, sha256, rows: ofDay } of files) {
      expect(await readdir(join(folder, `dt=${day}`))).toEqual(['events.ndjson.gz'])
      const packed = await readFile(join(folder, `dt=${day}`, 'events.ndjson.gz'))
      expect(createHash('sha256').update(packed).digest('hex')).toBe(sha256)
      expect(gunzipSync(packed).toString('utf8').trimEnd().split('\n')).toHaveLength(ofDay)
    }
  }
})
