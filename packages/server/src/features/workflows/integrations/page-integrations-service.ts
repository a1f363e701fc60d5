import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { PageIntegration, PageIntegrations } from '@millrace/contract/resources/page-integration.ts'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import { codeFileOf, pageSettingsOf } from './page-settings.ts'

/** What the pages of a company are given. */
export interface PageBundle {
  /** JSON of `PageIntegrations`. */
  readonly body: Buffer
  readonly zipped: Buffer
  readonly etag: string
  readonly count: number
  /** Scripts by their path. */
  readonly codes: ReadonlyMap<string, string>
  readonly workflowIds: ReadonlySet<string>
}

export interface PageIntegrationsDependencies {
  /** Integrations of published workflows that pages attach, the oldest first. */
  readonly listAttachable: (companyId: string) => Promise<readonly Integration[]>
  /** The company of a workflow; undefined where it is deleted. */
  readonly findCompanyOfWorkflow: (workflowId: string) => Promise<string | undefined>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  /** Bytes of all companies that are remembered; default 64 MiB. */
  readonly capacity?: number
}

export type PageIntegrationsService = ReturnType<typeof createPageIntegrationsService>

/** A page attaches so many, and its settings have so many bytes; the settings say how many there are beyond. */
export const pageLimits = { integrations: 200, bytes: 500_000 } as const

/** How long settings are taken as they were read: while changes are notified, and while they are not. */
const notifiedMs = 30_000
const unnotifiedMs = 800
/** How long a request waits for the store where an older answer is there. */
const waitMs = 250
/** Companies that are read at once, and changes whose company is looked up at once. */
const maxReads = 32

const zip = promisify(gzip)

interface Entry {
  bundle: PageBundle
  readAt: number
  /** A change was notified that is not read yet. */
  isStale: boolean
}

/** Settings of the integrations that the tracker attaches, by company (docs/workflows.md, In the page). */
export function createPageIntegrationsService(dependencies: PageIntegrationsDependencies) {
  const { listAttachable, findCompanyOfWorkflow, clock, log, capacity = 64 * 1024 * 1024 } = dependencies
  const known = new Map<string, Entry>()
  const reads = new Map<string, Promise<PageBundle>>()
  let heldBytes = 0
  let isListening = false
  let lookUps = 0
  /** Counts notices, so that what was read before one is known to be older. */
  let notices = 0

  function forget(companyId: string): void {
    const entry = known.get(companyId)
    if (entry) heldBytes -= sizeOf(entry.bundle)
    known.delete(companyId)
  }

  function remember(companyId: string, entry: Entry): void {
    forget(companyId)
    heldBytes += sizeOf(entry.bundle)
    known.set(companyId, entry)
    for (const oldest of known.keys()) {
      if (heldBytes <= capacity || oldest === companyId) break
      forget(oldest)
    }
  }

  async function read(companyId: string): Promise<PageBundle> {
    const readAt = clock.now()
    const noticesBefore = notices
    const all = await listAttachable(companyId)
    const bundle = await bundleOf(companyId, all)
    const leftOut = all.length - bundle.count
    if (leftOut > 0 && known.get(companyId)?.bundle.etag !== bundle.etag) {
      log.warn({ companyId, leftOut, ...pageLimits }, 'a company has more integrations than its pages attach')
    }
    remember(companyId, { bundle, readAt, isStale: notices !== noticesBefore })
    return bundle
  }

  function ask(companyId: string): Promise<PageBundle> {
    const running = reads.get(companyId)
    if (running) return running
    if (reads.size >= maxReads) return Promise.reject(new Error('too many companies are read at once'))
    const started = read(companyId).finally(() => reads.delete(companyId))
    reads.set(companyId, started)
    return started
  }

  /** Never rejects: while the store fails or is slow, what is known stands. */
  function renewed(companyId: string, entry: Entry): Promise<PageBundle> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(entry.bundle), waitMs)
      ask(companyId)
        .catch((error: unknown) => {
          log.warn({ err: error, companyId }, 'integrations are served as they were last known')
          return entry.bundle
        })
        .then((bundle) => {
          clearTimeout(timer)
          resolve(bundle)
        })
    })
  }

  function markAll(isMeant: (companyId: string, entry: Entry) => boolean): void {
    notices++
    for (const [companyId, entry] of known) if (isMeant(companyId, entry)) entry.isStale = true
  }

  return {
    /**
     * Of a company that exists.
     * @throws (rejects) when the store fails and nothing is known
     */
    async find(companyId: string): Promise<PageBundle> {
      const entry = known.get(companyId)
      if (!entry) return ask(companyId)
      const maxAge = isListening ? notifiedMs : unnotifiedMs
      const isFresh = !entry.isStale && Math.abs(clock.now() - entry.readAt) < maxAge
      return isFresh ? entry.bundle : renewed(companyId, entry)
    },

    /** Something of this workflow has changed, or of any where none is named. */
    drop(workflowId: string | undefined): void {
      const isAny = workflowId === undefined || lookUps >= maxReads
      // A deleted workflow has no company, and a new integration may be of a workflow without others.
      markAll((_, { bundle }) => isAny || bundle.workflowIds.has(workflowId))
      if (isAny || known.size === 0) return
      lookUps++
      findCompanyOfWorkflow(workflowId)
        .then(
          (found) => markAll((companyId) => companyId === found),
          () => markAll(() => true),
        )
        .finally(() => lookUps--)
    },

    /** Whether changes of workflows are being notified to this process; without, settings are read again more often. */
    setListening(is: boolean): void {
      isListening = is
    },
  }
}

/** What an entry holds beside its texts, about. */
const entryBytes = 1_000

const sizeOf = ({ body, zipped, codes }: PageBundle): number =>
  [...codes.values()].reduce((sum, text) => sum + text.length, entryBytes + body.length + zipped.length)

/** As many as a page takes, from the first on. */
async function bundleOf(companyId: string, all: readonly Integration[]): Promise<PageBundle> {
  const codes = new Map<string, string>()
  const integrations: PageIntegration[] = []
  let bytes = 0
  for (const integration of all) {
    const { code, ...settings } = pageSettingsOf(integration)
    const file = code ? codeFileOf(companyId, settings.shortId, code) : undefined
    const { domain } = integration
    const added = { ...settings, domain, ...(file && { codePath: file.path }) }
    bytes += Buffer.byteLength(JSON.stringify(added))
    if (bytes > pageLimits.bytes || integrations.length >= pageLimits.integrations) break
    integrations.push(added)
    if (file) codes.set(file.path, file.text)
  }
  const count = integrations.length
  const leftOut = all.length - count
  const settings: PageIntegrations = { integrations, ...(leftOut > 0 && { leftOut }) }
  const body = Buffer.from(JSON.stringify(settings))
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  return {
    body,
    zipped: await zip(body),
    etag: `W/"${hash}"`,
    count,
    codes,
    workflowIds: new Set(all.map(({ workflowId }) => workflowId)),
  }
}
