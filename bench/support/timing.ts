import type { Service } from '../../packages/server/test/support/running-service.ts'
import { median } from './machine.ts'

/** Milliseconds of the work. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** The middle of several rounds in milliseconds, after one that only warms. */
export async function medianOf(rounds: number, work: () => Promise<unknown>): Promise<number> {
  await work()
  const took: number[] = []
  for (let round = 0; round < rounds; round++) took.push(await timed(work))
  return median(took)
}

/** A streamed answer, which is computed each time; those in the envelope come from a cache for 10 s. */
export async function computed(service: Service, body: object, path = '/v2/statistics/query'): Promise<void> {
  const reply = await service.call('POST', path, body, 'application/x-ndjson')
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${path} failed with ${reply.status}: ${text}`)
}
