import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { packageFile } from '../platform/files/package-files.ts'

/** Where scripts/build-server.ts writes the bundle. */
export const bundleFolder = packageFile('dist/')
/** In that folder, written last: the hash of the sources that it is made from. */
export const sourcesName = 'sources.sha256'

/** The folders whose modules are bundled, and what else decides about the result. */
const sources = ['src/', '../contract/src/', '../../scripts/build-server.ts', '../../package-lock.json']

/** Over the contents: copies and checkouts change the times of files. */
export function hashSources(): string {
  const hash = createHash('sha256')
  for (const source of sources) {
    const place = packageFile(source)
    const names = source.endsWith('/')
      ? readdirSync(place, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
          .toSorted()
      : ['']
    for (const name of names) hash.update(`${source}${name}\n`).update(readFileSync(new URL(name, place)))
  }
  return hash.digest('hex')
}

/** The bundle's command line; undefined where there is no bundle, or one of other sources. */
export function bundledProgram(): URL | undefined {
  const written = new URL(sourcesName, bundleFolder)
  if (!existsSync(written) || readFileSync(written, 'utf8') !== hashSources()) return undefined
  return new URL('boot/command-line.js', bundleFolder)
}
