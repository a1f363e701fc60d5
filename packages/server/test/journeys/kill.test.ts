import { randomBytes, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { times } from '../support/long.ts'
import { type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

const kills = times(30, 2)
const dataDirectory = mkdtempSync(join(tmpdir(), 'millrace-kill-'))
const run = randomBytes(3).toString('hex')

afterAll(() => rmSync(dataDirectory, { recursive: true, force: true }))

interface Sent {
  readonly eventId: string
  readonly round: number
  acknowledged: boolean
}

function envelope(service: Service, { eventId, round }: Sent) {
  const name = `kill-${round}`
  return {
    key: service.companyId,
    name,
    url: 'https://shop.example/',
    tmpId: `t-${round}`,
    data: { serial: eventId },
    eventId,
    v: 1,
  }
}

async function post(service: Service, events: readonly Sent[]): Promise<void> {
  const body = events.map((event) => envelope(service, event))
  const reply = await fetch(service.trackerUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body.length === 1 ? body[0] : body),
  })
  await reply.arrayBuffer()
  if (reply.status === 200) for (const event of events) event.acknowledged = true
}

/** Sends single events and batches from several senders until the service is gone. */
async function sendUntilGone(service: Service, round: number, all: Sent[]): Promise<void> {
  const sender = async (number: number): Promise<void> => {
    for (let i = 0; ; i++) {
      // Every fifth batch is one of those that a thread validates.
      const size = number % 2 === 0 ? 1 : i % 5 === 4 ? 120 : 1 + (i % 50)
      const events = Array.from({ length: size }, (_, j) => ({
        eventId: `${run}-${round}-${number}-${i}-${j}`,
        round,
        acknowledged: false,
      }))
      all.push(...events)
      try {
        await post(service, events)
        // A sender whose answer was lost on the way sends the same event again.
        if (i % 7 === 3) await post(service, events)
      } catch {
        return
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, number) => sender(number)))
}

/** How often each event of a round is in the statistics. */
async function countedIn(service: Service, round: number): Promise<Map<string, number>> {
  const rows = await service.query({
    measures: ['events.count'],
    dimensions: ['events.label.serial'],
    filters: [{ member: 'events.name', operator: 'equals', values: [`kill-${round}`] }],
    timeDimensions: [],
    limit: 50_000,
  })
  expect(rows.length).toBeLessThan(50_000)
  return new Map(rows.map((row) => [String(row['events.label.serial']), Number(row['events.count'])]))
}

async function counters(service: Service): Promise<{ accepted: number; duplicate: number; sent: number }> {
  const reply = await service.call('GET', `/v2/datasources/${service.datasourceId}/counters`)
  return ((await reply.json()) as { data: { accepted: number; duplicate: number; sent: number } }).data
}

test(
  `${kills} times SIGKILL under load: nothing acknowledged is lost, nothing counts twice`,
  async () => {
    const all: Sent[] = []
    for (let round = 0; round < kills; round++) {
      const service = await startService({ dataDirectory })
      const sending = sendUntilGone(service, round, all)
      const enough = randomInt(10, 2_000)
      await until(() => all.filter((event) => event.round === round && event.acknowledged).length > enough)
      const children = service.family().map(({ pid }) => pid)
      process.kill(service.pid, 'SIGKILL')
      // Now and then a child dies with its parent, as when the machine runs out of memory.
      if (round % 3 === 1) {
        for (const pid of children) {
          try {
            process.kill(pid, 'SIGKILL')
          } catch {
            // Gone already.
          }
        }
      }
      await sending
      await service.stop('SIGKILL')
    }

    const service = await startService({ dataDirectory })
    try {
      await service.loaded()
      const lost: string[] = []
      const doubled: string[] = []
      let stored = 0
      for (let round = 0; round < kills; round++) {
        const counted = await countedIn(service, round)
        stored += counted.size
        for (const [eventId, count] of counted) if (count !== 1) doubled.push(`${eventId} counts ${count}`)
        for (const { eventId, acknowledged } of all.filter((event) => event.round === round)) {
          if (acknowledged && !counted.has(eventId)) lost.push(eventId)
        }
      }
      const acknowledged = all.filter((event) => event.acknowledged).length
      console.log(
        `${kills} kills: ${all.length} events sent, ${acknowledged} acknowledged, ${stored} stored, ${lost.length} lost, ${doubled.length} doubled`,
      )
      expect(lost).toEqual([])
      expect(doubled).toEqual([])
      expect(acknowledged).toBeGreaterThan(kills * 10)
      expect((await counters(service)).accepted).toBe(stored)
    } finally {
      expect(await service.stop()).toBe(0)
    }
  },
  600_000 + kills * 20_000,
)
