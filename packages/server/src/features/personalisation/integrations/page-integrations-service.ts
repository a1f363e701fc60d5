import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { PageIntegration, PageIntegrations } from '@millrace/contract/resources/page-integration.ts'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import { createLoadingCache } from '../../../platform/cache/loading-cache.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
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

export interface PageIntegrationsDependencies extends Pick<ServiceContext, 'clock' | 'log'> {
  /** Integrations of published workflows that pages attach, the oldest first. */
  readonly listAttachable: (companyId: string) => Promise<readonly Integration[]>
  /** The company of a workflow; undefined where it is deleted. */
  readonly findCompanyOfWorkflow: (workflowId: string) => Promise<string | undefined>
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

/** Settings of the integrations that the tracker attaches, by company (docs/workflows.md, In the page). */
export function createPageIntegrationsService(dependencies: PageIntegrationsDependencies) {
  const { listAttachable, findCompanyOfWorkflow, clock, log, capacity = 64 * 1024 * 1024 } = dependencies
  let isListening = false
  let lookUps = 0

  async function read(companyId: string, former: PageBundle | undefined): Promise<PageBundle> {
    const all = await listAttachable(companyId)
    const bundle = await bundleOf(companyId, all)
    const leftOut = all.length - bundle.count
    if (leftOut > 0 && former?.etag !== bundle.etag)
      log.warn({ companyId, leftOut, ...pageLimits }, 'a company has more integrations than its pages attach')
    return bundle
  }

  const bundles = createLoadingCache({
    load: read,
    keyOf: (companyId: string) => companyId,
    ...{ clock, waitMs },
    freshMs: () => (isListening ? notifiedMs : unnotifiedMs),
    staleOnError: true,
    onStale: (err, companyId) =>
      log.warn({ err, companyId }, 'integrations are served as they were last known'),
    size: { maxBytes: capacity, bytesOf: sizeOf },
    maxLoads: maxReads,
  })

  return {
    /**
     * Of a company that exists.
     * @throws (rejects) when the store fails and nothing is known
     */
    async find(companyId: string): Promise<PageBundle> {
      return await bundles.find(companyId)
    },

    /** Something of this workflow has changed, or of any where none is named. */
    drop(workflowId: string | undefined): void {
      if (workflowId === undefined || lookUps >= maxReads) {
        bundles.invalidate()
        return
      }
      // A deleted workflow has no company, and a new integration may be of a workflow without others.
      bundles.invalidate(({ workflowIds }) => workflowIds.has(workflowId))
      if (bundles.size() === 0) return
      lookUps++
      findCompanyOfWorkflow(workflowId)
        .then(
          (found) => bundles.invalidate((_, companyId) => companyId === found),
          () => bundles.invalidate(),
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
