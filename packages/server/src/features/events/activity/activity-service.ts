import { DomainError } from '../../../platform/errors.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import { type ActivityFeed, maxPerSecond } from './activity-feed.ts'
import { type ActivityStream, createActivityStream } from './activity-stream.ts'

/** Streams at once, in one process. */
const [maxOfUser, maxOfCompany] = [5, 30]

const tickMs = 1_000
/** In ticks. */
const [checkEvery, beatEvery] = [5, 15]

export interface Viewing {
  readonly principal: Principal
  /** That the principal came with, and from where. */
  readonly token: string
  readonly address: string
}

export interface ActivityServiceDependencies {
  readonly feed: ActivityFeed
  readonly findPrincipal: (token: string, address: string) => Promise<Principal | undefined>
  /** @throws DomainError `datasourceNotFound` where the principal sees none with this id */
  readonly readDatasource: (principal: Principal, id: string) => Promise<{ readonly id: string }>
}

interface Watcher extends Viewing {
  readonly datasourceId: string
  readonly stream: ActivityStream
}

export type ActivityService = ReturnType<typeof createActivityService>

/** The live feed of datasources: who may listen, and for how long. */
export function createActivityService(dependencies: ActivityServiceDependencies) {
  const { feed, findPrincipal, readDatasource } = dependencies
  const watchers = new Set<Watcher>()
  let timer: NodeJS.Timeout | undefined
  let ticks = 0
  let isClosed = false

  const countOf = (isCounted: (principal: Principal) => boolean): number =>
    [...watchers].filter(({ principal }) => isCounted(principal)).length

  /** Why a watcher may look no longer. */
  async function endOf({ token, address, datasourceId }: Watcher) {
    const principal = await findPrincipal(token, address)
    if (!principal) return 'unauthenticated'
    if (!principal.can('datasource', 'read')) return 'forbidden'
    try {
      await readDatasource(principal, datasourceId)
      return undefined
    } catch (error) {
      if (error instanceof DomainError && error.errorName === 'datasourceNotFound') return 'gone'
      throw error
    }
  }

  async function check(watcher: Watcher): Promise<void> {
    // While the store is down nobody's rights change.
    const reason = await endOf(watcher).catch(() => undefined)
    if (reason) watcher.stream.end(reason)
  }

  function tick(): void {
    ticks++
    feed.tick()
    for (const watcher of watchers) {
      if (ticks % checkEvery === 0) void check(watcher)
      if (ticks % beatEvery === 0) watcher.stream.beat()
    }
  }

  function add(watcher: Watcher): void {
    const { stream, datasourceId } = watcher
    const leave = feed.listen(datasourceId, stream)
    watchers.add(watcher)
    timer ??= setInterval(tick, tickMs).unref()
    stream.body.once('close', () => {
      leave()
      watchers.delete(watcher)
      if (watchers.size > 0) return
      clearInterval(timer)
      timer = undefined
    })
  }

  return {
    /** @throws DomainError `datasourceNotFound` or `tooManyRequests` */
    async watch(viewing: Viewing, id: string): Promise<ActivityStream['body']> {
      const { userId, companyId } = viewing.principal
      const { id: datasourceId } = await readDatasource(viewing.principal, id)
      if (
        countOf((other) => other.userId === userId) >= maxOfUser ||
        countOf((other) => other.companyId === companyId) >= maxOfCompany
      ) {
        const message = `Only ${maxOfUser} live feeds of a user and ${maxOfCompany} of a company run at once: close another one`
        throw new DomainError('tooManyRequests', { retryAfter: 5 }, { message, retryAfterSeconds: 5 })
      }
      const stream = createActivityStream()
      add({ ...viewing, datasourceId, stream })
      stream.send('open', { datasourceId, maxPerSecond }, 0)
      if (isClosed) stream.end('closing')
      return stream.body
    },

    /** Ends every stream, and each that begins later at once. */
    close(): void {
      isClosed = true
      for (const { stream } of watchers) stream.end('closing')
    },
  }
}
