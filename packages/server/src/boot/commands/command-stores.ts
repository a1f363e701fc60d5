import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { holdsInstallation } from '../../features/identity/people/installation/installation-store.ts'
import type { Config } from '../../platform/config/config.ts'
import { readKeyFile } from '../../platform/crypto/encryption-key.ts'
import { createSecretBox, type SecretBox } from '../../platform/crypto/secret-box.ts'
import { findRunningService, openDataDirectory } from '../../platform/files/data-directory.ts'
import { silentLogger } from '../../platform/logger.ts'
import { StartRefused } from '../../platform/start-refused.ts'
import { embeddedAddresses } from '../../platform/stores/embedded-postgres.ts'
import { openRelational, type Relational } from '../../platform/stores/relational.ts'
import { bringUpToDate } from '../context.ts'
import { type OpenedRelational, openDatabaseOf, openRelationalStore } from '../open-stores.ts'

/** The keys that a service with this configuration has. @throws StartRefused when there are none */
export function openConfiguredBox({ encryptionKeys, dataDirectory }: Config): SecretBox {
  return createSecretBox(encryptionKeys ?? [readKeyFile(dataDirectory, false)])
}

/** The relational store of a service that runs on the configured data directory or database; undefined when none does. */
export function relationalOfRunningService(config: Config): Relational | undefined {
  if (config.relational.url !== undefined)
    return openRelational({ address: { url: config.relational.url }, logger: silentLogger, connections: 2 })
  if (findRunningService(config.dataDirectory) === undefined) return undefined
  const { application } = embeddedAddresses(join(resolve(config.dataDirectory), 'run'))
  return openRelational({ address: application, logger: silentLogger, connections: 2 })
}

const nothingMade =
  'Set MILLRACE_DATA_DIR (or DATABASE_URL, with a database of your own) to what your service has, or run npm start ' +
  'first, which makes an installation. Nothing was made or changed.'

function noInstallation(place: string): StartRefused {
  return new StartRefused('unsuitable', `There is no Millrace installation in ${place}.\n${nothingMade}`)
}

/** A database as a message may show it: without the password. */
function nameOf(url: string): string {
  const { hostname, pathname, searchParams } = new URL(url)
  return `the database ${decodeURIComponent(pathname.slice(1))} at ${searchParams.get('host') ?? hostname} (DATABASE_URL)`
}

/** Looks without making anything. @throws StartRefused when the directory holds no cluster, or may not be looked into */
function requireCluster(dataDirectory: string): void {
  try {
    statSync(join(dataDirectory, 'postgres', 'PG_VERSION'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw noInstallation(dataDirectory)
    throw new StartRefused(
      'unsuitable',
      `The data directory ${dataDirectory} cannot be used: ${message}. Run this as the user that the service runs as.`,
      error,
    )
  }
}

/** Does something with a store that is opened for it alone, and that holds an installation. */
async function withOpened<T>(
  opened: OpenedRelational,
  place: string,
  work: (relational: Relational) => Promise<T>,
): Promise<T> {
  try {
    if (!(await holdsInstallation(opened.ownerAddress))) throw noInstallation(place)
    await bringUpToDate(opened, silentLogger)
    return await work(opened.relational)
  } finally {
    await opened.close()
  }
}

/**
 * Does something with the relational store: that of a running service, or one that is opened for it alone.
 * @throws StartRefused when nothing is installed there, or when the data directory is held by a service that does not
 *   answer yet
 */
export async function withRelational<T>(
  config: Config,
  work: (relational: Relational) => Promise<T>,
): Promise<T> {
  const isRunning = findRunningService(config.dataDirectory) !== undefined
  const running = isRunning ? relationalOfRunningService(config) : undefined
  if (running) {
    try {
      return await work(running)
    } finally {
      await running.close()
    }
  }
  const { url, ownerUrl } = config.relational
  if (url !== undefined) {
    return withOpened(await openDatabaseOf({ url, ownerUrl }, silentLogger), nameOf(url), work)
  }
  requireCluster(config.dataDirectory)
  const dataDirectory = await openDataDirectory(config.dataDirectory)
  try {
    return await withOpened(
      await openRelationalStore(config, dataDirectory, silentLogger),
      dataDirectory.path,
      work,
    )
  } finally {
    dataDirectory.release()
  }
}
