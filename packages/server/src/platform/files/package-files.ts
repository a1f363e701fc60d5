import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'

/** The folder of the server's package: this module runs from its source, or from a bundle below `dist`. */
const packageFolder = new URL('.', pathToFileURL(findPackageJSON('.', import.meta.url) ?? ''))

/** A file or folder that comes with the service, by its path from the folder of the server's package. */
export const packageFile = (path: string): URL => new URL(path, packageFolder)

/**
 * Modules that run as a program or thread of their own, by their paths below `src`, without `.ts`. The bundle has each
 * at the same path below `dist`.
 */
export const programs = [
  'boot/command-line',
  'features/datasources/formats/parquet-thread',
  'features/datasources/imports/content-process',
  'features/events/collector/threads/validation-thread',
  'platform/crypto/argon2-thread',
  'platform/stores/chdb/server',
] as const

const isBundled = import.meta.url.endsWith('.js')

export const programFile = (name: (typeof programs)[number]): URL =>
  packageFile(isBundled ? `dist/${name}.js` : `src/${name}.ts`)
