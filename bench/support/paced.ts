import type { Service } from '../../packages/server/test/support/running-service.ts'
import { runSender } from './sender.ts'

export interface PacedResult {
  /** Milliseconds from when a request was due, so that a stall counts for all that it held up. */
  readonly p50: number
  readonly p99: number
  readonly ok: number
}

/** Sends single events from 64 connections at an even rate. */
export async function paced(service: Service, rate: number, seconds: number): Promise<PacedResult> {
  const { port, pathname } = new URL(service.trackerUrl)
  const given = [port, pathname, service.companyId, Math.round(rate), seconds, 64]
  const result = await runSender<PacedResult & { failed: number }>('./paced.lua', given)
  if (result.failed > 0) throw new Error(`${result.failed} requests failed`)
  return result
}
