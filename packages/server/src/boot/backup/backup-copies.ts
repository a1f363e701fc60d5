import { existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import { openObjectStore } from '../../platform/outgoing/object-store.ts'
import { OutgoingError } from '../../platform/outgoing/outgoing-error.ts'
import {
  BackupRefused,
  checkFiles,
  digestOfFile,
  type Manifest,
  manifestName,
  pathWithin,
  readManifest,
  requireBackupId,
} from './backup-files.ts'
import { addErasures, erasuresName } from './erasure-records.ts'

/** Of one PUT. */
const maxObjectBytes = 5_000_000_000

const objectKey = (sha256: string): string => `objects/${sha256}`
const manifestKey = (id: string): string => `backups/${id}.json`

/**
 * Backups once more in a bucket: every file under its hash, so that what several have lies there once, and the manifest
 * behind them. Undefined where the configuration names none. Failures are `BackupRefused`.
 */
export function openBackupCopies(
  { backups: { place }, backupKey: key, outgoingAllow }: Config,
  directory: string,
  clock: Clock,
) {
  if (!place) return undefined
  const store = openObjectStore(place, { outgoingAllow, clock })
  // Unlike a backup it ends in what the next one removes.
  const draft = join(directory, 'fetched.partial')

  async function asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof OutgoingError)) throw cause
      throw new BackupRefused(`The bucket of MILLRACE_BACKUP_S3_URL: ${cause.message}`, cause)
    }
  }

  const put = async (name: string, path: string): Promise<void> => {
    const { size } = await stat(path)
    await store.put(name, { path, bytes: size, sha256: await digestOfFile(path) })
  }

  const listIds = async (): Promise<string[]> =>
    [...(await store.list('backups/')).keys()]
      .map((name) => name.slice('backups/'.length, -'.json'.length))
      .sort()
      .reverse()

  /** Of one that is in the bucket. */
  async function fetchManifest(id: string): Promise<Manifest> {
    requireBackupId(id)
    await store.get(manifestKey(id), join(draft, id, manifestName))
    return readManifest(draft, id, key)
  }

  /** What was erased is known where the backups are, also on another machine. */
  const copyErasures = async (): Promise<void> => {
    const path = join(directory, erasuresName)
    if (existsSync(path)) await put(erasuresName, path)
  }

  return {
    copyErasures: () => asked(copyErasures),

    /** Identifiers of those that are whole there, the newest first. */
    list: () => asked(listIds),

    /** @returns bytes that were sent */
    copy: ({ id, files }: Manifest): Promise<number> =>
      asked(async () => {
        const present = await store.list('objects/')
        let sent = 0
        for (const { path, bytes, sha256 } of files) {
          if (present.get(objectKey(sha256)) === bytes) continue
          if (bytes > maxObjectBytes)
            throw new BackupRefused(`${path} of the backup ${id} has ${bytes} bytes, too many for one object`)
          await store.put(objectKey(sha256), { path: join(directory, id, path), bytes, sha256 })
          present.set(objectKey(sha256), bytes)
          sent += bytes
        }
        await copyErasures()
        await put(manifestKey(id), join(directory, id, manifestName))
        return sent
      }),

    /** Brings one back to the directory. */
    fetch: (id: string): Promise<Manifest> =>
      asked(async () => {
        try {
          const manifest = await fetchManifest(id)
          for (const { path, sha256 } of manifest.files)
            await store.get(objectKey(sha256), pathWithin(draft, id, path))
          await checkFiles(draft, manifest)
          if ((await store.list(erasuresName)).size > 0) {
            await store.get(erasuresName, join(draft, erasuresName))
            await addErasures(directory, join(draft, erasuresName))
          }
          await rename(join(draft, id), join(directory, id))
          return manifest
        } finally {
          await rm(draft, { recursive: true, force: true })
        }
      }),

    /** Removes all but the newest, and files that none of these has. */
    prune: (keep: number): Promise<string[]> =>
      asked(async () => {
        const ids = await listIds()
        const old = ids.slice(keep)
        if (old.length === 0) return []
        try {
          const kept = await Promise.all(ids.slice(0, keep).map(fetchManifest))
          const needed = new Set(kept.flatMap(({ files }) => files.map((file) => objectKey(file.sha256))))
          for (const id of old) await store.remove(manifestKey(id))
          for (const name of (await store.list('objects/')).keys())
            if (!needed.has(name)) await store.remove(name)
          return old
        } finally {
          await rm(draft, { recursive: true, force: true })
        }
      }),
  }
}
