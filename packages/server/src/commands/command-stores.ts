import { join, resolve } from 'node:path'
import { openMigratedRelational } from '../context.ts'
import type { Config } from '../platform/config/config.ts'
import { readKeyFile } from '../platform/crypto/encryption-key.ts'
import { createSecretBox, type SecretBox } from '../platform/crypto/secret-box.ts'
import { findRunningService, openDataDirectory } from '../platform/data-directory.ts'
import { silentLogger } from '../platform/logger.ts'
import { embeddedAddresses } from '../platform/stores/embedded-postgres.ts'
import { openRelational, type Relational } from '../platform/stores/relational.ts'

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

/**
 * Does something with the relational store: that of a running service, or one that is opened for it alone.
 * @throws StartRefused when the data directory is held by a service that does not answer yet
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
  const dataDirectory = await openDataDirectory(config.dataDirectory)
  try {
    const opened = await openMigratedRelational(config, dataDirectory, silentLogger)
    try {
      return await work(opened.relational)
    } finally {
      await opened.close()
    }
  } finally {
    dataDirectory.release()
  }
}
