import type { Queries } from '../../../../platform/stores/relational.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { fingerprintOf } from '../certificates/certificate-service.ts'
import { createConfigStore, type StoredConfig } from '../config/config-store.ts'
import type { MetadataReaderDependencies } from './given-metadata.ts'
import { UnusableMetadata } from './identity-provider-metadata.ts'
import { mergeMetadata } from './metadata-merge.ts'
import { notifyOfMetadata } from './metadata-notice.ts'
import { nextTryAfter, readingOf } from './metadata-schedule.ts'
import { createMetadataStore, type DueMetadata } from './metadata-store.ts'

export interface MetadataWatchDependencies
  extends Pick<IdentityContext, 'relational' | 'recordAudit' | 'enqueueMail' | 'clock' | 'log'> {
  readonly fetchDocument: MetadataReaderDependencies['fetchDocument']
}

/** Documents that are read at the same time. */
const maxConcurrent = 4
/** A server that does not answer once or twice is no reason for a mail; a document that is refused is. */
const failuresBeforeMail = 3
const maxErrorLength = 500

/** Reads metadata that was given by its address again each day. */
export function createMetadataWatch(dependencies: MetadataWatchDependencies) {
  const { relational, fetchDocument, recordAudit, enqueueMail, clock, log } = dependencies

  const eventOf = ({ companyId, idpEntityId }: StoredConfig) => ({
    companyId,
    action: 'sso-config-update' as const,
    actor: { kind: 'platform' as const },
    target: { kind: 'sso-config', id: companyId, name: idpEntityId },
  })

  async function takeOver(tx: Queries, config: StoredConfig, xml: string, url: string): Promise<void> {
    const now = clock.now()
    const merged = mergeMetadata(config, xml, now)
    const { companyId } = config
    await createConfigStore(tx).saveReading(companyId, readingOf(url, now))
    if (!merged.isChanged) return
    const { signInUrl, certificates, added } = merged
    await createMetadataStore(tx).takeOver(companyId, {
      metadataXml: xml,
      idpSignInUrl: signInUrl,
      idpCertificates: [...certificates],
    })
    const fingerprints = added.map(fingerprintOf)
    await recordAudit(tx, {
      ...eventOf(config),
      details: {
        metadataRead: true,
        certificatesAdded: fingerprints,
        certificatesRemoved: config.idpCertificates
          .filter((each) => !certificates.includes(each))
          .map(fingerprintOf),
        ...(signInUrl === config.idpSignInUrl ? {} : { idpSignInUrl: signInUrl }),
        mandatory: config.mandatory,
      },
    })
    await notifyOfMetadata(tx, enqueueMail, companyId, { kind: 'taken', fingerprints, signInUrl })
  }

  async function keepFailure(
    tx: Queries,
    config: StoredConfig,
    { message, isRefused }: { readonly message: string; readonly isRefused: boolean },
  ): Promise<void> {
    const reason = message.slice(0, maxErrorLength)
    const { companyId, metadataFailures, metadataError, metadataNotifiedAt } = config
    const failures = metadataFailures + 1
    const shouldNotify = metadataNotifiedAt === null && (isRefused || failures >= failuresBeforeMail)
    await createConfigStore(tx).saveReading(companyId, {
      metadataError: reason,
      metadataFailures: failures,
      metadataNextAt: nextTryAfter(clock.now(), failures),
      ...(shouldNotify && { metadataNotifiedAt: new Date(clock.now()) }),
    })
    // The same failure again says nothing new.
    if (reason !== metadataError)
      await recordAudit(tx, {
        ...eventOf(config),
        error: 'unusableMetadata',
        details: { metadataRead: true, reason },
      })
    if (shouldNotify) await notifyOfMetadata(tx, enqueueMail, companyId, { kind: 'failed', reason })
  }

  /** Inside a transaction that holds the company; nothing where another document was saved meanwhile. */
  async function withConfig(
    { companyId, url }: DueMetadata,
    work: (tx: Queries, config: StoredConfig) => Promise<void>,
  ): Promise<void> {
    await relational.transaction(async (tx) => {
      const held = createConfigStore(tx)
      await createPeopleStore(tx).lockCompany(companyId)
      const config = await held.find(companyId)
      if (config?.metadataUrl === url) await work(tx, config)
    })
  }

  async function fetchOrKeepFailure(due: DueMetadata): Promise<string | undefined> {
    try {
      return await fetchDocument(due.url)
    } catch (error) {
      const message = `it cannot be fetched: ${(error as Error).message}`
      await withConfig(due, (tx, config) => keepFailure(tx, config, { message, isRefused: false }))
      return undefined
    }
  }

  async function read(due: DueMetadata): Promise<void> {
    const xml = await fetchOrKeepFailure(due)
    if (xml === undefined) return
    try {
      await withConfig(due, (tx, config) => takeOver(tx, config, xml, due.url))
    } catch (error) {
      if (!(error instanceof UnusableMetadata)) throw error
      const { message } = error
      await withConfig(due, (tx, config) => keepFailure(tx, config, { message, isRefused: true }))
    }
  }

  return {
    /** Reads everything that is due, few at once, until the signal aborts. */
    async work(signal?: AbortSignal): Promise<void> {
      const due = await createMetadataStore(relational.db).listDue(new Date(clock.now()))
      const readNext = async (): Promise<void> => {
        for (let next = due.shift(); next && !signal?.aborted; next = due.shift()) {
          try {
            await read(next)
          } catch (error) {
            log.warn({ err: error }, 'the metadata of an identity provider could not be read again')
          }
        }
      }
      await Promise.all(Array.from({ length: maxConcurrent }, readNext))
    },
  }
}
