import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { program, version } from '../version.ts'

/** One thing that must work for the service to be ready. */
export interface ReadinessCheck {
  readonly name: string
  /** Resolves when it works; rejects with the reason when it does not. */
  readonly check: () => Promise<void>
}

export interface Readiness {
  readonly ready: boolean
  readonly parts: Readonly<Record<string, string>>
}

/** Checks are repeated at most this often, so that probing is no load. */
const freshMilliseconds = 500
const checkTimeoutMilliseconds = 3_000

async function outcomeOf({ check }: ReadinessCheck): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), checkTimeoutMilliseconds)
  })
  try {
    await Promise.race([check(), late])
    return 'ok'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}

export function createReadiness(checks: readonly ReadinessCheck[]): () => Promise<Readiness> {
  let last: { at: number; result: Promise<Readiness> } | undefined
  const look = async (): Promise<Readiness> => {
    const outcomes = await Promise.all(checks.map(outcomeOf))
    const parts = Object.fromEntries(checks.map(({ name }, i) => [name, outcomes[i] ?? 'ok']))
    return { ready: outcomes.every((outcome) => outcome === 'ok'), parts }
  }
  return () => {
    const now = performance.now()
    if (last === undefined || now - last.at > freshMilliseconds) last = { at: now, result: look() }
    return last.result
  }
}

function timingSafeTextEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

/** Health for probes and operators, metrics for Prometheus (docs/interface.md, Run contract). */
export function healthRoutes(dependencies: {
  readiness: () => Promise<Readiness>
  metrics: Metrics
  /** When set, `/metrics` wants it as a bearer token. */
  metricsToken: string | undefined
}) {
  const { readiness, metrics, metricsToken } = dependencies

  const ready = async () => {
    const { ready: isReady, parts } = await readiness()
    return {
      code: isReady ? 200 : 503,
      body: { status: isReady ? 'ready' : 'not ready', program, version, parts },
    }
  }

  function assertMayRead(request: FastifyRequest): void {
    if (metricsToken === undefined) return
    if (!timingSafeTextEqual(request.headers.authorization ?? '', `Bearer ${metricsToken}`))
      throw new DomainError('unauthenticated')
  }

  return async function routes(app: FastifyInstance): Promise<void> {
    for (const url of ['/health/live', '/healthz']) {
      app.get(url, async () => ({ status: 'live', program, version }))
    }
    for (const url of ['/health/ready', '/readyz', '/health']) {
      app.get(url, async (_request, reply) => {
        const { code, body } = await ready()
        return reply.code(code).header('cache-control', 'no-store').send(body)
      })
    }
    app.get('/metrics', { config: { compressed: true } }, async (request, reply) => {
      assertMayRead(request)
      return reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics())
    })
  }
}
