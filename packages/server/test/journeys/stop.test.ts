import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { isFull } from '../support/long.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

const long = isFull(import.meta.filename)

/** Senders that never pause, until the service is gone; `acknowledged` are the events that got 200. */
function sendWithoutPause(service: Service, senders: number) {
  const acknowledged: Record<string, unknown>[] = []
  const other: number[] = []
  let sent = 0
  const send = async (): Promise<void> => {
    for (;;) {
      sent++
      const { companyId: key } = service
      const eventId = `${service.pid} ${sent}`
      const event = { key, name: 'seen', url: '', tmpId: 'd', eventId, v: 1, data: {} }
      try {
        const reply = await fetch(service.trackerUrl, { method: 'POST', body: JSON.stringify(event) })
        if (reply.status === 200) acknowledged.push(event)
        else other.push(reply.status)
      } catch {
        return
      }
    }
  }
  const done = Promise.all(Array.from({ length: senders }, send))
  return { acknowledged, other, sent: () => sent, done }
}

async function counters(service: Service): Promise<Record<string, number>> {
  const reply = await service.call('GET', `/v2/datasources/${service.datasourceId}/counters`)
  return ((await reply.json()) as { data: Record<string, number> }).data
}

async function untilCounted(service: Service, sent: number): Promise<Record<string, number>> {
  return until(async () => {
    const counted = await counters(service)
    return (counted.sent ?? 0) >= sent && counted
  }, 100)
}

let service: Service

beforeAll(async () => {
  service = await startService()
})

afterAll(async () => {
  await service.stop('SIGKILL')
  removeData(service)
})

test('told to stop under load, once or twice, the service keeps every event that it acknowledged', async () => {
  const { dataDirectory } = service
  let stored = 0
  for (const signals of long ? [1, 2] : [2]) {
    const load = sendWithoutPause(service, 8)
    await expect.poll(() => load.acknowledged.length).toBeGreaterThan(50)
    const stopped = service.stop()
    if (signals === 2) void service.stop()
    // Requests that are under way are finished first. Two signals at once are one request: a terminal signals npm and
    // the service, and npm forwards what it got. A stop that takes too long is cut off and has another code.
    expect(await stopped).toBe(0)
    await load.done
    expect(load.other).toEqual([])

    service = await startService({ dataDirectory })
    const before = stored
    for (let i = 0; i < load.acknowledged.length; i += 1000) {
      const body = JSON.stringify(load.acknowledged.slice(i, i + 1000))
      expect((await fetch(service.trackerUrl, { method: 'POST', body })).status).toBe(200)
    }
    // Whatever was acknowledged is there already: sent again it is a duplicate, every one of it.
    const resent = load.acknowledged.length
    const least = 2 * before + 2 * resent
    const counted = await untilCounted(service, least)
    expect(counted.duplicate).toBe((before === 0 ? 0 : before) + resent)
    stored = resent
    expect(counted.accepted).toBeLessThanOrEqual(load.sent() + before + 8)
  }
})

test('told to stop again while a request holds it up, the service ends at once', async () => {
  const { port, pathname } = new URL(service.trackerUrl)
  const sender = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void sender.destroy())
  sender.on('error', () => {})
  const head = `POST ${pathname} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\nexpect: 100-continue\r\n\r\n`
  sender.write(head)
  expect(String((await once(sender, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /)
  const stopped = service.stop()
  const answers = () =>
    fetch(`${service.baseUrl}/`).then(
      () => true,
      () => false,
    )
  await until(async () => !(await answers()))
  // Longer than signals are taken for one request.
  await sleep(1_100)
  expect(await Promise.race([stopped, 'stopping'])).toBe('stopping')
  void service.stop()
  expect(await stopped).toBe(1)
})
