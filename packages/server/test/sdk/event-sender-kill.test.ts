import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEventSender } from '@millrace/sdk/events'
import { expect, test } from 'vitest'
import { type Fault, startFaultyConnection } from '../support/faulty-connection.ts'
import { times } from '../support/long.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

const kills = times(10, 1)

/** Events of a name by how often each counts in the statistics. */
async function countedIn(service: Service, name: string): Promise<Map<string, number>> {
  const rows = await service.query({
    measures: ['events.count'],
    dimensions: ['events.label.serial'],
    filters: [{ member: 'events.name', operator: 'equals', values: [name] }],
    timeDimensions: [],
    limit: 50_000,
  })
  expect(rows.length).toBeLessThan(50_000)
  return new Map(rows.map((row) => [String(row['events.label.serial']), Number(row['events.count'])]))
}

const portOf = ({ baseUrl }: Service): number => Number(new URL(baseUrl).port)

/** Most connections are carried; of the others some end before, within and after a request. */
const rough = (): Fault => (['cut-request', 'cut-answer', 'refuse'] as const)[randomInt(12)] ?? 'pass'

test(
  `SIGKILL and another start under load, ${kills} times: each event counts once`,
  async () => {
    let service = await startService()
    const { dataDirectory } = service
    const connection = await startFaultyConnection(rough)
    connection.leadTo(portOf(service))
    const sender = createEventSender({
      collectorUrl: connection.url,
      companyId: service.companyId,
      datasourceId: service.datasourceId,
      flushInterval: 50,
      maxBatchEvents: 100,
      maxPendingEvents: 2000,
      requestTimeout: 5000,
      whenFull: 'wait',
    })
    const sent = Array.from({ length: kills + 1 }, () => 0)
    let round = 0
    let stopped = false
    /** Sends with breaks until the end, through all kills; what is in memory is bounded, so an outage holds it up. */
    const produce = async (producer: number): Promise<void> => {
      while (!stopped) {
        for (let i = 0; i < 25; i++) {
          const name = `round-${round}`
          const serial = sent[round] ?? 0
          sent[round] = serial + 1
          const taken = await sender.send({ name, tmpId: `device-${producer}`, data: { serial } })
          expect(taken).toBe(true)
        }
        await sleep(20)
      }
    }
    try {
      const producers = Promise.all([0, 1, 2, 3].map(produce))
      for (round = 0; round < kills; round++) {
        // The sender is still waiting to try again when the service is back.
        const { delivered } = sender.counters()
        const enough = delivered + 500 + randomInt(20, 1_000)
        await until(() => sender.counters().delivered >= enough)
        process.kill(service.pid, 'SIGKILL')
        await service.stop('SIGKILL')
        expect(sender.counters().dropped).toBe(0)
        service = await startService({ dataDirectory })
        connection.leadTo(portOf(service))
      }
      await until(() => (sent[kills] ?? 0) > 500)
      stopped = true
      await producers
      expect(await sender.close({ timeoutMs: 200_000 })).toEqual({ undelivered: [] })
      const total = sent.reduce((sum, number) => sum + number, 0)
      const counters = sender.counters()
      expect(counters).toMatchObject({ sent: total, delivered: total, dropped: 0, pending: 0 })
      expect(counters.retried).toBeGreaterThan(0)
      expect(sent.every((number) => number > 0)).toBe(true)

      const stored = async (): Promise<number> =>
        (await service.dataOf<{ accepted: number }>('GET', `/datasources/${service.datasourceId}/counters`))
          .accepted
      await until(async () => (await stored()) >= total, 100)
      for (const [number, expected] of sent.entries()) {
        const counted = await countedIn(service, `round-${number}`)
        const wrong = [...counted].filter(([, count]) => count !== 1)
        expect(wrong).toEqual([])
        expect(counted.size).toBe(expected)
      }
      expect(await stored()).toBe(total)
      console.log(
        `${kills} kills: ${total} events, ${counters.retried} sent again, connections ${JSON.stringify([...connection.seen])}`,
      )
    } finally {
      stopped = true
      await connection.stop()
      expect(await service.stop()).toBe(0)
      removeData(service)
    }
  },
  600_000 + kills * 30_000,
)
