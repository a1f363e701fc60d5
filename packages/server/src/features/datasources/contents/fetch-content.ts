import type { SecretBox } from '../../../platform/crypto/secret-box.ts'
import type { DiskRoom } from '../../../platform/files/disk-reserve.ts'
import { createFileWriter, type WrittenFile } from '../../../platform/files/file-writer.ts'
import type {
  Downloaded,
  DownloadLimits,
  OutgoingClient,
} from '../../../platform/outgoing/outgoing-client.ts'
import { headersContext, type StoredWorker } from '../refreshes/worker-store.ts'

export interface FetchOptions {
  /** Where the file is made. */
  readonly path: string
  readonly limits: DownloadLimits
  /** Takes no content that is the same as at the last import. */
  readonly ifChanged: boolean
  readonly onBytes?: (bytes: number) => void
  readonly signal: AbortSignal
}

export type FetchContent = (
  worker: StoredWorker,
  options: FetchOptions,
) => Promise<Downloaded & { readonly file: WrittenFile }>

/** Headers of a source as they were given. */
export function openHeaders(
  box: Pick<SecretBox, 'open'>,
  { datasourceId, sealedHeaders }: Pick<StoredWorker, 'datasourceId' | 'sealedHeaders'>,
): Record<string, string> {
  if (sealedHeaders === null) return {}
  return JSON.parse(box.open(sealedHeaders, headersContext(datasourceId)).toString()) as Record<
    string,
    string
  >
}

/**
 * Fetches the content of an address into a file. Throws what `download` of the outgoing client does, and DomainError
 * `unavailable` where the disk has no room.
 */
export function createFetchContent({
  outgoing,
  box,
  room,
}: {
  readonly outgoing: Pick<OutgoingClient, 'download'>
  readonly box: Pick<SecretBox, 'open'>
  /** Of the disk of the file. */
  readonly room: DiskRoom
}): FetchContent {
  return async (worker, { path, limits, ifChanged, onBytes, signal }) => {
    const writer = await createFileWriter(path, room)
    try {
      const downloaded = await outgoing.download(worker.source?.url ?? '', {
        ...limits,
        headers: openHeaders(box, worker),
        ...(ifChanged && worker.fetched && { known: worker.fetched }),
        signal,
        async onPiece(piece) {
          await writer.write(piece)
          onBytes?.(writer.bytes())
        },
      })
      return { ...downloaded, file: await writer.end() }
    } catch (error) {
      await writer.discard()
      throw error
    }
  }
}
