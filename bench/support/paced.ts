import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Service } from '../../packages/server/test/support/running-service.ts'

export interface PacedResult {
  /** Milliseconds from when a request was due, so that a stall counts for all that it held up. */
  readonly p50: number
  readonly p99: number
  readonly ok: number
}

/** Sends single events from 64 connections at an even rate. */
export async function paced(service: Service, rate: number, seconds: number): Promise<PacedResult> {
  const script = new URL('./paced.lua', import.meta.url).pathname
  const { port, pathname } = new URL(service.trackerUrl)
  const options = [port, pathname, service.companyId, String(Math.round(rate)), String(seconds), '64']
  const { stdout } = await promisify(execFile)('luajit', [script, ...options])
  const result = JSON.parse(stdout) as PacedResult & { failed: number }
  if (result.failed > 0) throw new Error(`${result.failed} requests failed`)
  return result
}
