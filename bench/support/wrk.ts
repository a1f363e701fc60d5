import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'

export interface WrkResult {
  readonly requestsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly requests: number
  /** Replies other than 2xx and 3xx, and socket errors. */
  readonly failures: number
}

const units: Record<string, number> = { us: 0.001, ms: 1, s: 1000 }

function milliseconds(text: string | undefined): number {
  const found = /^([\d.]+)(us|ms|s)$/.exec(text ?? '')
  return found ? Number(found[1]) * (units[found[2] ?? ''] ?? 1) : Number.NaN
}

interface Drive {
  readonly url: string
  readonly seconds: number
  readonly connections?: number
}

/** Drives a server with what a script beside this file asks, from one thread of another process. */
async function drive(
  script: string,
  { url, seconds, connections = 64 }: Drive,
  environment: Readonly<Record<string, string>>,
): Promise<WrkResult> {
  const { origin, pathname } = new URL(url)
  const path = new URL(script, import.meta.url).pathname
  const { stdout } = await promisify(execFile)(
    'wrk',
    ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', path, origin],
    { env: { ...process.env, BENCH_PATH: pathname, ...environment } },
  )
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)
  const counted = (errors?.slice(1).map(Number) ?? []).reduce((sum, n) => sum + n, 0)
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    p50: milliseconds(/^ +50% +(\S+)/m.exec(stdout)?.[1]),
    p99: milliseconds(/^ +99% +(\S+)/m.exec(stdout)?.[1]),
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
    failures: counted + Number(refused?.[1] ?? 0),
  }
}

/**
 * Drives a server with events, each with an id of its own.
 * @returns requests per second and latencies in milliseconds
 */
export function driveEvents(
  options: Drive & {
    readonly key: string
    readonly batch?: number
    /** Spreads the events of a shop over so many days back; 0, the default, repeats one kind of event, now. */
    readonly days?: number
    /** Each session of the shop begins with an exposure to `control` or `treatment` of this experiment. */
    readonly experiment?: string | undefined
    /** The datasource, for plain events as calls in the Segment shape. */
    readonly writeKey?: string
  },
): Promise<WrkResult> {
  return drive('./events.lua', options, {
    BENCH_KEY: options.key,
    BENCH_RUN: randomBytes(4).toString('hex'),
    BENCH_BATCH: String(options.batch ?? 1),
    BENCH_DAYS: String(options.days ?? 0),
    ...(options.experiment === undefined ? {} : { BENCH_EXPERIMENT: options.experiment }),
    ...(options.writeKey === undefined ? {} : { BENCH_WRITE_KEY: options.writeKey }),
  })
}

/** Drives the address of a workflow with displays to 50,000 persons, each for one of so many cities. */
export function driveDisplays(options: Drive & { readonly cities: number }): Promise<WrkResult> {
  return drive('./displays.lua', options, { BENCH_CITIES: String(options.cities) })
}
