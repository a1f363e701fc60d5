import type { Service } from '../../packages/server/test/support/running-service.ts'
import { driveEvents } from './wrk.ts'

interface Counters {
  readonly accepted: number
  readonly duplicate: number
}

export async function readCounters(service: Service): Promise<Counters> {
  const reply = await service.call('GET', `/v2/datasources/${service.datasourceId}/counters`)
  const { data } = (await reply.json()) as { data: Counters }
  return data
}

/** Milliseconds until as many events as expected are in the columnar store. */
export async function untilLoaded(service: Service, expected: number, timeoutMs: number): Promise<number> {
  const started = performance.now()
  for (;;) {
    const { accepted, duplicate } = await readCounters(service)
    if (accepted + duplicate >= expected) return performance.now() - started
    if (performance.now() - started > timeoutMs) {
      throw new Error(`${accepted + duplicate} of ${expected} events were loaded within ${timeoutMs} ms`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/**
 * Fills a service through its collector with sessions of a shop until about so many events are loaded.
 * @param experiment to which each session is exposed
 */
export async function fillWithShop(
  service: Service,
  events: number,
  days: number,
  experiment?: string,
): Promise<number> {
  let sent = (await readCounters(service)).accepted
  while (sent < events) {
    const result = await driveEvents({
      url: service.trackerUrl,
      key: service.companyId,
      seconds: Math.max(1, Math.min(10, Math.floor((events - sent) / 150_000))),
      connections: 8,
      batch: 500,
      days,
      experiment,
    })
    if (result.failures > 0) throw new Error(`${result.failures} requests failed while filling`)
    sent += result.requests * 500
    await untilLoaded(service, sent, 300_000)
    console.error(`${sent.toLocaleString('en-US')} events loaded`)
  }
  return sent
}
